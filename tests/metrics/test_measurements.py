"""One pass over traces: columns, chunks, processes, signals, long and strange traces."""

import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import traces

from driftlab._util.errors import InputError
from driftlab.metrics import Pairwise, metric
from driftlab.metrics.column import Event, Symbol, Value, number
from driftlab.metrics.measurements import Measurements, measure, streamed
from driftlab.metrics.pairs import PairMemo, pair_places
from driftlab.trace.masks import register_mask
from driftlab.trace.schema import SignalSpec, Step, Trace, TraceInfo
from driftlab.trace.views import column

MIXED = ["exact", "levenshtein(lag=3, nearest=True)", "difflib(view='output')", "jaccard", "repeat", "novelty", "noise"]


def states(*texts: str | None, id: str = "run") -> Trace:
    return Trace(id=id, steps=[Step(state=text) for text in texts])


def corpus(count: int) -> list[Trace]:
    words = ["alpha", "beta", "gamma", "alpha beta", None]
    return [
        Trace(
            id=f"run-{n}",
            steps=[
                Step(state=words[(n * t) % 5], tool="sh", args={"n": t % 3}, output=f"line {t % 4}\nrun {n}")
                for t in range(n % 7)
            ],
        )
        for n in range(count)
    ]


def equal(first: Measurements, second: Measurements) -> bool:
    assert first.columns.keys() == second.columns.keys()
    assert first.infos == second.infos
    return all(first.columns[key].tobytes() == second.columns[key].tobytes() for key in first.columns)


def test_rows_stand_trace_after_trace() -> None:
    found = measure(
        [states("a", "a", id="x"), states(id="y"), states("b", id="z")], ["exact", Symbol("state"), Event()]
    )
    assert found.offsets.tolist() == [0, 2, 2, 3]
    assert found.lengths.tolist() == [2, 0, 1]
    assert [info.id for info in found.infos] == ["x", "y", "z"]
    assert found.deltas("exact").tolist() == [1.0, 0.0, 1.0]
    assert found.deltas(Symbol("state")).tolist() == [0, 0, 0]
    assert found.deltas(Event()).dtype == np.int64


def test_nothing_measured_is_said() -> None:
    found = measure([], ["exact", Symbol("state")])
    assert found.offsets.tolist() == [0]
    assert found.deltas("exact").shape == (0,)
    assert found.deltas(Symbol("state")).dtype == np.int64
    with pytest.raises(InputError, match=r"jaccard was not measured; measured: exact, symbol\('state'\); pass it to"):
        found.deltas("jaccard")
    with pytest.raises(InputError, match="measured: nothing"):
        measure([], []).deltas("exact")


def test_take_joins_and_counts() -> None:
    found = measure([states("a", "a", id="x"), states(id="y"), states(None, id="z")], ["exact"])
    taken = found.take([2, 0])
    assert [info.id for info in taken.infos] == ["z", "x"]
    assert taken.offsets.tolist() == [0, 1, 3]
    np.testing.assert_array_equal(taken.deltas("exact"), [np.nan, 1.0, 0.0])
    assert found.take([]).offsets.tolist() == [0]
    both = found.joined(measure([states("a", "a", id="x"), states(id="y"), states(None, id="z")], ["jaccard"]))
    assert list(both.columns) == [metric("exact"), metric("jaccard")]
    assert found.missing("exact") == 2  # one without steps, one without the view
    assert measure([states("a"), states(None)], [Symbol("state")]).missing(Symbol("state")) == 1


def test_a_generator_is_walked_once_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = measure(corpus(20), MIXED)
    monkeypatch.setattr(sys.modules["driftlab.metrics.measurements"], "CHUNK", 3)
    walked = []

    def walk():  # type: ignore[no-untyped-def]
        for trace in corpus(20):
            walked.append(trace.id)
            yield trace

    assert equal(measure(walk(), MIXED), whole)
    assert len(walked) == 20


def test_processes_do_not_change_the_numbers() -> None:
    register_mask("test_measure_mask", [(r"alpha", "omega")])
    inputs = [*MIXED, "exact(mask='test_measure_mask')", "repeat(view='state', mask='test_measure_mask')"]
    assert equal(measure(corpus(12), inputs, n_jobs=2), measure(corpus(12), inputs))


def test_progress_is_shown_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    measure(corpus(3), ["exact"])
    assert "measuring" not in capsys.readouterr().err
    measure(corpus(3), ["exact"], progress=True)
    assert "measuring" in capsys.readouterr().err


# --- pairs ---------------------------------------------------------------------------------------------------------


