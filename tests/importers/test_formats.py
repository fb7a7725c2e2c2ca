"""Each format's fixture, every row of the import cases, the shared real files."""

import json
from pathlib import Path

import pytest
from places import CASES, FIXTURES, ROOT, SHARED, needs_shared

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab.importers.load import IMPORTERS, load, recognise, stream
from driftlab.importers.parts.health import COUNTS, HealthReport
from driftlab.trace.schema import Trace, decode, encode

LOGS = SHARED / "formats"
RECORDS = [json.loads(line) for line in (CASES / "import_cases.jsonl").read_text().splitlines()]
LINES = ("claude_code", "codex")


def imported(name: str) -> list[Trace]:
    return list(load(FIXTURES / name, on_error="raise")[0])


def view(trace: Trace) -> list[tuple[object, ...]]:
    return [(step.event, step.tool, step.args, step.state, step.output) for step in trace.steps]


# One row a fixture: the format, traces, steps of each.
TABLE = {
    "agents_sdk.jsonl": ("openai-agents", [1]),
    "claude_code_first.jsonl": ("claude-code", [1]),
    "codex_exec.jsonl": ("codex", [2]),
    "codex_new.jsonl": ("codex", [3]),
    "codex_old.jsonl": ("codex", [1]),
    "codex_oldest.json": ("codex", [1]),
    "driftlab.jsonl": ("driftlab", [1]),
    "intercode.json": ("intercode", [3]),
    "langfuse.json": ("langfuse", [1]),
    "langgraph_history.json": ("langgraph", [2]),
    "langsmith.jsonl": ("langsmith", [1]),
    "mini_swe_agent_1.traj.json": ("mini-swe-agent", [2]),
    "mini_swe_agent_2.traj.json": ("mini-swe-agent", [1]),
    "mlflow.json": ("mlflow", [1]),
    "openai_messages.jsonl": ("openai-messages", [3, 1]),
    "openhands_events.json": ("openhands", [3]),
    "openhands_output.jsonl": ("openhands", [2]),
    "openhands_v1.jsonl": ("openhands", [3]),
    "otel_openinference.jsonl": ("otel", [1]),
    "otel_otlp.json": ("otel", [2]),
    "plain.csv": ("plain", [2, 1]),
    "plain.jsonl": ("plain", [2]),
    "swe_agent.traj": ("swe-agent", [2]),
    "tau_bench.json": ("tau-bench", [3]),
}


@pytest.mark.parametrize(("name", "format", "lengths"), [(name, *row) for name, row in TABLE.items()], ids=list(TABLE))
def test_fixture(name: str, format: str, lengths: list[int]) -> None:
    corpus, report = load(FIXTURES / name, on_error="raise")
    assert recognise(FIXTURES / name) == format
    assert report.files == {format: 1}
    assert [len(trace.steps) for trace in corpus] == lengths
    assert report.steps == sum(lengths)
    for trace in corpus:
        assert decode(encode(trace)) == trace
        assert format == "driftlab" or (trace.source == format and trace.extra is not None and trace.extra["mapping"])


def test_every_importer_but_the_optional_one_has_a_fixture() -> None:
    assert {format for format, _ in TABLE.values()} | {"atif", "inspect"} == set(IMPORTERS)


@pytest.mark.parametrize("name", [name for name in TABLE if name != "atif.trajectory.json"])
def test_only_one_importer_claims_a_fixture_before_the_general_ones(name: str) -> None:
    """The order of the registry decides only where a general format would take a special one's file."""
    from driftlab.importers.parts.source import Source

    general = {"openai-messages", "otel", "plain", "driftlab"}
    claims = {each.name for each in IMPORTERS.values() if each.sniff(Source(FIXTURES / name, HealthReport()))}
    assert TABLE[name][0] in claims
    assert not claims - general - {TABLE[name][0]}


def test_the_whole_folder_at_once() -> None:
    corpus, report = load(FIXTURES, on_error="raise")
    assert len({trace.id for trace in corpus}) == len(corpus) == report.traces
    assert report.counts["joined"] == 2
    assert not report.problems


def written(case: dict[str, object], folder: Path) -> Path:
    raw, format = case["raw"], str(case["format"])
    if isinstance(raw, str):
        (folder / "log.jsonl").write_text(raw)
    elif format.endswith("_resumed") and isinstance(raw, dict):
        for name, records in raw.items():
            (folder / name).write_text("\n".join(map(json.dumps, records)))
    elif format.startswith(LINES) and isinstance(raw, list):
        (folder / "log.jsonl").write_text("\n".join(map(json.dumps, raw)))
    else:
        (folder / "log.json").write_text(json.dumps(raw))
    return folder


