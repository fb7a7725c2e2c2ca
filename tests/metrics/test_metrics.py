"""What each metric says: the cases users met, slow twins, limits, refusals."""

import json
import math
import random
import string
from collections.abc import Callable
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import CASES
from strategies import texts, unicode_texts

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab.metrics import Pairwise, metric, words
from driftlab.metrics.difflib import Difflib
from driftlab.metrics.levenshtein import Levenshtein
from driftlab.metrics.measurements import measure, streamed
from driftlab.trace.schema import SignalSpec, Step, Trace

RECORDS = [json.loads(line) for line in (CASES / "metric_cases.jsonl").read_text().splitlines()]
OURS = ("exact", "difflib", "levenshtein", "embedding", "arguments", "signal", "signal_progress")
ERRORS = {"TypeError": TypeError, "ValueError": ValueError}


def run_of(*outputs: str | None, tool: str | None = "sh", args: Any = None) -> Trace:
    """Return a run whose steps differ in output alone; None is a step without a call."""
    steps = [Step(state="chat") if out is None else Step(tool=tool, args=args, output=out) for out in outputs]
    return Trace(id="run", steps=steps)


def deltas(spec: str, trace: Trace) -> list[float]:
    """Return the deltas of one trace, the same from a batch and from a stream."""
    subject = metric(spec)
    found = measure([trace], [subject]).deltas(subject)
    assert found.tobytes() == streamed(subject, trace).tobytes()
    return [round(float(value), 6) for value in found]


# --- the rows of metric_cases.jsonl that are about metrics; test_metric_cases.py has the others --------------------


def _value(raw: Any) -> Any:
    return math.nan if raw == "__NaN__" else raw


def _answer(case: dict[str, Any]) -> float:
    first, second = _value(case["a"]), _value(case["b"])
    if case["metric"].startswith("signal"):
        steps = [Step(signals={"it": first}), Step(signals={"it": second})]
        return float(streamed(metric("signal('it')"), Trace(id="run", steps=steps))[1])
    # A row without a mask is about the texts as they are: m38 counts characters, trailing spaces among them.
    subject = metric(f"{case['metric']}(mask={case.get('mask', 'raw')!r})")
    assert isinstance(subject, Pairwise)
    return subject.compare(first, second)


@pytest.mark.parametrize(
    "case", [c for c in RECORDS if c["metric"] in OURS], ids=lambda c: f"{c['case_id']}-{c['metric']}"
)
def test_cases(case: dict[str, Any]) -> None:
    if "expect_error" in case:
        with pytest.raises(ERRORS[case["expect_error"]]):
            _answer(case)
        return
    delta, expected = _answer(case), case["expect"]
    if not isinstance(expected, dict):
        assert delta == pytest.approx(expected, abs=case.get("tol", 0.0)), case["why"]
    elif expected.get("is_nan"):
        assert math.isnan(delta), case["why"]
    else:
        assert expected["min"] <= delta <= expected["max"], case["why"]


# --- twins ---------------------------------------------------------------------------------------------------------


@given(unicode_texts, unicode_texts)
def test_levenshtein_is_edits_over_the_longer(first: str, second: str) -> None:
    assert Levenshtein(mask="raw").compare(first, second) == pytest.approx(naive.levenshtein(first, second), abs=1e-15)


@given(st.text("abc ", max_size=60), st.text("abc ", max_size=60))
def test_difflib_is_difflib(first: str, second: str) -> None:
    assert Difflib(mask="raw").compare(first, second) == naive.ratio(first, second)
    if first.split() != second.split():
        assert Difflib(mask="raw", characters=0).compare(first, second) == naive.ratio(first.split(), second.split())


def test_difflib_counts_words_above_its_limit() -> None:
    draw = random.Random(5)
    first = [draw.choice(["alpha", "beta", "gamma", "delta"]) + str(draw.randrange(40)) for _ in range(900)]
    second = [word if draw.random() > 0.1 else "edited" for word in first]
    one, two = " ".join(first), "\n".join(second)
    assert len(one) > Difflib().characters
    assert Difflib().compare(one, two) == naive.ratio(first, second)
    assert Difflib().compare(one, one.replace(" ", "\n")) == 1 / 900  # spacing alone is one word's worth
    assert Difflib(characters=len(one)).compare(one[:400], two[:400]) == naive.ratio(one[:400], two[:400])