class Asking:
    """A comparison that notes what it was asked."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def __call__(self, subject: Pairwise, pairs: list[tuple[str, str]]) -> list[float]:
        self.pairs += pairs
        return [0.5] * len(pairs)


def test_equal_pairs_are_compared_once_a_corpus() -> None:
    memo, ask = PairMemo(), Asking()
    one, two = (column(trace.steps, "state", "text") for trace in (states("a", "b", "a", "b"), states("a", "b", "c")))
    subject, other = metric("jaccard"), metric("jaccard(view='output', lag=2)")
    assert isinstance(subject, Pairwise)
    assert isinstance(other, Pairwise)
    assert [found.tolist() for found in memo.deltas(subject, [one, two], ask)] == [[1, 0.5, 0.5, 0.5], [1, 0.5, 0.5]]
    assert sorted(ask.pairs) == [("a", "b"), ("b", "a"), ("b", "c")]
    memo.deltas(subject, [one], ask)
    memo.deltas(other, [two], ask)  # lag and view decide which texts meet, not how they compare
    assert sorted(ask.pairs) == [("a", "b"), ("a", "c"), ("b", "a"), ("b", "c")]


def test_equal_texts_are_never_compared() -> None:
    memo, ask = PairMemo(), Asking()
    subject = metric("jaccard(lag=3, nearest=True)")
    assert isinstance(subject, Pairwise)
    same = column(states(*["a"] * 9).steps, "state", "text")
    assert memo.deltas(subject, [same], ask)[0].tolist() == [1.0] + [0.0] * 8
    cycle = column(states(*["a", "b"] * 5).steps, "state", "text")
    memo.deltas(subject, [cycle], ask)
    assert ask.pairs == [("a", "b")]  # from the third step on an equal text is among the last three


def test_pair_places() -> None:
    found = column(states("a", None, "b", "c").steps, "state", "text")
    exact = metric("exact")
    assert isinstance(exact, Pairwise)
    assert pair_places(exact, found).tolist() == [[0, 2], [2, 3]]
    assert pair_places(exact.replace(lag=2), found).tolist() == [[0, 3]]
    assert pair_places(exact.replace(lag=9), found).tolist() == []
    assert sorted(pair_places(exact.replace(lag=2, nearest=True), found).tolist()) == [[0, 2], [0, 3], [2, 3]]


@settings(max_examples=25)
@given(st.lists(traces(), max_size=4))
def test_company_does_not_matter(company: list[Trace]) -> None:
    subjects = [metric(spec) for spec in MIXED]
    found = measure(company, subjects)
    for n, trace in enumerate(company):
        for subject in subjects:
            rows = found.deltas(subject)[found.offsets[n] : found.offsets[n + 1]]
            assert rows.tobytes() == streamed(subject, trace).tobytes()


# --- signals -------------------------------------------------------------------------------------------------------


def test_a_signal_that_some_traces_lack_is_nan_and_counted() -> None:
    company = [Trace(id="a", steps=[Step.of(passed=1)]), states("x", id="b")]
    found = measure(company, ["signal('passed')", Value("passed")])
    np.testing.assert_array_equal(found.deltas("signal('passed')"), [1.0, np.nan])
    assert found.missing("signal('passed')") == found.missing(Value("passed")) == 1


def test_a_signal_that_no_trace_has_is_an_error_when_asked_for_by_name() -> None:
    company = [Trace(id="a", steps=[Step.of(passed=1)]), states("x", id="b")]
    for asked in ("signal('pased')", Value("pased")):
        with pytest.raises(InputError, match=r"no trace has the signal 'pased'; known: passed"):
            measure(company, [asked])
    with pytest.raises(InputError, match=r"known: \(the traces carry none\)"):
        measure([states("x")], ["signal('passed')"])
    assert np.isnan(measure([states("x")], ["signal"]).deltas("signal")).all()
    assert measure([], ["signal('passed')"]).deltas("signal('passed')").shape == (0,)


def test_a_signal_without_a_name_must_be_the_only_one_of_the_corpus() -> None:
    first, second = Trace(id="a", steps=[Step.of(passed=1)]), Trace(id="b", steps=[Step.of(reward=1)])
    assert measure([first, first], ["signal"]).deltas("signal").tolist() == [1.0, 1.0]
    with pytest.raises(InputError, match="choose one of: passed, reward"):
        measure([first, second], ["signal"])


def test_a_number_turns_its_sign_with_the_direction() -> None:
    info = TraceInfo(id="a", signal_specs={"error": SignalSpec("lower")})
    assert number(Step(signals={"error": 2}), "error", info) == -2.0
    assert np.isnan(number(Step(), "error", info))
    assert number(Step(signals={"error": np.float32(2)}), "error", info) == -2.0
    with pytest.raises(TypeError, match="must be a number"):
        number(Step(signals={"error": "2"}), "error", info)


# --- long and strange traces ---------------------------------------------------------------------------------------


def test_a_hundred_thousand_steps_take_seconds() -> None:
    trace = Trace(
        id="long",
        steps=[
            Step(state=f"step {t % 500}", tool="sh", args={"n": t % 50}, output=f"{t % 700}") for t in range(100_000)
        ],
    )
    started = time.perf_counter()
    found = measure([trace], ["levenshtein", "jaccard(view='output', lag=8, nearest=True)", "novelty", "repeat"])
    assert time.perf_counter() - started < 60
    assert found.lengths.tolist() == [100_000]
    assert found.deltas("novelty")[-1] == 0.0


def test_lone_surrogates_are_measured(tmp_path) -> None:  # type: ignore[no-untyped-def]
    step = Step(state="a \ud800", tool="sh\ud801", args={"k\ud800": "v\udfff"}, output="o \ud800")
    trace = Trace(id="odd\ud800", steps=[step, step])
    specs = ["exact", "levenshtein(view='call')", "arguments", "novelty", "repeat", "noise", "difflib(view='action')"]
    found = measure([trace], specs, cache=tmp_path)
    assert [found.deltas(spec)[1] for spec in specs if spec != "noise"] == [0.0] * 6
    assert equal(measure([trace], specs, cache=tmp_path), found)


def test_states_that_are_no_text_are_refused() -> None:
    for spec in ("levenshtein", "exact(mask='raw')", "novelty(view='state')"):
        with pytest.raises(TypeError, match="state must be text, got int 7; turn it into text first"):
            measure([Trace(id="a", steps=[Step(state=7)])], [spec])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="write text"):
        Step.of(state=["a"])


def test_no_process_is_not_a_number_of_processes() -> None:
    with pytest.raises(InputError, match="n_jobs must be a number of processes"):
        measure(corpus(2), ["exact"], n_jobs=0)