@pytest.mark.parametrize("case", RECORDS, ids=[case["case_id"] for case in RECORDS])
@pytest.mark.filterwarnings("ignore::driftlab.DriftlabWarning")
def test_case(case: dict[str, dict[str, object]], tmp_path: Path) -> None:
    corpus, report = load(written(case, tmp_path))
    steps, expect = corpus[0].steps, dict(case["expect"])
    warning = expect.pop("warning", None)
    assert warning is None or str(warning) in report.problems[0]
    found = {
        "traces": len(corpus),
        "steps": sum(len(trace.steps) for trace in corpus),
        "tools": [step.tool for step in steps],
        "args": [step.args for step in steps],
        "outputs": [step.output for step in steps],
        "nodes": [step.node for step in steps],
        "states": [step.state for step in steps],
    }
    assert {name: found[name] for name in expect} == expect


def test_a_shape_the_cases_only_mention() -> None:
    """Null content is empty text, never the text None."""
    first, second, third = imported("openai_messages.jsonl")[0].steps
    assert (first.state, second.state, third.state) == ("", "", "3 kg and 4 kg.")
    assert (first.output, second.output) == ("3 kg", "4 kg")


REAL = {
    "atif": ("atif", "*", 4, [2, 2, 7]),
    "claude_code": ("claude-code", "*", 8, [4, 1, 1, 2, 2, 2, 2]),
    "intercode": ("intercode", "*", 1, None),
    "langfuse": ("langfuse", "4*.json", 2, [10, 24]),
    "mlflow": ("mlflow", "*", 2, [11, 10]),
    "swe_agent": ("swe-agent", "[!r]*.traj", 3, [16, 5, 11]),
    "tau_bench": ("tau-bench", "*", 1, [15, 5, 11, 30]),
}


@needs_shared
@pytest.mark.parametrize("folder", REAL)
def test_real_files(folder: str) -> None:
    format, pattern, files, lengths = REAL[folder]
    corpus, report = load(sorted((LOGS / folder).glob(pattern)), on_error="raise")
    assert report.files == {format: files}
    assert lengths is None or [len(trace.steps) for trace in corpus] == lengths
    assert not report.unknown
    assert not report.counts["results_without_call"]


@needs_shared
def test_real_intercode_agrees_with_its_own_counts() -> None:
    raw = json.loads((LOGS / "intercode" / "bash-gpt-4.json").read_text())
    corpus, _ = load(LOGS / "intercode")
    assert [len(trace.steps) for trace in corpus] == [len(run["turn_history"]["actions"]) for run in raw.values()]
    assert sum(bool(trace.outcome) for trace in corpus) == sum(
        run["summary"]["max_reward"] >= 1 for run in raw.values()
    )


@needs_shared
def test_real_tau_bench_has_one_step_a_call_or_reply() -> None:
    raw = json.loads((LOGS / "tau_bench" / "airline-first-4.json").read_text())
    for run, trace in zip(raw, load(LOGS / "tau_bench")[0], strict=True):
        said = [message for message in run["traj"] if message["role"] == "assistant"]
        assert len(trace.steps) == sum(max(1, len(message.get("tool_calls") or ())) for message in said)
        results = [message["content"] for message in run["traj"] if message["role"] == "tool"]
        assert [step.output for step in trace.steps if step.has_call] == results


@needs_shared
def test_real_atif_run_is_joined_at_its_compaction() -> None:
    trace = next(trace for trace in load(LOGS / "atif")[0] if len(trace.steps) == 7)
    assert [step.event for step in trace.steps] == ["user", None, None, "compaction", None, None, None]


@needs_shared
def test_real_inspect_logs() -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is in an extra of its own")
    corpus, report = load(LOGS / "inspect", on_error="raise")
    assert (report.files, len(corpus), report.steps) == ({"inspect": 3}, 21, 21)
    assert {trace.outcome for trace in corpus} <= {True, False, None}


def test_a_missing_reader_is_a_problem_with_its_remedy(tmp_path: Path) -> None:
    try:
        import inspect_ai  # noqa: F401
    except ImportError:
        pass
    else:
        pytest.skip("inspect-ai is installed")
    import zipfile

    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    with pytest.raises(InputError, match=r"pip install 'driftlab\[inspect\]'"):
        load(tmp_path / "log.eval")


