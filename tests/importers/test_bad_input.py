"""Column that is broken, huge, or hostile: one clear error with its place, the good traces kept."""

import gzip
import json
import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fuzz import FIXTURES, check, mutated
from driftlab._util.errors import InputError
from driftlab.importers.load import load
from driftlab.importers.parts import source as sources
from driftlab.importers.parts.health import HealthReport
from driftlab.trace import corpus
from driftlab.trace.schema import Trace, decode, encode

pytestmark = pytest.mark.filterwarnings("ignore::driftlab.DriftlabWarning")
STEP = b'{"tool": "ls", "output": "a"}\n'


def lenient(path: Path, data: bytes) -> tuple[list[Trace], HealthReport]:
    path.write_bytes(data)
    found, report = load(path)
    return list(found), report


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"tool": "ls", "outp\n', "not JSON"),
        (b'{"tool": "ls", "args": ' + b"[" * 10**6 + b"\n", "nested too deeply"),
        (b'{"tool": "ls", "args": ' + b"[" * 10**6 + b"]" * 10**6 + b"}\n", "nested too deeply"),
        (b"[1, 2]\n", "expected an object, got list"),
        (b"3\n", "neither an object nor a list"),
        (b"\x00\x00\n", "not JSON"),
        (b'{"tool": "ls", "tool": "cat"}\n', "key 'tool' stands twice"),
        (b'{"tool": "l\xff"}\n', "not UTF-8"),
        (b'{"tool": "ls", "tokens": "many"}\n', "tokens"),
    ],
    ids=["cut", "open", "deep", "list", "number", "nul", "twice", "encoding", "type"],
)
def test_a_bad_line_is_named_and_the_others_are_kept(tmp_path: Path, line: bytes, reason: str) -> None:
    traces, report = lenient(tmp_path / "log.jsonl", STEP + line + STEP)
    assert sum(len(trace.steps) for trace in traces) >= 2
    assert report.n_problems == 1
    assert "log.jsonl: line 2" in report.problems[0]
    assert reason in report.problems[0]
    with pytest.raises(InputError, match="line 2"):
        load(tmp_path / "log.jsonl", on_error="raise")


@pytest.mark.parametrize(
    ("raw", "args"),
    [(b"NaN", None), (b"-Infinity", None), (b"9" * 5000, "9" * 5000), (b'"\\ud800"', "?"), (b"1e999", None)],
    ids=["nan", "infinity", "integer", "surrogate", "float"],
)
def test_values_that_json_does_not_have_are_kept_as_far_as_possible(tmp_path: Path, raw: bytes, args: object) -> None:
    traces, report = lenient(tmp_path / "log.jsonl", STEP + b'{"tool": "ls", "args": {"x": ' + raw + b"}}\n")
    assert traces[0].steps[1].args == {"x": args}
    assert report.counts["repaired"] == 1
    assert decode(encode(traces[0])) == traces[0]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_byte_order_marks(tmp_path: Path, encoding: str) -> None:
    text = "\ufeff" * (encoding == "utf-16-be") + '{"tool": "ls", "output": "é"}\n{"tool": "ls", "output": "日本"}\n'
    traces, report = lenient(tmp_path / "log.jsonl", text.encode(encoding))
    assert [step.output for step in traces[0].steps] == ["é", "日本"]
    assert not report.n_problems


def test_a_line_of_200_mb_is_skipped_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with path.open("wb") as file:
        file.write(STEP + b'{"tool": "ls", "output": "')
        for _ in range(200):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n' + STEP)
    tracemalloc.start()
    found, report = load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found[0].steps) == 2
    assert "line 2: the line is longer than 32 MiB" in report.problems[0]
    assert peak < 4 * sources.LINE


def test_a_document_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "DOCUMENT", 100)
    (tmp_path / "log.json").write_text(json.dumps([{"tool": "ls", "output": "a" * 50}] * 3))
    with pytest.raises(InputError, match=r"no step was found|no importer knows"):
        load(tmp_path / "log.json")


