"""The laws over everything registered, and broken samples that must fail them.

One section a kind of thing. A law is a function that raises AssertionError, so that the same law can be run over the
registry (it holds) and over a sample that breaks it on purpose (it must not).
"""

import dataclasses
import difflib
import math
import pickle
from collections.abc import Callable
from typing import ClassVar

import numpy as np
import pytest
from culprits import hold
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from strategies import long_traces, texts, traces, unicode_texts, wild_texts

from driftlab._util.errors import InputError
from driftlab.metrics import METRICS, Metric, Pairwise, TextMetric, metric, register_model
from driftlab.metrics.column import StepView, Stream
from driftlab.metrics.measurements import measure, streamed
from driftlab.trace.schema import Step, Trace, TraceInfo
from driftlab.trace.views import VIEWS, column

# === metrics: laws 1 to 5 ==========================================================================================


class Letters:
    """A model for laws that are about driftlab, not about a model: counts of letters."""

    def encode(self, batch: list[str], /) -> list[list[float]]:
        return [[1.0, *(float(text.count(letter)) for letter in "ab.3é")] for text in batch]


register_model("contract-letters", Letters())


def variants(kind: type[Metric]) -> list[Metric]:
    """Return a metric at its defaults and with each view, lag and kind of comparison."""
    options = {"model": "contract-letters"} if kind.name == "embedding" else {}
    start = kind(**options)
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    found = [start]
    if "view" in names and kind.name != "arguments":
        found += [start.replace(view=view) for view in VIEWS]
    if "mask" in names:
        found += [start.replace(mask=mask) for mask in ("raw", "digits")]
    if "lag" in names:
        found += [start.replace(lag=2), start.replace(lag=8), start.replace(lag=3, nearest=True)]
    if kind.name == "signal":
        found += [start.replace(signal="passed"), start.replace(signal="passed", scale=2.0)]
    return list(dict.fromkeys(found))


ALL = [each for kind in METRICS.values() for each in variants(kind)]
PAIRWISE = [
    kind(**({"model": "contract-letters"} if kind.name == "embedding" else {}))
    for kind in METRICS.values()
    if issubclass(kind, Pairwise)
]


def unit(subject: Metric) -> float:
    """Return how far two numbers that should be equal may lie apart (law 4)."""
    return 1e-4 if subject.name == "embedding" else 0.0


def same(first: NDArray[np.float64], second: NDArray[np.float64], within: float) -> bool:
    if within:
        return bool(np.allclose(first, second, rtol=0.0, atol=within * 1.001, equal_nan=True))
    return first.tobytes() == second.tobytes()


CARRIER = Trace(id="carrier", steps=[Step(signals={"passed": 1})])  # a signal that no trace has is an error


def one(trace: Trace, subject: Metric) -> NDArray[np.float64]:
    return np.asarray(measure([trace, CARRIER], [subject]).take([0]).deltas(subject))


def law_range(subject: Metric, trace: Trace) -> None:
    """Law 1: one delta a step, in [0, 1] or nan."""
    deltas = one(trace, subject)
    assert deltas.shape == (len(trace.steps),)
    assert deltas.dtype == np.float64
    known = deltas[~np.isnan(deltas)]
    assert ((known >= 0) & (known <= 1)).all()


def law_absent(subject: Metric, trace: Trace) -> None:
    """Law 1: nan exactly where the view is absent; the first steps that have it are 1.0."""
    if not isinstance(subject, TextMetric):
        return
    deltas = one(trace, subject)
    absent = column(trace.steps, subject.view, subject.mask).symbols < 0
    assert (np.isnan(deltas) == absent).all()
    alone = 1 if getattr(subject, "nearest", False) else getattr(subject, "lag", 1)
    assert (deltas[~absent][:alone] == 1.0).all()


def law_causal(subject: Metric, trace: Trace) -> None:
    """The deltas of a prefix are the prefix of the deltas."""
    whole = streamed(subject, trace)
    for end in range(len(trace.steps)):
        assert same(streamed(subject, trace.replace(steps=trace.steps[:end], stalls=())), whole[:end], unit(subject))