# What each format says that the general tests do not look at.


def test_resumed_and_forked_sessions() -> None:
    files = [FIXTURES / f"claude_code_{name}.jsonl" for name in ("forked", "resumed", "first")]
    corpus, report = load(files, on_error="raise")
    run, fork = corpus
    assert [step.tool for step in run.steps] == ["Read", "Write"]
    assert [step.args for step in fork.steps] == [{"file_path": "/colours"}]
    assert fork.extra is not None
    assert fork.extra["forked_from"] == run.id == "s-1"
    assert report.counts["replayed"] == 10
    assert run.steps[0].thought == "which shelf"
    assert run.steps[0].tokens == 9  # once a message, not once a line
    assert (run.steps[1].error, run.steps[1].seconds) == (True, 1.0)


def test_order_of_files_does_not_matter() -> None:
    files = [FIXTURES / f"claude_code_{name}.jsonl" for name in ("first", "resumed", "forked")]
    assert list(load(files)[0]) == list(load(files[::-1])[0])


def test_resumed_under_new_uuids_is_known_by_its_calls(tmp_path: Path) -> None:
    """Older versions copied history under new uuids: ids and arguments of the calls give it away."""
    records = [json.loads(line) for line in (FIXTURES / "claude_code_first.jsonl").read_text().splitlines()]
    copy = [{**r, "uuid": f"n-{r['uuid']}", "sessionId": "s-9", "timestamp": "2031-04-10T08:00:00Z"} for r in records]
    more = {**copy[3], "uuid": "n-9", "message": {**copy[3]["message"], "content": [
        {"type": "tool_use", "id": "t9", "name": "Read", "input": {"file_path": "/other"}}]}}  # fmt: skip
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, [*copy, more])))
    corpus, _ = load(tmp_path)
    assert [[step.args for step in trace.steps] for trace in corpus] == [
        [{"file_path": "/shelf"}, {"file_path": "/other"}]
    ]


def test_claude_code_stream_json(tmp_path: Path) -> None:
    def said(role: str, content: object, **more: object) -> dict[str, object]:
        return {"type": role, "session_id": "s", "parent_tool_use_id": None, "message": {"content": content}, **more}

    lines = [
        {"type": "system", "subtype": "init", "session_id": "s"},
        said("assistant", [{"type": "tool_use", "id": "t1", "name": "Task", "input": {}}], uuid="1"),
        said("assistant", [{"type": "text", "text": "helping"}], uuid="2", parent_tool_use_id="t1"),
        said("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "helped"}], uuid="3"),
        {"type": "result", "subtype": "success", "session_id": "s"},
    ]
    (tmp_path / "out.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (trace,), report = load(tmp_path, on_error="raise")
    assert [(step.node, step.tool, step.output) for step in trace.steps] == [
        ("main", "Task", "helped"),
        ("sidechain:t1", None, None),
    ]
    assert not report.unknown


def test_an_atif_run_whose_end_is_missing() -> None:
    _, report = load(FIXTURES / "atif.trajectory.json", on_error="raise")
    assert report.counts["missing_parts"] == 1


def test_codex_formats() -> None:
    new = imported("codex_new.jsonl")[0]
    assert [(step.event, step.error, step.seconds) for step in new.steps] == [
        ("user", True, 0.2),
        ("compaction", None, 0.0),
        (None, None, None),
    ]
    assert new.steps[0].output == "a\nb"
    assert load(FIXTURES / "codex_new.jsonl")[1].unknown == {"codex brand_new_kind": 1}


def test_codex_fork_keeps_only_what_is_new(tmp_path: Path) -> None:
    lines = (FIXTURES / "codex_new.jsonl").read_text().splitlines()
    meta = json.dumps({"type": "session_meta", "payload": {"id": "r-fork", "forked_from_id": "r-new"}})
    call = {"type": "function_call", "name": "shell", "arguments": '{"command":["pwd"]}', "call_id": "c9"}
    (tmp_path / "one.jsonl").write_text("\n".join(lines))
    fork = [meta, *lines[:7], json.dumps({"type": "response_item", "payload": call})]
    (tmp_path / "two.jsonl").write_text("\n".join(fork))
    corpus, report = load(tmp_path)
    assert sorted(sum((len(trace.steps) for trace in corpus), start=0) for _ in "x") == [4]
    assert report.counts["replayed"] > 0


def test_openhands_event_store_is_one_run(tmp_path: Path) -> None:
    events = json.loads((FIXTURES / "openhands_events.json").read_text())
    folder = tmp_path / "conversation-7" / "events"
    folder.mkdir(parents=True)
    for event in events:
        (folder / f"{event['id']}.json").write_text(json.dumps(event))
    corpus, report = load(tmp_path)
    assert [trace.id for trace in corpus] == ["conversation-7"]
    assert view(corpus[0]) == view(imported("openhands_events.json")[0])
    assert report.counts["joined"] == len(events) - 1


def test_otel_without_content_says_so() -> None:
    corpus, report = load(FIXTURES / "otel_otlp.json")
    assert report.capture_off
    assert (corpus[0].steps[1].output, corpus[0].steps[1].error) == ("out of paper", True)


def test_otel_spans_of_two_traces_stay_apart(tmp_path: Path) -> None:
    span = {"name": "execute_tool ls", "attributes": {"gen_ai.tool.name": "ls", "gen_ai.tool.call.result": "a"}}
    lines = [{**span, "trace_id": trace, "span_id": f"{trace}{n}"} for n in range(2) for trace in ("x", "y")]
    (tmp_path / "spans.jsonl").write_text("\n".join(map(json.dumps, [*lines, lines[0]])))
    corpus, report = load(tmp_path)
    assert [(trace.id, len(trace.steps)) for trace in corpus] == [("x", 2), ("y", 2)]
    assert report.counts["replayed"] == 1


def test_cyclic_parents_end(tmp_path: Path) -> None:
    spans = [
        {"name": "execute_tool ls", "span_id": n, "parent_span_id": p, "attributes": {"gen_ai.tool.name": "ls"}}
        for n, p in (("a", "b"), ("b", "a"), ("c", "c"))
    ]
    (tmp_path / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)))
    assert len(load(tmp_path)[0][0].steps) == 3