@given(texts, texts)
def test_jaccard_is_shared_words(first: str, second: str) -> None:
    assert metric("jaccard(mask='raw')").compare(first, second) == naive.jaccard(first, second)  # type: ignore[attr-defined]


STATES = st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "a b", "a b c", "", "c d"])), max_size=20)


@given(STATES, st.integers(1, 8), st.booleans())
def test_lag_counts_steps_that_have_the_view(states: list[str | None], lag: int, nearest: bool) -> None:
    trace = Trace(id="run", steps=[Step(state=state) for state in states])
    spec = f"jaccard(lag={lag}, nearest={nearest})"
    expected = naive.lagged(states, naive.jaccard, lag, nearest=nearest)
    np.testing.assert_array_equal(deltas(spec, trace), np.round(expected, 6))


@given(STATES, st.integers(1, 10))
def test_repeat_is_the_nearest_of_the_last(states: list[str | None], last: int) -> None:
    trace = Trace(id="run", steps=[Step(state=state) for state in states])
    np.testing.assert_array_equal(
        deltas(f"repeat(view='state', last={last})", trace), np.round(naive.repeat(states, last), 6)
    )


@given(st.lists(st.one_of(st.none(), st.sampled_from(["", "a", "b\na", "c\n\nd", "a\na\ne", " a "])), max_size=12))
def test_novelty_is_the_share_of_new_lines(outputs: list[str | None]) -> None:
    np.testing.assert_array_equal(deltas("novelty", run_of(*outputs)), np.round(naive.novelty(outputs), 6))


@given(
    st.lists(st.one_of(st.none(), st.integers(-3, 3)), max_size=12), st.one_of(st.none(), st.sampled_from([1.0, 2.5]))
)
def test_signal_is_the_gain_over_the_best(values: list[int | None], scale: float | None) -> None:
    steps = [Step(signals={"it": value}) for value in values]
    found = streamed(metric(f"signal('it', scale={scale})"), Trace(id="run", steps=steps))
    np.testing.assert_array_equal(found, naive.gain(values, scale))
    specs = {"it": SignalSpec("lower")}
    lowered = [Step(signals={"it": None if value is None else -value}) for value in values]
    found = streamed(metric(f"signal('it', scale={scale})"), Trace(id="run", steps=lowered, signal_specs=specs))
    np.testing.assert_array_equal(found, naive.gain(values, scale))


# --- one metric after the other ------------------------------------------------------------------------------------


def test_chat_turns_are_no_opinion_not_evidence() -> None:
    trace = run_of("a", None, "a", None, None, "b")
    assert deltas("exact(view='output')", trace) == pytest.approx([1, math.nan, 0, math.nan, math.nan, 1], nan_ok=True)
    assert deltas("novelty", trace) == pytest.approx([1, math.nan, 0, math.nan, math.nan, 1], nan_ok=True)


def test_novelty_strips_what_the_output_repeats_of_its_call() -> None:
    steps = [
        Step(tool="sh", args={"cmd": f"grep {word}"}, output=f"$ grep {word}\nno match for 'grep {word}'")
        for word in ("alpha", "beta", "gamma")
    ]
    assert deltas("novelty", Trace(id="run", steps=steps)) == [1.0, 0.0, 0.0]
    text = [Step(tool="sh", args=f"grep {word}", output=f"grep {word}\nnone") for word in ("alpha", "beta")]
    assert deltas("novelty", Trace(id="run", steps=text)) == [1.0, 0.0]
    coded = [Step(tool="sh", args=json.dumps({"cmd": f"ls {d}"}), output=f"> ls {d}\nempty") for d in ("src", "doc")]
    assert deltas("novelty", Trace(id="run", steps=coded)) == [1.0, 0.0]
    state = [Step(state=f"ls {d}", tool="sh", args=f"ls {d}") for d in ("src", "doc")]
    assert deltas("novelty(view='state')", Trace(id="run", steps=state)) == [1.0, 1.0]


def test_novelty_keeps_results_that_hold_an_argument() -> None:
    steps = [Step(tool="run", args={"n": n}, output=f"{n} passed") for n in ("1", "2")]
    assert deltas("novelty", Trace(id="run", steps=steps)) == [1.0, 1.0]  # too short to be looked for
    steps = [Step(tool="cat", args={"path": "a.py"}, output=f"file a.py\nline {n}") for n in (1, 2)]
    assert deltas("novelty", Trace(id="run", steps=steps)) == [1.0, 0.5]
    seen = [
        Step(tool="cat", args={"path": "x"}, output="see main.py"),
        Step(tool="cat", args={"path": "main.py"}, output="see main.py"),
        Step(tool="cat", args={"path": "y"}, output="see main.py"),
    ]
    assert deltas("novelty", Trace(id="run", steps=seen)) == [1.0, 0.0, 0.0]


