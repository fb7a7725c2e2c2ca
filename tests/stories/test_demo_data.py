"""The demo data keeps its promises, and the recorder reproduces it byte for byte."""

import importlib
import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

DEMO = ROOT / "data" / "demo"
KINDS = {"one_edit_again", "two_edits_in_turn", "varying_query", "slow_paraphrase"}
POLLS = {"poll_job", "import_status"}
MACHINE = re.compile(r"/tmp|/home|/root|/Users|[A-Z]:\\|0x[0-9a-f]{6}|driftlab-demo-|Traceback|line \d+, in ")
ONLY_METRICS = ("exact", "difflib", "levenshtein", "jaccard")

Json = dict[str, Any]


@cache
def lines(name: str = "loops.jsonl") -> tuple[bytes, ...]:
    return tuple((DEMO / name).read_bytes().splitlines(keepends=True))


@cache
def traces(task: str = "", label: str = "") -> tuple[Json, ...]:
    found = (json.loads(line) for line in lines())
    return tuple(t for t in found if task in ("", t["task"]) and label in ("", t.get("label")))


@pytest.fixture(params=["code", "sql"])
def task(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def signal(trace: Json) -> list[float | None]:
    (name,) = trace["signal_specs"]
    return [step.get("signals", {}).get(name) for step in trace["steps"]]


def best(values: list[float | None]) -> float:
    return max((value for value in values if value is not None), default=-1.0)


def onset(trace: Json) -> int:
    return int(trace["stalls"][0]["start"])


def horizon(task: str) -> int:
    """Law 15: the largest H <= 16 that keeps 80 % of the stalled and 20 good traces."""
    stalled = [(onset(t), len(t["steps"])) for t in traces(task, "stalled")]
    good = [len(t["steps"]) for t in traces(task, "good")]
    for width in range(16, 0, -1):
        kept = [start for start, length in stalled if length >= start + width]
        if len(kept) >= 0.8 * len(stalled) and sum(n >= min(kept) + width for n in good) >= 20:
            return width
    raise AssertionError("no horizon")


def runs(values: list[Any]) -> list[tuple[Any, int]]:
    return [(value, len(list(group))) for value, group in groupby(values)]


def longest_without_gain(trace: Json) -> int:
    """Steps between two new bests, the most there are in this trace."""
    values = signal(trace)
    gains = [i for i, value in enumerate(values) if value is not None and value > best(values[:i])]
    return max((later - earlier for earlier, later in pairwise(gains)), default=0)


def test_there_are_enough_problems_and_loops(task: str) -> None:
    assert len({t["problem"] for t in traces(task)}) >= 60
    assert len(traces()) >= 240
    assert len({t["id"] for t in traces()}) == len(traces())
    assert sum(map(len, lines())) < 4_200_000


def test_every_problem_has_a_good_and_a_stalled_loop(task: str) -> None:
    labels: dict[str, set[str | None]] = {}
    for trace in traces(task):
        labels.setdefault(trace["problem"], set()).add(trace.get("label"))
    assert all({"good", "stalled"} <= found for found in labels.values())


def test_a_few_loops_have_no_clear_label(task: str) -> None:
    open_ones = [t for t in traces(task) if t.get("label") in (None, "unsure")]
    assert 0.02 <= len(open_ones) / len(traces(task)) <= 0.08
    assert {t.get("label") for t in open_ones} == {None, "unsure"}
    assert not any(t["outcome"] or "stalls" in t for t in open_ones)


def test_every_kind_of_stall_occurs_equally_often(task: str) -> None:
    kinds = Counter(t["stalls"][0]["kind"] for t in traces(task, "stalled"))
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 12


def test_every_setup_has_both_labels_at_the_same_rate(task: str) -> None:
    counts = Counter((t["setup"], t.get("label")) for t in traces(task))
    setups = {setup for setup, _ in counts}
    assert len(setups) >= 4
    for setup in setups:
        good, stalled = counts[setup, "good"], counts[setup, "stalled"]
        assert 0.4 <= stalled / (good + stalled) <= 0.6


def test_the_setup_does_not_tell_the_label(task: str) -> None:
    """AUC of the setup's stall rate, taken from the other half of the problems."""
    halves: list[list[Json]] = [[], []]
    for trace in traces(task, "good") + traces(task, "stalled"):
        halves[int(trace["problem"][-2:]) // 32 % 2].append(trace)
    for own, other in (halves, halves[::-1]):
        rate = {s: [t["label"] == "stalled" for t in other if t["setup"] == s] for s in {t["setup"] for t in own}}
        score = {setup: sum(found) / len(found) for setup, found in rate.items()}
        bad = [score[t["setup"]] for t in own if t["label"] == "stalled"]
        good = [score[t["setup"]] for t in own if t["label"] == "good"]
        wins = sum((b > g) + 0.5 * (b == g) for b in bad for g in good)
        assert wins / (len(bad) * len(good)) <= 0.6


def test_lines_are_compact_json_without_nulls() -> None:
    for line in (*lines(), *lines("incident.jsonl")):
        trace = json.loads(line)
        assert not any(None in step.values() for step in trace["steps"])
        assert None not in trace.values()
        assert json.dumps(trace, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" == line


def test_labels_say_where_they_come_from() -> None:
    for trace in traces():
        assert trace["source"] == "driftlab-demo"
        assert ("label" in trace) == (trace.get("label_source") == "recorded")
        assert trace.get("label") in {"good", "stalled", "unsure", None}
        assert ("stalls" in trace) == (trace.get("label") == "stalled")


def test_spans_lie_inside_their_traces() -> None:
    for trace in (*traces("", "stalled"), json.loads(lines("incident.jsonl")[0])):
        (span,) = trace["stalls"]
        assert 0 < span["start"] < len(trace["steps"])
        assert span["end"] is None


def test_no_step_knows_the_machine_it_was_recorded_on() -> None:
    for line in (*lines(), *lines("incident.jsonl")):
        found = MACHINE.search(line.decode())
        assert found is None, found


def test_after_the_onset_nothing_is_gained(task: str) -> None:
    for trace in traces(task, "stalled"):
        values = signal(trace)
        assert best(values[onset(trace) :]) <= best(values[: onset(trace)]), trace["id"]


def test_before_the_onset_of_most_stalls_something_was_gained(task: str) -> None:
    stalled = traces(task, "stalled")
    before = [[v for v in signal(t)[: onset(t)] if v is not None] for t in stalled]
    assert sum(max(values) > values[0] for values in before) >= 0.5 * len(stalled)


def test_outcomes_agree_with_the_signal(task: str) -> None:
    for trace in traces(task):
        values, ((_, spec),) = signal(trace), trace["signal_specs"].items()
        if trace.get("label") == "good":
            assert trace["outcome"] is True
            assert trace["steps"][-1]["tool"] == "submit"
            assert values[-1] == spec["goal"]
        else:
            assert trace["outcome"] is False
            assert best(values) < spec["goal"]


def test_stalls_begin_early_and_late_in_every_setup(task: str) -> None:
    for setup in {t["setup"] for t in traces(task)}:
        starts = [onset(t) for t in traces(task, "stalled") if t["setup"] == setup]
        assert min(starts) <= 8
        assert max(starts) >= 14


def test_good_loops_outlast_the_stalled_ones(task: str) -> None:
    width = horizon(task)
    good = [len(t["steps"]) for t in traces(task, "good")]
    starts = sorted(onset(t) for t in traces(task, "stalled"))
    pairs = [n >= start + width for start in starts for n in good]
    assert sum(pairs) >= 0.4 * len(pairs)
    assert sum(n >= starts[-1] + width for n in good) >= 0.4 * len(good)


def test_good_loops_poll_and_work_through_batches(task: str) -> None:
    polled, batched = 0, 0
    for trace in traces(task, "good"):
        steps = trace["steps"]
        polled += any(tool in POLLS and count >= 3 for tool, count in runs([s["tool"] for s in steps]))
        batched += any(count >= 4 for _, count in runs([(s["tool"], s["output"]) for s in steps]))
    assert polled >= 0.25 * len(traces(task, "good"))
    assert batched >= 0.1 * len(traces(task, "good"))


def test_good_loops_have_fix_verify_cycles_with_flat_stretches_and_dips(task: str) -> None:
    flat, dips = 0, 0
    for trace in traces(task, "good"):
        values = [value for value in signal(trace) if value is not None]
        flat += longest_without_gain(trace) >= 8
        dips += any(later < earlier for earlier, later in pairwise(values))
        assert len(set(values)) >= 3
    assert flat >= 0.5 * len(traces(task, "good"))
    assert dips >= 0.1 * len(traces(task, "good"))


def test_good_loops_repeat_edits_for_a_while(task: str) -> None:
    repeats = 0
    for trace in traces(task, "good"):
        edits = Counter(json.dumps(s["args"]) for s in trace["steps"] if s["tool"] in {"replace_line", "set_column"})
        repeats += max(edits.values()) >= 2
    assert repeats >= 0.15 * len(traces(task, "good"))


def test_the_incident_reads_searches_and_proposes_without_testing() -> None:
    (trace,) = [json.loads(line) for line in lines("incident.jsonl")]
    steps = trace["steps"]
    assert len(steps) == 41
    assert trace["outcome"] is False
    assert 6 <= onset(trace) <= 9
    late = steps[onset(trace) :]
    assert not any("signals" in step for step in late)
    assert best(signal(trace)[: onset(trace)]) > 0
    edits = [json.dumps(step["args"]) for step in late if step["tool"] == "replace_line"]
    assert list(Counter(edits).values()) == [3]
    assert len({step["args"]["path"] for step in late if step["tool"] == "read_file"}) == 3
    searches = [step for step in late if step["tool"] == "grep"]
    assert len({step["args"]["pattern"] for step in searches}) == len(searches) == 10
    assert len({step["output"] for step in searches}) == 1


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import modules of the recorder, which is a script beside the data."""
    monkeypatch.syspath_prepend(str(DEMO))
    return importlib.import_module


def test_recording_again_gives_the_same_bytes(modules: Any) -> None:
    plans, record = modules("recorder.plan").plans, modules("recorder.session").record
    shipped = {json.loads(text)["id"]: text for text in lines()}
    assert [plan.id for plan in plans()] == list(shipped)
    for plan in plans(5):
        assert modules("record").line(record(plan)) == shipped[plan.id], plan.id


def test_recording_the_incident_again_gives_the_same_bytes(modules: Any) -> None:
    trace = modules("recorder.incident").incident(modules("recorder.plan").SEED)
    assert (modules("record").line(trace),) == lines("incident.jsonl")


def test_the_steps_for_watch_are_those_of_the_incident() -> None:
    steps = [json.loads(line) for line in lines("incident_steps.jsonl")]
    assert steps == json.loads(lines("incident.jsonl")[0])["steps"]


def test_check_names_the_first_trace_that_differs(tmp_path: Path) -> None:
    for name in ("incident.jsonl", "incident_steps.jsonl"):
        (tmp_path / name).write_bytes((DEMO / name).read_bytes())
    loops = tmp_path / "loops.jsonl"
    command = [sys.executable, str(DEMO / "record.py"), "--check", "--problems", "1", "-o", str(loops)]
    loops.write_bytes(b"".join(lines()))
    assert subprocess.run(command, check=False).returncode == 0
    loops.write_bytes(b"".join(lines()).replace(b'"id":"sql-00-1",', b'"id":"sql-00-1","extra":1,'))
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    assert found.returncode == 1
    assert "sql-00-1 differs" in found.stderr


@pytest.fixture(scope="module")
def dl() -> Any:
    return pytest.importorskip("driftlab")


def views(dl: Any) -> list[str]:
    texts = [name for name in ONLY_METRICS if name in dl.METRICS]
    return [f"{name}(view='{view}')" for name in texts for view in ("state", "action", "output")] + ["signal"]


def test_driftlab_reads_it_and_no_metric_ranks_above_the_limit(dl: Any) -> None:
    corpus = dl.read(DEMO / "loops.jsonl")
    assert len(corpus) == len(lines())
    cells = dl.sweep(corpus, metrics=views(dl), draws=10).cells
    aucs = [(cell.ranked.auc, cell.task, cell.detector) for cell in cells if cell.metric in (*ONLY_METRICS, "signal")]
    for name in ("code", "sql"):
        top = max((auc, repr(found)) for auc, task, found in aucs if task == name)
        assert 0.75 <= top[0] <= 0.95, top


def test_calibrating_gives_a_finite_threshold_that_is_worth_having(dl: Any, task: str) -> None:
    found = dl.calibrate(dl.read(DEMO / "loops.jsonl"), task=task, metrics=["exact", "levenshtein", "signal"])
    assert 0 < found.rule.threshold <= 1
    assert found.rule.evidence["recall"] >= 0.3
    assert found.rule.evidence["false_stop_rate"] <= 0.1