def test_langgraph_repeats_nothing() -> None:
    corpus, report = load(FIXTURES / "langgraph_history.json")
    assert [(step.node, step.tool, step.state) for step in corpus[0].steps] == [
        ("agent", "weigh", ""),
        ("agent", None, "3 kg."),
    ]
    assert report.counts["replayed"] == 6


def test_request_log_that_grows_is_one_conversation(tmp_path: Path) -> None:
    talk = json.loads((FIXTURES / "openai_messages.jsonl").read_text().splitlines()[0])["messages"]
    lines = [{"messages": talk[:n]} for n in (3, 5, 6)]
    (tmp_path / "requests.jsonl").write_text("\n".join(map(json.dumps, lines)))
    corpus, report = load(tmp_path)
    assert [len(trace.steps) for trace in corpus] == [3]
    assert report.counts["replayed"] == 8


def test_a_call_id_used_again_is_another_call(tmp_path: Path) -> None:
    call = {
        "role": "assistant",
        "content": "x",
        "tool_calls": [{"id": "c1", "function": {"name": "get", "arguments": "{}"}}],
    }
    talk = [call, {"role": "tool", "tool_call_id": "c1", "content": "one"}] * 2
    talk[3] = {"role": "tool", "tool_call_id": "c1", "content": "two"}
    (tmp_path / "log.json").write_text(json.dumps(talk))
    assert [step.output for step in load(tmp_path)[0][0].steps] == ["one", "two"]