def test_novelty_needs_a_mask_against_the_clock_and_says_nothing_new_for_silence() -> None:
    clocked = run_of("12:30:01 waiting", "12:30:02 waiting", "", "")
    assert deltas("novelty", clocked) == [1.0, 1.0, 0.0, 0.0]
    assert deltas("novelty(mask='volatile')", clocked) == [1.0, 0.0, 0.0, 0.0]
    assert deltas("novelty", run_of("", "")) == [1.0, 0.0]  # the first is compared with nothing


def test_containment_is_low_for_a_text_that_only_grows_by_what_it_said() -> None:
    subject = metric("containment")
    assert isinstance(subject, Pairwise)
    block = "open the file and read its first ten lines then close it again. "
    assert subject.compare(block * 2, block * 9) == 0.0
    assert subject.compare(block, block * 2) < 0.2
    assert subject.compare(block * 3, block) == 0.0
    assert subject.compare(block, block + "now fix the parser in the second module instead") > 0.3
    assert subject.compare(block, "something else entirely, with no phrase in common") == 1.0
    assert subject.compare("ls", "ls src") == 0.5
    assert subject.compare("ls", "cat") == 1.0


def test_repeat_sees_cycles_that_lag_one_does_not() -> None:
    trace = Trace(id="run", steps=[Step(tool=tool) for tool in ["read", "edit", "test"] * 4])
    assert deltas("repeat", trace)[3:] == [0.0] * 9
    assert deltas("repeat(last=2)", trace)[3:] == [0.5] * 9  # the braces of empty arguments are shared words
    assert min(deltas("exact(view='action')", trace)) == 1.0
    assert deltas("exact(view='action', lag=3)", trace)[3:] == [0.0] * 9
    assert deltas("levenshtein(view='action', lag=8, nearest=True)", trace)[3:] == [0.0] * 9


def test_arguments_by_tool() -> None:
    calls = [
        ("grep", {"pattern": "discount", "color": "auto"}),
        ("grep", {"color": "never", "pattern": "discount"}),
        ("find", {"color": "never", "pattern": "discount"}),
        ("find", {"color": "auto", "pattern": "discount"}),
        ("find", {"color": "auto", "pattern": "total", "depth": 1}),
        ("find it", '{"color": "auto"}'),
        ("find it", '{ "color" : "auto"}'),
        ("sh", "ls {a}"),
        ("sh", "ls {b}"),
    ]
    trace = Trace(id="run", steps=[Step(tool=tool, args=args) for tool, args in calls])
    assert deltas("arguments", trace) == [1, 0.5, 1, 0.5, pytest.approx(2 / 3, abs=1e-6), 1, 0, 1, 1]
    assert deltas("arguments(ignore=('color',))", trace) == [1, 0, 1, 0, 1, 1, 0, 1, 1]
    assert deltas("arguments(ignore=(('grep', ('color',)),))", trace)[:4] == [1, 0, 1, 0.5]
    assert metric("arguments(ignore=[['grep', ['color']]])") == metric("arguments(ignore=(('grep', 'color'),))")


def test_arguments_are_masked_inside_their_json() -> None:
    subject = metric("arguments(mask='volatile')")
    assert isinstance(subject, Pairwise)
    assert subject.compare({"at": "12:30:01", "pid": 4}, {"at": "12:30:02", "pid": 4}) == 0.0
    assert subject.compare({"at": "12:30:01", "pid": 4}, {"at": "12:30:02", "pid": 5}) == 0.5
    assert metric("arguments").compare({"at": "12:30:01"}, {"at": "12:30:02"}) == 1.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("ignore", ["(1,)", "(('a', 'b', 'c'),)", "((1, ('a',)),)"])
def test_arguments_refuse_what_is_no_name(ignore: str) -> None:
    with pytest.raises(InputError, match="ignore holds names or"):
        metric(f"arguments(ignore={ignore})")


def test_a_plain_fingerprint_takes_two_spellings_for_two_calls() -> None:
    first, second = {"cmd": "grep discount"}, {"cmd": 'grep -i "discount"'}
    far = {"cmd": "python manage.py migrate"}
    assert metric("exact").compare(str(first), str(second)) == 1.0  # type: ignore[attr-defined]
    for name in ("levenshtein", "jaccard", "difflib", "embedding"):
        compare = metric(name).compare  # type: ignore[attr-defined]
        assert compare(first["cmd"], second["cmd"]) < compare(first["cmd"], far["cmd"])