def law_batch(subject: Metric, trace: Trace) -> None:
    """Law 12: a batch, in whatever company, gives what the stream gives."""
    expected = streamed(subject, trace)
    assert same(one(trace, subject), expected, unit(subject))
    company = [trace.replace(id="other", steps=trace.steps[::-1], stalls=()), trace, trace, CARRIER]
    found = measure(company, [subject])
    assert same(found.deltas(subject)[found.offsets[1] : found.offsets[2]], expected, unit(subject))


def law_pair(subject: Pairwise, first: str, second: str) -> None:
    """Law 2: `.compare` over texts, None, and what is no text."""
    delta = subject.compare(first, second)
    assert isinstance(delta, float)
    assert 0.0 <= delta <= 1.0
    assert subject.compare(first, first) == 0.0
    assert subject.compare(None, second) == subject.compare("", second)
    assert subject.compare(first, None) == subject.compare(first, "")
    assert subject.compare(None, None) == subject.compare("", "") == 0.0
    if subject.clean(first) == subject.clean(second):
        assert delta == 0.0
    if not subject.clean(first) and subject.clean(second).strip():
        assert delta == 1.0
    for strange in (7, math.nan, ["a"], b"a"):
        for pair in ((strange, second), (first, strange)):
            with pytest.raises(TypeError):
                subject.compare(*pair)


ORDERED = [
    ("tide", "diet"),
    ("a b c d e f", "a b c"),
    ("abcd" * 9, "dcba" * 4),
    ("a", "a b"),
    ("one two three", "two three four five"),
]


def law_order(subject: Pairwise) -> None:
    """Law 3: the declared symmetry is the true one."""
    equal = [abs(subject.compare(a, b) - subject.compare(b, a)) <= unit(subject) for a, b in ORDERED]
    assert all(equal) is subject.symmetric


def law_character(subject: Pairwise) -> None:
    """Law 3: one character put in front moves the delta by less than 0.05, whatever the length, words or none."""
    for length in (220, 3_999, 4_000, 20_000):
        for cell in (
            "0123456789abcdef ",
            "lorem ipsum dolor sit amet 42\n",
            "abcdefghijklmnopqrstuvwxyz",
            "ab",
            "a",
            "日本語の文章です。",
        ):
            text = _scrambled(cell, length)
            assert subject.compare(text, "x" + text) < 0.05
            assert subject.compare("x" + text, text) < 0.05


def _scrambled(cell: str, length: int) -> str:
    draw = np.random.default_rng(length + len(cell))
    return "y" + "".join(cell[place] for place in draw.integers(0, len(cell), length - 2)) + "z"


def law_value(subject: Metric) -> None:
    """Law 5: a frozen dataclass of plain parameters, whose spec parses back to an equal one."""
    assert dataclasses.is_dataclass(subject)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(subject, dataclasses.fields(subject)[0].name, None)  # type: ignore[arg-type]
    assert type(subject).replace(subject) == subject
    assert hash(subject) == hash(subject.replace())
    assert pickle.loads(pickle.dumps(subject)) == subject
    known = {**METRICS, subject.name: type(subject)}
    for spec in (repr(subject), subject.full()):
        assert _parsed(spec, known) == subject


def _parsed(spec: str, known: dict[str, type[Metric]]) -> object:
    from driftlab._util.spec import parse

    return parse(spec, known, "metric")


def law_unchanged(subject: Metric, trace: Trace) -> None:
    """Law 5: no life: measuring changes nothing in the metric, and a second time gives the same."""
    before = pickle.dumps(vars(subject))
    first, stream = one(trace, subject), streamed(subject, trace)
    assert pickle.dumps(vars(subject)) == before
    assert same(first, one(trace, subject), unit(subject))
    assert same(stream, streamed(subject, trace), unit(subject))


TRACE_LAWS = [law_range, law_absent, law_causal, law_batch, law_unchanged]


@pytest.mark.parametrize("law", TRACE_LAWS, ids=lambda law: law.__name__)
def test_metric_laws_over_traces(law: Callable[[Metric, Trace], None]) -> None:
    @settings(max_examples=24)
    @given(traces())
    def check(trace: Trace) -> None:
        hold(law, ALL, trace)

    check()