def test_plain_column_map(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("who;cmd;got;n\nr;ls;a;2\nr;pwd;b;1\n")
    columns = {"id": "who", "tool": "cmd", "output": "got", "order": "n"}
    corpus, report = load(tmp_path / "log.csv", columns=columns)
    assert [(step.tool, step.output) for step in corpus[0].steps] == [("pwd", "b"), ("ls", "a")]
    assert report.counts["out_of_order"] == 2
    assert corpus[0].extra is not None
    assert corpus[0].extra["mapping"]["tool"] == "column 'cmd'"
    with pytest.raises(InputError, match="unknown field 'tols'; did you mean 'tool'"):
        load(tmp_path / "log.csv", columns={"tols": "cmd"})


def test_interleaved_runs_are_put_together(tmp_path: Path) -> None:
    rows = [{"run_id": run, "tool": "ls", "args": {"n": n}} for n in range(3) for run in "ab"]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert [[step.args["n"] for step in trace.steps] for trace in load(tmp_path)[0]] == [[0, 1, 2], [0, 1, 2]]


def test_force_a_format() -> None:
    with pytest.raises(InputError, match="unknown format 'openai'; did you mean"):
        load(FIXTURES / "plain.jsonl", format="openai")
    with pytest.raises(InputError, match="holds no messages"):
        load(FIXTURES / "plain.jsonl", format="openai-messages", on_error="raise")


def test_unknown_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of use")
    with pytest.raises(InputError, match="no importer knows this file"):
        load(tmp_path / "notes.txt")
    (tmp_path / "run.jsonl").write_text('{"tool": "ls"}\n{"tool": "pwd"}\n')
    assert load(tmp_path)[1].unknown == {"file *.txt": 1}


def test_streaming_gives_the_same_traces() -> None:
    report = HealthReport()
    assert list(stream(FIXTURES, report=report)) == list(load(FIXTURES)[0])
    assert report.to_dict() == load(FIXTURES)[1].to_dict()


def test_report_as_text_and_json(tmp_path: Path) -> None:
    long = "y" * 200
    rows = [{"tool": "ls", "output": f"{n}{long}"} for n in range(3)] + [{"tool": "ls"}, {"tool": "cat", "output": ""}]
    rows += [{"tool": "cat", "output": "a\n[12 lines truncated]\nb"}]
    (tmp_path / "log.jsonl").write_text("\n".join([*map(json.dumps, rows), "{broken"]))
    with pytest.warns(DriftlabWarning, match="line 7"):
        _, report = load(tmp_path)
    found = json.loads(json.dumps(report.to_dict()))
    assert set(COUNTS) <= set(found)
    assert (found["calls_without_result"], found["empty_outputs"], found["truncated"]) == (1, 1, 1)
    assert found["cut_at"] == {"output": 201}
    assert found["empty_columns"] == ["state", "thought"]
    assert "calls that no result answers" in str(report)
    assert "line 7: not JSON" in str(report)


def test_zero_steps_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    with pytest.raises(InputError, match="no step was found"):
        load(tmp_path, format="openai-messages")
    (tmp_path / "talk.jsonl").write_text(json.dumps({"id": "x", "steps": []}) + "\n")
    with pytest.raises(InputError, match="no step was found"):
        load(tmp_path / "talk.jsonl", on_error="raise")


def test_the_docs_say_what_the_registry_says() -> None:
    from driftlab.importers.formats.hf_datasets import DATASETS
    from driftlab.importers.parts.table import extractor_table, format_table

    text = (ROOT / "docs" / "formats.md").read_text()
    assert format_table() in text
    assert extractor_table() in text
    assert all(f"| `{name}` | {meaning} |" in text for name, meaning in COUNTS.items())
    assert all(f"`{name}`" in text for name in DATASETS)


def test_replies_come_back_without_the_fields_of_the_server(tmp_path: Path) -> None:
    ask = {"role": "user", "content": "hi"}
    reply = {"role": "assistant", "content": "yes?", "refusal": None, "annotations": []}
    more = [ask, {"role": "assistant", "content": "yes?"}, {"role": "user", "content": "go"}]
    lines = [
        {"request": {"messages": [ask]}, "response": {"choices": [{"message": reply}]}},
        {"request": {"messages": more}, "response": {"choices": [{"message": {**reply, "content": "gone"}}]}},
    ]
    (tmp_path / "proxy.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert [[step.state for step in trace.steps] for trace in load(tmp_path)[0]] == [["yes?", "gone"]]


def test_a_trace_that_rotated_files_cut_in_two(tmp_path: Path) -> None:
    span = {"name": "execute_tool ls", "trace_id": "x", "attributes": {"gen_ai.tool.name": "ls", "tool_response": "a"}}
    for n in range(2):
        (tmp_path / f"{n}.jsonl").write_text(json.dumps({**span, "span_id": str(n), "start_time": 2 - n}))
    corpus, report = load(tmp_path)
    assert [(trace.id, len(trace.steps)) for trace in corpus] == [("x", 2)]
    assert (report.counts["joined"], report.counts["out_of_order"]) == (1, 2)


def test_an_application_log_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "app.jsonl").write_text('{"level": "info", "message": "started"}\n' * 3)
    assert recognise(tmp_path / "app.jsonl") is None


def test_a_foreign_parquet_file_says_how_to_read_it(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is in the extra study")
    pandas.DataFrame({"messages": ["x"]}).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(InputError, match=r"dl\.from_datasets"):
        load(tmp_path / "rows.parquet")