def test_noise_knows_the_seed_the_trace_and_the_step_alone() -> None:
    one, two = Trace(id="a", steps=[Step(state=str(n)) for n in range(500)]), Trace(id="b", steps=[Step()] * 500)
    found = measure([one, two], ["noise", "noise(seed=1)"])
    assert found.deltas("noise")[0] == 1.0
    assert streamed(metric("noise"), one.replace(steps=two.steps)).tobytes() == found.deltas("noise")[:500].tobytes()
    assert abs(found.deltas("noise")[1:500].mean() - 0.5) < 0.05
    columns = [found.deltas("noise")[:500], found.deltas("noise")[500:], found.deltas("noise(seed=1)")[:500]]
    assert len({column[1] for column in columns}) == 3


# --- signals -------------------------------------------------------------------------------------------------------


def test_signal_regression_is_not_progress_and_the_best_counts() -> None:
    trace = Trace(id="run", steps=[Step.of(passed=n) for n in (5, 4, 5, 6)])
    assert deltas("signal('passed')", trace) == [1.0, 0.0, 0.0, 1.0]
    assert deltas("signal('passed', scale=4)", trace) == [1.0, 0.0, 0.0, 0.25]


def test_signal_without_a_name_is_the_only_one() -> None:
    trace = Trace(id="run", steps=[Step(), Step.of(passed=1), Step.of(passed=1)])
    assert deltas("signal", trace)[1:] == [1.0, 0.0]
    with pytest.raises(InputError, match="choose one of: passed, reward"):
        streamed(metric("signal"), Trace(id="run", steps=[Step.of(passed=1), Step.of(reward=1)]))


def test_signal_survives_infinities_and_sentinels() -> None:
    trace = Trace(id="run", steps=[Step(signals={"it": value}) for value in (math.nan, 1e6, math.inf, math.inf, 3)])
    assert deltas("signal('it')", trace)[1:] == [1.0, 1.0, 0.0, 0.0]
    assert deltas("signal('it', scale=2)", trace)[1:] == [1.0, 1.0, 0.0, 0.0]
    for value in ("37", True, [1]):
        with pytest.raises(TypeError, match=r"signal 'it' of trace 'run' must be a number"):
            streamed(metric("signal('it')"), Trace(id="run", steps=[Step(signals={"it": value})]))
    with pytest.raises(InputError, match="scale must be above 0"):
        metric("signal('it', scale=0)")


# --- hard input ----------------------------------------------------------------------------------------------------

SPECS = ["exact", "difflib", "levenshtein", "jaccard", "containment", "arguments"]


@pytest.mark.parametrize("spec", [*SPECS, "embedding", "embedding(model='wordllama')"])
def test_lone_surrogates(spec: str) -> None:
    if "wordllama" in spec:
        pytest.importorskip("wordllama")
    subject = metric(spec)
    assert isinstance(subject, Pairwise)
    assert subject.compare("a \ud800 b", "a \ud800 b") == 0.0
    assert 0.0 <= subject.compare("a \ud800 b", "a \udfff c") <= 1.0


LINES = "".join(f"{n} INFO worker {n % 97} did this in module {n % 1009}\n" for n in range(40_000))


