"""Roles of tools, what starts the counting again."""

import pytest
from runs import trace_of

from driftlab._util.errors import InputError
from driftlab.detectors import Context, Within, detector
from driftlab.metrics.measurements import measure
from driftlab.trace.schema import SignalSpec, Step


def last(spec, context, steps, **keys):
    found = Within(detector(spec), context)
    return found.scores(measure([trace_of(steps, **keys)], found.needs)).tolist()[-1]


STALE = "plateau(novelty(view='output'), run(3))"


def same(tool="x", count=4, **keys):
    return [Step(tool=tool, output="same", **keys)] * count


def test_a_new_best_starts_again_and_a_first_measurement_does_not():
    better = [*same(), Step(tool="x", output="same", signals={"p": 1}), *same(signals={"p": 1}, count=2)]
    assert last(STALE, Context(), better) == 1.0
    best = [*same(signals={"p": 1}), *same(signals={"p": 2}, count=3)]
    assert last(STALE, Context(), best) == 0.0
    assert last(STALE, Context(signals=("q",)), best) == 1.0
    assert last(STALE, Context(resets=("user",)), best) == 1.0


def test_a_signal_that_falls_is_progress_where_lower_is_better():
    falling = [*same(signals={"left": 5}), *same(signals={"left": 4}, count=2)]
    assert last(STALE, Context(), falling) == 1.0
    assert last(STALE, Context(), falling, signal_specs={"left": SignalSpec("lower")}) == 0.0


def test_a_turn_of_the_user_starts_again_and_makes_old_results_new():
    steps = [*same(), Step(event="user", state="again"), *same(count=3)]
    assert last(STALE, Context(), steps) == 0.0
    assert last(STALE, Context(), [*steps, *same(count=1)]) == 1.0


def compaction(summary):
    return Step(event="compaction", tool="compact", args={}, output="40k -> 3k", state=summary)


def test_a_compaction_starts_again_unless_its_summary_was_seen():
    first = [*same(), compaction("we read a, b and c"), *same(count=3)]
    assert last(STALE, Context(), first) == 0.0
    looped = [*first, compaction("we read a, b and c"), *same(count=2)]
    assert last(STALE, Context(), looped) == 1.0
    counted = [*first, compaction("we read a, b and c (12)"), *same(count=2)]
    assert last(STALE, Context(), counted) == 1.0
    fresh = [*first, compaction("the tests pass now, only docs are left"), *same(count=2)]
    assert last(STALE, Context(), fresh) == 0.0


def test_a_reader_may_get_the_same_answer_to_new_questions():
    asked = [Step(tool="find", args={"key": n}, output="[]") for n in range(6)]
    again = [Step(tool="find", args={"key": 1}, output="[]")] * 4
    context = Context(tools=(("find", "reader", 1),))
    assert last(STALE, Context(), asked) == 1.0
    assert last(STALE, context, asked) == 0.0
    assert last(STALE, context, [*asked, *again]) == 1.0


def test_a_writer_says_nothing_until_it_writes_the_same_again():
    written = [Step(tool="edit", args={"text": n}, output="ok") for n in range(6)]
    test = [Step(tool="test", output="1 failed")]
    context = Context(tools=(("edit", "writer", 1),))
    assert last(STALE, Context(), written) == 1.0
    assert last(STALE, context, written) == 0.0
    mixed = [step for n in range(5) for step in (written[n], *test)]
    assert last(STALE, context, mixed) == 1.0
    assert last(STALE, context, [written[0]] * 5) == 1.0


def test_constant_output_says_nothing_and_an_exempt_tool_is_not_seen():
    written = [Step(tool="log", args={"text": 1}, output="ok")] * 6
    assert last(STALE, Context(tools=(("log", "constant", 1),)), written) == 0.0
    assert last("recurring(3, 6)", Context(tools=(("log", "constant", 1),)), written) == 1.0
    assert last("recurring(3, 6)", Context(tools=(("l*", "exempt", 1),)), written) == 0.0


def test_a_poller_has_its_own_patience_and_any_new_output_is_new():
    waits = [Step(tool="wait_for", output="nothing yet")] * 9
    context = Context(tools=(("wait_*", "poller", 3),))
    assert last(STALE, Context(), waits[:4]) == 1.0
    assert last(STALE, context, waits[:9]) == 0.0
    assert last(STALE, context, waits + waits[:1]) == 1.0
    noisy = [Step(tool="wait_for", output="\n".join(["a"] * 30 + [f"{n} left"])) for n in range(8)]
    assert last("same_call(3)", Context(), noisy) == 1.0
    assert last("same_call(3)", context, noisy) == 0.0


def test_outages_count_less():
    failing = [Step(tool="post", output="error: 503 unavailable")] * 6
    assert last(STALE, Context(), failing) == 1.0
    assert last(STALE, Context(outages=3), failing) == 0.0
    assert last(STALE, Context(outages=3), failing * 2 + failing[:1]) == 1.0


def test_ignored_arguments_do_not_make_a_call_different():
    posts = [Step(tool="post", args={"text": "hi", "id": n}, output="ok") for n in range(4)]
    assert last("recurring(4, 6)", Context(), posts) == 0.0
    assert last("recurring(4, 6)", Context(ignore=(("po*", "id"),)), posts) == 1.0
    assert last("recurring(4, 6)", Context(ignore=(("get", "id"),)), posts) == 0.0


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"tools": (("a", "painter", 1),)}, "unknown role 'painter'"),
        ({"tools": (("a", "reader", 0),)}, "patience of 'a' must be a whole number >= 1"),
        ({"tools": (("a", "reader"),)}, "tools must hold"),
        ({"resets": ("users",)}, "did you mean 'user'"),
        ({"outages": 0}, "outages must be a whole number >= 1"),
    ],
)
def test_a_context_says_what_it_does_not_allow(keys, message):
    with pytest.raises(InputError, match=message):
        Context(**keys)