@settings(max_examples=120)
@given(st.one_of(texts, unicode_texts, wild_texts), st.one_of(texts, unicode_texts, wild_texts))
def test_pairwise_laws_over_texts(first: str, second: str) -> None:
    hold(law_pair, PAIRWISE, first, second)


def test_symmetry_is_as_declared() -> None:
    hold(law_order, PAIRWISE)


@pytest.mark.parametrize("name", ["difflib", "levenshtein"])
def test_one_character_in_front_is_a_small_change(name: str) -> None:
    law_character(metric(name))  # type: ignore[arg-type]


def test_a_metric_is_a_value() -> None:
    hold(law_value, ALL)


@pytest.mark.parametrize("kind", METRICS.values(), ids=METRICS)
def test_a_metric_is_documented_and_refuses_nonsense(kind: type[Metric]) -> None:
    doc = kind.__doc__ or ""
    assert ">>>" in doc
    if "see `Pairwise`" in doc:
        doc += Pairwise.__doc__ or ""
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        assert f"    {field.name} :" in doc, f"{kind.name}.{field.name} is not documented"
    if issubclass(kind, Pairwise) and kind.name not in ("difflib", "levenshtein"):
        assert "Resolution:" in doc
    with pytest.raises(InputError, match=f"unknown parameter of {kind.name} 'colour'"):
        metric(f"{kind.name}(colour=1)")
    if issubclass(kind, TextMetric):
        with pytest.raises(InputError, match="view"):
            metric(f"{kind.name}(view='stat')")
        with pytest.raises(InputError, match="unknown mask 'no'"):
            metric(f"{kind.name}(mask='no')")
    if issubclass(kind, Pairwise):
        for bad in (0, -1, 1.5, True):
            with pytest.raises(InputError, match="lag must be a whole number >= 1"):
                metric(f"{kind.name}(lag={bad})")


@settings(max_examples=8)
@given(long_traces())
def test_the_shipped_model_obeys_the_laws(trace: Trace) -> None:
    subject = metric("embedding")
    for law in (law_range, law_absent, law_batch):
        law(subject, trace)


def test_pairwise_and_history_metrics_are_told_apart() -> None:
    assert {kind.name for kind in METRICS.values() if issubclass(kind, Pairwise)} == {
        *("arguments", "containment", "difflib", "embedding", "exact", "jaccard", "levenshtein")
    }
    assert all(hasattr(kind, "compare") == issubclass(kind, Pairwise) for kind in METRICS.values())


# --- metrics that break a law on purpose ---------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, repr=False)
class Broken(Pairwise):
    """Obeys every law; the samples below each break one."""

    name: ClassVar[str] = "broken"
    view: str = "state"
    mask: str = "text"
    lag: int = 1
    nearest: bool = False

    def delta(self, earlier: str, later: str) -> float:
        return 1.0


class TooLarge(Broken):
    def delta(self, earlier: str, later: str) -> float:
        return 1.5


class Negative(Broken):
    def delta(self, earlier: str, later: str) -> float:
        return -0.0001


class NoneIsChange(Broken):
    """Reads a missing text as an empty one."""

    def stream(self, info: TraceInfo) -> Stream:
        inner = super().stream(info)

        def push(reading: StepView) -> float:
            delta = inner(reading)
            return 1.0 if math.isnan(delta) else delta

        return push


class NoneIsProgress(Broken):
    """What RapidFuzz answers to two missing texts."""

    def compare(self, earlier: str | None, later: str | None) -> float:
        return 1.0 if earlier is None and later is None else super().compare(earlier, later)


class TurnsIntoText(Broken):
    def clean(self, text: str | None) -> str:
        return super().clean(None if text is None else str(text))


class NeverEqual(Broken):
    def compare(self, earlier: str | None, later: str | None) -> float:
        return max(1e-9, super().compare(earlier, later))


class Directed(Broken):
    """Says nothing of its direction."""

    def delta(self, earlier: str, later: str) -> float:
        return len(earlier) / (len(earlier) + len(later))


class Undirected(Broken):
    symmetric: ClassVar[bool] = False