@pytest.mark.parametrize("spec", SPECS)
def test_ten_megabytes(spec: str) -> None:
    text = LINES * (10_000_000 // len(LINES) + 1)
    subject = metric(spec)
    assert isinstance(subject, Pairwise)
    assert subject.compare(text, text) == 0.0
    front = subject.compare(text, "x" + text)
    assert front == 1.0 if spec in ("exact", "arguments") else front < 0.001


def test_levenshtein_counts_pieces_where_characters_would_take_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "driftlab.metrics.levenshtein"
    monkeypatch.setattr(f"{module}.CELLS", 10_000)
    monkeypatch.setattr(f"{module}.NEAR", 3)
    draw = random.Random(3)
    first = "".join(draw.choice(string.ascii_lowercase) for _ in range(4_000))
    few = first[:1_000] + "#" + first[1_000:3_000] + "#" + first[3_000:]
    assert Levenshtein().compare(first, few) == 2 / 4_002  # few edits are exact at any length
    assert Levenshtein().compare(first, first[:500] + "#" * 50 + first[500:]) == 50 / 4_050  # short between the ends
    many = "".join("#" if place % 200 == 100 else letter for place, letter in enumerate(first))
    with pytest.warns(DriftlabWarning, match="compared in pieces"):
        found = Levenshtein().compare(first, many)
    assert 20 / 4_000 <= found < 0.2
    with pytest.warns(DriftlabWarning, match="compared in pieces"):
        assert Levenshtein().compare(first, "".join(draw.choice("0123456789") for _ in first)) == 1.0


def test_difflib_ignores_word_order_where_matching_would_take_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftlab.metrics.difflib.CELLS", 10_000)
    first = [f"word{n}" for n in range(1_000)]
    one = " ".join(first)
    assert Difflib().compare(one, " ".join(["new", *first])) == pytest.approx(1 / 2_001)
    assert Difflib().compare(one, " ".join([*first[:500], "new", *first[501:]])) == pytest.approx(1 / 1_000)
    with pytest.warns(DriftlabWarning, match="without regard to word order"):
        assert Difflib().compare(one, " ".join(first[::-1])) == 0.0
    with pytest.warns(DriftlabWarning, match="without regard to word order"):
        assert Difflib().compare(one, " ".join(f"other{n}" for n in range(1_000))) == 1.0


@pytest.mark.parametrize("cell", ["a", "ab", "abc", "ab " * 9, string.ascii_letters, "日本語の文章"])
@pytest.mark.parametrize("size", [8, 40])
def test_pieces_follow_the_content(cell: str, size: int) -> None:
    draw = random.Random(len(cell))
    text = "".join(draw.choice(cell) for _ in range(6_000))
    found = words.pieces(text, size)
    assert "".join(found) == text
    assert all(len(piece) >= size for piece in found[:-1])
    moved = words.pieces("xyz" + text, size)
    assert len(set(moved) - set(found)) <= 8
    assert words.pieces("", size) == []
    assert words.pieces("ab", size) == ["ab"]


def test_a_text_of_one_long_word_is_not_one_unit() -> None:
    draw = random.Random(8)
    text = "".join(draw.choice("0123456789abcdef") for _ in range(20_000))
    middle = text[:9_000] + "x" + text[9_001:]
    assert Difflib().compare(text, middle) < 0.01
    assert Difflib().compare(text, "x" + text + "y") < 0.01
    assert Difflib().compare(text, "".join(draw.choice("0123456789abcdef") for _ in range(20_000))) > 0.9


def test_wrong_types_say_what_to_do() -> None:
    subject = metric("levenshtein")
    assert isinstance(subject, Pairwise)
    with pytest.raises(TypeError, match=r"levenshtein compares text, got list \['a'\]; turn it into text first"):
        subject.compare(["a"], "a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="arguments compares mappings or text, got int 7"):
        metric("arguments").compare(7, {})  # type: ignore[attr-defined]


def test_specs_say_what_is_wrong() -> None:
    with pytest.raises(InputError, match="unknown metric 'levenstein'; did you mean 'levenshtein'"):
        metric("levenstein")
    with pytest.raises(InputError, match="last must be a whole number >= 1"):
        metric("repeat(last=0)")
    with pytest.raises(InputError, match="characters must be a whole number >= 0"):
        metric("difflib(characters=-1)")
    with pytest.raises(InputError, match="unknown view of arguments 'output'"):
        metric("arguments(view='output')")


def test_deltas_of_many_pairs_are_the_deltas_of_each() -> None:
    pairs = [("kitten", "sitting"), ("a b c", "a b d"), ("x" * 50, "y")]
    for spec in SPECS:
        subject = metric(spec)
        assert isinstance(subject, Pairwise)
        assert subject.deltas(pairs).tolist() == [subject.delta(*pair) for pair in pairs]
        assert subject.deltas([]).shape == (0,)


def test_compiled_difflib_is_the_standard_one(monkeypatch: pytest.MonkeyPatch) -> None:
    import difflib

    draw = random.Random(11)
    pairs = [tuple("".join(draw.choice("abc d") for _ in range(draw.randrange(300))) for _ in "ab") for _ in range(50)]
    compiled: list[Callable[..., Any] | float] = [Difflib(mask="raw").compare(*pair) for pair in pairs]
    monkeypatch.setattr("driftlab.metrics.difflib._Matcher", difflib.SequenceMatcher)
    assert [Difflib(mask="raw").compare(*pair) for pair in pairs] == compiled
