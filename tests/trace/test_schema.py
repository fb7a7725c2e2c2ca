"""The schema: what is read, what is refused, what the refusal says."""

import json

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftlab._util.errors import InputError
from driftlab.trace.schema import SignalSpec, Span, Step, Trace, decode, encode

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
STEP = st.builds(
    Step,
    state=st.none() | TEXT,
    thought=st.none() | TEXT,
    tool=st.none() | TEXT,
    args=JSON,
    output=st.none() | TEXT,
    signals=st.none() | st.dictionaries(TEXT, st.none() | NUMBER, max_size=2),
    event=st.sampled_from([None, "user", "compaction"]),
    tokens=st.none() | st.integers(0, 10**9),
    seconds=st.none() | st.floats(0, 1e9),
    error=st.none() | st.booleans(),
)


@given(st.lists(STEP, max_size=4), st.sampled_from([None, "good", "unsure"]), st.none() | TEXT)
def test_a_trace_survives_a_line_of_json(steps, label, problem):
    trace = Trace(id="run", steps=steps, label=label, problem=problem, signal_specs={"a": SignalSpec("lower", 0.5)})
    assert decode(encode(trace)) == trace


@given(st.dictionaries(TEXT.filter(lambda name: name not in Step.__struct_fields__), JSON, max_size=3))
def test_unknown_keys_of_a_step_are_kept(strange):
    line = json.dumps({"id": "run", "steps": [{"state": "x", **strange}]})
    kept = decode(line).steps[0].extra or {}
    assert kept == msgspec.json.decode(json.dumps(strange))


def test_unknown_keys_join_those_already_in_extra():
    trace = decode('{"id": "a", "mood": 1, "extra": {"old": 2}, "stalls": [{"start": 0, "note": "n"}], "steps": [{}]}')
    assert trace.extra == {"old": 2, "mood": 1}
    assert trace.stalls[0].extra == {"note": "n"}
    assert decode(encode(trace)) == trace


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id": "a", "steps": [{}, {"signals": {"x": 1, "y": "u"}}]}', ["'a'", "$.steps[1].signals.y", "'u'", "null"]),
        ('{"id": "a", "steps": [{"state": 3}]}', ["'a'", "$.steps[0].state", "value 3", "text"]),
        ('{"id": "a", "label": "bad", "steps": []}', ["$.label", "'bad'", "'good'", "'stalled'"]),
        ('{"id": "a", "signal_specs": {"e": {"direction": "up"}}, "steps": []}', ["$.signal_specs.e", "'higher'"]),
        ('{"steps": []}', ["id"]),
        ('{"id": "a"}', ["steps"]),
        ("[1]", ["expected an object", "[1]"]),
        ('{"id": "a", "steps": [', ["not a line of JSON"]),
        ('{"id": "a", "steps": [{"signals": {"x": NaN}}]}', ["not a line of JSON", "write null"]),
        ("[" * 10**6, ["JSON", "nested too deeply"]),
    ],
)
def test_a_broken_line_names_path_value_and_remedy(line, says):
    with pytest.raises(InputError) as caught:
        decode(line)
    assert [word for word in says if word not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("stalls", "label", "says"),
    [
        ([Span(3)], "stalled", "outside its 3 steps"),
        ([Span(0, 4)], "stalled", "outside its 3 steps"),
        ([Span(0, 2), Span(1, 3)], "stalled", "overlaps"),
        ([Span(0)], "good", "labelled good but has a stall"),
    ],
)
def test_spans_that_cannot_be_are_refused(stalls, label, says):
    with pytest.raises(InputError, match=says):
        Trace(id="a", label=label, stalls=stalls, steps=[Step()] * 3)


@pytest.mark.parametrize(("start", "end"), [(-1, None), (2, 2), (3, 1)])
def test_a_span_is_not_empty(start, end):
    with pytest.raises(InputError, match="0 <= start < end"):
        Span(start, end)


def test_spans_come_in_order_and_the_first_is_the_onset():
    trace = Trace(id="a", label="stalled", stalls=[Span(2), Span(0, 1)], steps=[Step()] * 3)
    assert [span.start for span in trace.stalls] == [0, 2]
    assert trace.onset == 0
    assert trace.info.onset == 0


def test_traces_without_a_problem_are_groups_of_their_own():
    one, two = (Trace(id=name, task="sql", steps=[]) for name in "ab")
    assert one.group != two.group
    assert one.group != Trace(id="c", task="sql", problem="a", steps=[]).group


def test_a_step_comes_from_a_step_a_mapping_or_keywords():
    step = Step(tool="ls", signals={"passed": 3.0}, extra={"mood": "fine"})
    assert Step.of(step) is step
    assert Step.of({"tool": "ls", "passed": 3, "mood": "fine"}) == step
    assert Step.of(tool="ls", passed=3, mood="fine") == step
    assert Step.of().has_call is False


def test_a_step_is_given_once_and_truth_is_no_signal():
    with pytest.raises(InputError, match="not both"):
        Step.of(Step(), state="x")
    assert Step.of(done=True).signals is None
    assert Step.of(done=True).extra == {"done": True}
    with pytest.raises(InputError, match="state"):
        Step.of(state=3)


@pytest.mark.parametrize("line", [
    '{"id": "a", "steps": [], "extra": 5, "mood": "fine"}',
    '{"id": "a", "steps": [{"extra": [1], "mood": "fine"}]}',
    '{"id": "a", "steps": [{}], "stalls": [{"start": 0, "extra": 3, "mood": "fine"}]}',
])  # fmt: skip
def test_an_extra_that_is_no_object_is_explained_beside_an_unknown_key(line):
    with pytest.raises(InputError, match=r"trace 'a': \$.*extra: Expected `object \| null`"):
        decode(line)


@pytest.mark.parametrize("wrong", ["ls", [1], [], 0, False])
def test_a_step_from_anything_else_is_refused(wrong):
    with pytest.raises(InputError, match="expected a Step, an object or keywords"):
        Step.of(wrong)


def test_signals_that_are_no_numbers_are_explained():
    with pytest.raises(InputError, match=r"\$\.signals: Expected `object"):
        Step.of(signals="three", passed=3)
    with pytest.raises(InputError, match="signal 'passed' is too large"):
        Step.of(passed=10**400)


@pytest.mark.parametrize("value", [np.int64(3), np.float32(3), 3])
def test_the_numbers_of_numpy_are_signals(value):
    assert Step.of(passed=value).signals == {"passed": 3.0}
    assert type(Step.of(passed=value).signals["passed"]) is float


def test_a_direction_is_one_of_two():
    with pytest.raises(InputError, match="must be 'higher' or 'lower', got 'up'"):
        SignalSpec("up")


def test_a_trace_that_json_cannot_hold_is_named():
    for wrong in (Step(state="\ud800"), Step(tool="ls", args=object())):
        with pytest.raises(InputError, match="trace 'a' cannot be written as JSON"):
            encode(Trace(id="a", steps=[wrong]))