def test_a_cut_gzip_gives_the_lines_before_the_cut(tmp_path: Path) -> None:
    rng = random.Random(0)
    lines = b"".join(b'{"tool": "ls", "output": "%d"}\n' % rng.getrandbits(64) for _ in range(20_000))
    data = gzip.compress(lines)
    traces, report = lenient(tmp_path / "log.jsonl.gz", data[: len(data) // 2])
    assert 5_000 < len(traces[0].steps) < 15_000
    assert "breaks off" in report.problems[-1]


def test_a_cut_list_gives_its_whole_elements(tmp_path: Path) -> None:
    whole = json.dumps([{"tool": "ls", "output": str(n)} for n in range(3)], indent=1)
    traces, report = lenient(tmp_path / "log.json", whole[:-20].encode())
    assert [step.output for step in traces[0].steps] == ["0", "1"]
    assert "line 12: not JSON" in report.problems[0]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"], ids=["empty", "blank", "mark"])
def test_an_empty_file(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "log.jsonl").write_bytes(data)
    with pytest.raises(InputError, match="the file is empty"):
        load(tmp_path / "log.jsonl")


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the folder holds no file"):
        load(tmp_path)
    with pytest.raises(InputError, match="no file was named"):
        load([])
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "absent.jsonl")


def test_csv_with_an_open_quote_says_that_the_rest_was_not_read(tmp_path: Path) -> None:
    traces, report = lenient(tmp_path / "log.csv", b'tool,output\nls,a\ncat,"b\nls,c\n')
    assert len(traces[0].steps) == 1
    assert "the rest was not read" in report.problems[0]


def test_csv_row_of_the_wrong_width(tmp_path: Path) -> None:
    traces, report = lenient(tmp_path / "log.csv", b"tool,output\nls,a\ncat\n")
    assert len(traces[0].steps) == 2
    assert "line 3" in report.problems[0]


def test_not_sqlite_after_all(tmp_path: Path) -> None:
    pytest.importorskip("langgraph.checkpoint.sqlite", reason="langgraph-checkpoint-sqlite is not installed")
    head = b"SQLite format 3\x00" + b"checkpoints checkpoint_ns" + b"\x00" * 5000
    (tmp_path / "threads.sqlite").write_bytes(head)
    with pytest.raises(InputError, match="cannot be read as sqlite"):
        load(tmp_path / "threads.sqlite")


def test_two_atif_files_that_continue_each_other(tmp_path: Path) -> None:
    document = json.loads((FIXTURES / "atif.trajectory.json").read_text())
    for name, other in (("a.json", "b.json"), ("b.json", "a.json")):
        (tmp_path / name).write_text(json.dumps({**document, "continued_trajectory_ref": other}))
    assert len(load(tmp_path)[0]) == 1


def test_claude_code_parents_in_a_circle(tmp_path: Path) -> None:
    records = [json.loads(line) for line in (FIXTURES / "claude_code_first.jsonl").read_text().splitlines()]
    circle = [{**record, "parentUuid": records[n - 1]["uuid"]} for n, record in enumerate(records)]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, circle)))
    assert len(load(tmp_path)[0][0].steps) == 1
    lost = [{**record, "parentUuid": f"nowhere-{n}"} for n, record in enumerate(records)]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, lost)))
    assert load(tmp_path)[1].counts["dangling_parents"] == len(records) - 1


def test_what_was_imported_can_be_written_and_read(tmp_path: Path) -> None:
    found, _ = load(FIXTURES)
    for name in ("all.jsonl", "all.jsonl.gz", "all.parquet"):
        found.write(tmp_path / name)
        assert list(corpus.read(tmp_path / name)) == list(found)
    again, report = load(tmp_path)
    assert len(again) == 3 * len(found)
    assert report.files == {"driftlab": 3}


@pytest.mark.parametrize("seed", range(20))
def test_flipped_bytes(tmp_path: Path, seed: int) -> None:
    """2,000 inputs in all: no crash, no silent loss."""
    rng = random.Random(seed)
    for number in range(100):
        name, data = mutated(rng)
        check(tmp_path / f"{number}-{name}", data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
KEYS = [
    *("type", "role", "content", "tool_calls", "id", "name", "args", "function", "arguments", "messages", "steps"),
    *("trajectory", "history", "action", "observation", "source", "kind", "attributes", "spans", "values", "metadata"),
    *("uuid", "sessionId", "payload", "message", "event", "tool", "output", "state", "traj", "reward"),
]
records = st.lists(st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), json_values, max_size=6), max_size=6)


@given(records)
def test_any_json_with_familiar_keys(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]) -> None:
    folder = tmp_path_factory.getbasetemp() / "hypothesis"
    folder.mkdir(exist_ok=True)
    check(folder / "log.jsonl", "\n".join(json.dumps(row) for row in rows).encode("utf-8", "surrogatepass"))


@given(rows=st.lists(json_values, max_size=5), name=st.sampled_from(sorted(path.name for path in FIXTURES.iterdir())))
def test_a_value_put_anywhere_into_a_real_log(
    tmp_path_factory: pytest.TempPathFactory, rows: list[object], name: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "grafts"
    folder.mkdir(exist_ok=True)
    raw = (FIXTURES / name).read_text()
    if name.endswith(".csv"):
        return
    values = [json.loads(raw)] if not name.endswith(".jsonl") else [json.loads(line) for line in raw.splitlines()]
    rng = random.Random(repr(rows))
    grafted = [_graft(value, rows, rng) for value in values]
    text = "\n".join(map(json.dumps, grafted)) if name.endswith(".jsonl") else json.dumps(grafted[0])
    check(folder / name, text.encode("utf-8", "surrogatepass"))


def _graft(value: object, rows: list[object], rng: random.Random) -> object:
    if rows and rng.random() < 0.05:
        return rng.choice(rows)
    if isinstance(value, dict):
        return {key: _graft(item, rows, rng) for key, item in value.items()}
    return [_graft(item, rows, rng) for item in value] if isinstance(value, list) else value
