"""Reading, writing, filtering, splitting."""

import gzip
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab.trace.corpus import Corpus, read, stream, write
from driftlab.trace.schema import SignalSpec, Span, Step, Trace

FORMATS = [".jsonl", ".jsonl.gz", ".parquet"]


def some(n=6, **fields):
    steps = [
        Step(state="s", tool="t", args={"b": [1, {"c": None}], "a": 2.5}, output="", signals={"x": 1.0, "y": None}),
        Step(thought="é\n", args="plain text", event="user", tokens=3, seconds=0.5, error=False, extra={"k": [1]}),
        Step(),
    ]
    return [
        Trace(id=f"run-{i}", task="sql", problem=str(i // 2), label="stalled", stalls=[Span(1, None, "k")], steps=steps,
              outcome=False, signal_specs={"x": SignalSpec("lower", 0)}, extra={"note": "n"}, **fields)
        for i in range(n)
    ]  # fmt: skip


@pytest.mark.parametrize("suffix", FORMATS)
def test_what_is_written_is_read_back(tmp_path, suffix):
    corpus = Corpus(some())
    corpus.write(tmp_path / f"runs{suffix}")
    assert read(tmp_path / f"runs{suffix}").traces == corpus.traces
    assert [path.name for path in tmp_path.iterdir()] == [f"runs{suffix}"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_empty_corpus_is_a_file_too(tmp_path, suffix):
    Corpus([]).write(tmp_path / f"none{suffix}")
    assert len(read(tmp_path / f"none{suffix}")) == 0


def test_the_same_traces_give_the_same_bytes(tmp_path):
    for name in ("one.jsonl.gz", "two.jsonl.gz"):
        write(some(), tmp_path / name)
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "two.jsonl.gz").read_bytes()


@pytest.mark.parametrize("suffix", FORMATS)
def test_nothing_half_written_after_a_failure(tmp_path, suffix):
    target = tmp_path / f"runs{suffix}"
    write(some(2), target)
    before = target.read_bytes()

    def broken():
        yield from some(2)
        raise RuntimeError("the disk is on fire")

    with pytest.raises(RuntimeError, match="on fire"):
        write(broken(), target)
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


LINES = """{"id": "a", "steps": []}

{"id": "b", "steps": [{"state": 1}]}
{"id": "a", "steps": []}
{"id": "c", "steps": []}
"""


def test_a_broken_line_is_named(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(LINES)
    with pytest.raises(InputError, match=r"runs\.jsonl:3: trace 'b': \$\.steps\[0\]\.state.*value 1"):
        read(path)


def test_broken_lines_can_be_skipped_and_are_counted(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(LINES)
    with pytest.warns(DriftlabWarning, match=r"2 of 4 traces skipped; the first: .*:3: trace 'b'"):
        corpus = read(path, on_error="skip")
    assert [trace.id for trace in corpus] == ["a", "c"]


def test_a_second_trace_of_one_id_names_both_lines(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"id": "a", "steps": []}\n{"id": "a", "steps": []}\n')
    with pytest.raises(InputError, match=r":2: trace 'a' was at line 1"):
        read(path)
    with pytest.raises(InputError, match="more than once"):
        Corpus([Trace(id="a", steps=[])] * 2)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("runs.csv", b"", "must end in one of .jsonl"),
        ("missing.jsonl", None, "cannot be read"),
        ("runs.jsonl.gz", b"no gzip", "cannot be read"),
        ("runs.parquet", b"no parquet", "cannot be read as Parquet"),
        ("runs.jsonl", b'\xff\xfe{"id"', "not a line of JSON"),
    ],
)
def test_a_file_that_is_none_says_so(tmp_path, name, content, says):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=says) as caught:
        read(tmp_path / name)
    assert name in str(caught.value)


def test_a_cut_gzip_file_says_so(tmp_path):
    whole = gzip.compress(b'{"id": "a", "steps": []}\n' * 1)
    (tmp_path / "runs.jsonl.gz").write_bytes(whole[:-6])
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "runs.jsonl.gz")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "runs.jsonl").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path / "runs.jsonl")


def test_directions_fill_what_a_file_does_not_declare(tmp_path):
    write(some(1), tmp_path / "runs.jsonl")
    trace = read(tmp_path / "runs.jsonl", signals={"x": "higher", "y": "lower"})[0]
    assert trace.signal_specs == {"x": SignalSpec("lower", 0), "y": SignalSpec("lower")}


def test_filter_by_field_and_by_function():
    corpus = Corpus([*some(3), Trace(id="other", task="code", steps=[])])
    assert [trace.id for trace in corpus.filter(task="code")] == ["other"]
    assert len(corpus.filter(lambda trace: len(trace.steps) > 1, task="sql")) == 3
    with pytest.raises(InputError, match="no field 'tusk'"):
        corpus.filter(tusk="sql")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 5)), max_size=20), st.integers(0, 3))
@settings(max_examples=50)
def test_no_problem_is_on_both_sides(kinds, seed):
    corpus = Corpus([Trace(id=str(i), task=t, problem=str(p), steps=[]) for i, (t, p) in enumerate(kinds)])
    first, second = corpus.split_by_problem(seed=seed)
    assert {trace.group for trace in first}.isdisjoint(trace.group for trace in second)
    assert len(first) + len(second) == len(corpus)
    again, _ = corpus.split_by_problem(seed=seed)
    assert again.traces == first.traces


def test_a_share_is_between_nothing_and_all():
    with pytest.raises(InputError, match="between 0 and 1"):
        Corpus(some()).split_by_problem(share=1)


def test_summary_counts_what_is_there():
    found = Corpus(some(4)).summary()
    assert (found.traces, found.steps, found.lengths) == (4, 12, (3, 3, 3))
    assert found.labels == {"stalled": 4}
    assert (found.problems, found.onsets) == (2, 4)
    assert found.signals == {"x": "lower", "y": "higher (assumed)"}
    assert found.missing["state"] == 8
    assert "4 of 4 stalled traces have a marked stall" in str(found)


def test_summary_of_nothing_is_zeros():
    found = Corpus([]).summary()
    assert (found.traces, found.lengths) == (0, (0, 0, 0))
    assert "traces     0" in str(found)


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_streaming_holds_one_trace_at_a_time(tmp_path, suffix):
    path = tmp_path / f"runs{suffix}"
    text = "x" * 10_000
    write((Trace(id=str(n), steps=[Step(state=text)] * 20) for n in range(60)), path)
    tracemalloc.start()
    count = sum(len(trace.steps) for trace in stream(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 1200
    assert peak < 3_000_000  # 12 MB of text in the file


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.parquet"])
def test_what_cannot_be_read_back_is_not_written(name, tmp_path):
    one = Trace(id="a", steps=[])
    for wrong, message in (([one, one], "'a' occurs more than once"), ([one, 5], "only a Trace can be written, got 5")):
        with pytest.raises(InputError, match=message):
            write(wrong, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_directions_asked_for_are_checked(tmp_path):
    write([Trace(id="a", steps=[])], tmp_path / "runs.jsonl")
    with pytest.raises(InputError, match="must be 'higher' or 'lower', got 'up'"):
        read(tmp_path / "runs.jsonl", signals={"error": "up"})
    with pytest.raises(InputError, match="signals must map names"):
        read(tmp_path / "runs.jsonl", signals="error:lower")


def test_a_byte_order_mark_is_no_content(tmp_path):
    (tmp_path / "runs.jsonl").write_bytes(b'\xef\xbb\xbf{"id": "a", "steps": []}\n')
    assert read(tmp_path / "runs.jsonl")[0].id == "a"