class Junk(Broken):
    """difflib as it comes."""

    def delta(self, earlier: str, later: str) -> float:
        return 1.0 - difflib.SequenceMatcher(None, earlier, later).ratio()


class OfItsBatch(Broken):
    """Scales by what else is compared: a batch is not the stream."""

    def deltas(self, pairs):  # type: ignore[no-untyped-def]
        sizes = np.array([float(abs(len(a) - len(b)) + 1) for a, b in pairs])
        return sizes / sizes.max(initial=1.0)


@dataclasses.dataclass(frozen=True, repr=False)
class Peeking(Metric):
    """Knows the rest of a run once it has seen it: scales by the run's largest length."""

    name: ClassVar[str] = "peeking"
    seen: ClassVar[dict[str, int]] = {}

    def stream(self, info: TraceInfo) -> Stream:
        def push(reading: StepView) -> float:
            size = len(reading.text("state", "text") or "") + 1
            self.seen[info.id] = max(size, self.seen.get(info.id, 0))
            return size / self.seen[info.id]

        return push


class Counting(Broken):
    """Remembers how often it was asked."""

    def stream(self, info: TraceInfo) -> Stream:
        object.__setattr__(self, "asked", getattr(self, "asked", 0) + 1)
        return super().stream(info)


@dataclasses.dataclass(repr=False, unsafe_hash=True)
class NotFrozen(Metric):
    name: ClassVar[str] = "not_frozen"
    seed: int = 0

    def stream(self, info: TraceInfo) -> Stream:
        return lambda reading: 1.0


@dataclasses.dataclass(frozen=True, repr=False)
class Forgetful(Metric):
    """Its spec leaves a parameter out."""

    name: ClassVar[str] = "forgetful"
    seed: int = 0

    def stream(self, info: TraceInfo) -> Stream:
        return lambda reading: 1.0

    def __repr__(self) -> str:
        return self.name


STATES = [
    "a",
    "a b",
    None,
    "b",
    "a b a b",
    None,
    "a",
    "b",
    "bb",
    "",
    "a b",
    "ccccc",
    *["a", "b"] * 4,
    "a longer text than all",
]
RUN = Trace(id="run", steps=[Step(state=state) for state in STATES])
BREAKS: list[tuple[Callable[[], None], str]] = [
    (lambda: law_pair(TooLarge(), "a", "b"), "above 1"),
    (lambda: law_range(Negative(), RUN), "below 0"),
    (lambda: law_absent(NoneIsChange(), RUN) or law_batch(NoneIsChange(), RUN), "None is change"),
    (lambda: law_pair(NoneIsProgress(), "a", "b"), "None against None"),
    (lambda: law_pair(TurnsIntoText(), "a", "b"), "numbers are text"),
    (lambda: law_pair(NeverEqual(), "a", "a"), "equal texts differ"),
    (lambda: law_order(Directed()), "undeclared direction"),
    (lambda: law_order(Undirected()), "declared direction, and none"),
    (lambda: law_character(Junk()), "autojunk"),
    (lambda: law_batch(OfItsBatch(), RUN), "batch is not stream"),
    (lambda: law_causal(Peeking(), RUN), "reads the future"),
    (lambda: law_unchanged(Counting(), RUN), "has a life"),
    (lambda: law_value(NotFrozen()), "not frozen"),
    (lambda: law_value(Forgetful(seed=3)), "spec forgets a parameter"),
]


@pytest.mark.parametrize("law", [law for law, _ in BREAKS], ids=[why for _, why in BREAKS])
def test_a_broken_metric_fails_its_law(law: Callable[[], None]) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        law()


def test_a_broken_law_names_the_culprit() -> None:
    with pytest.raises(AssertionError) as caught:
        hold(law_order, [metric("exact"), Directed()])
    assert caught.value.__notes__ == [f"law_order is broken by {Directed()!r}"]


def test_the_sample_that_the_broken_ones_change_obeys_the_laws() -> None:
    for law in TRACE_LAWS:
        law(Broken(), RUN)
    law_pair(Broken(), "a", "b")
    law_order(Broken())
    law_value(Broken())
