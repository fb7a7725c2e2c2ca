"""What each detector sees, what it must not see."""

import numpy as np
import pytest
from runs import trace_of

from driftlab._util.errors import InputError
from driftlab.detectors import (
    DETECTORS,
    USUAL,
    ErrorStreak,
    Flat,
    Idle,
    NetChange,
    Oscillation,
    Recurring,
    RunLength,
    StateUnchanged,
    detector,
    evidence_at,
    learn_transitions,
    score_trace,
)
from driftlab.metrics.columns.failures import Failure, is_outage
from driftlab.metrics.measurements import measure, streamed
from driftlab.trace.schema import Step


def scores_of(spec, steps, **keys):
    found = detector(spec)
    return found.scores(measure([trace_of(steps, **keys)], found.needs)).tolist()


def calls(letters):
    return [Step(tool=letter, output="") if letter != " " else Step() for letter in letters]


def states(texts):
    return [Step(state=text) for text in texts]


# --- deltas -------------------------------------------------------------------------------------------------


def test_a_plateau_needs_all_of_its_patience():
    assert scores_of("plateau(exact, run(3))", states("abbb")) == [0, 0, 0, 0]
    assert scores_of("plateau(exact, run(3))", states("abbbb")) == [0, 0, 0, 0, 1]


def test_steps_without_the_view_neither_count_nor_reset():
    steps = [*states("abb"), Step(), Step(), *states("bb")]
    assert scores_of("plateau(exact, run(3))", steps)[-2:] == [0, 1]
    assert scores_of("plateau(exact, run(4))", steps)[-1] == 0


def test_slow_steady_work_is_a_plateau_but_no_net_stall():
    growing = states("x" * 40 + "y" * n for n in range(1, 30))
    plateau, net = scores_of("plateau(levenshtein, run(5))", growing), scores_of("net_change(levenshtein, 20)", growing)
    assert plateau[-1] > 0.95
    assert net[-1] < 0.75


def test_a_revisit_sees_what_a_plateau_does_not():
    assert max(scores_of("plateau(exact, run(3))", states("abcabcabc"))) == 0
    assert scores_of("revisit(exact, run(3), last=3)", states("abcabcabc"))[-1] == 1


@pytest.mark.parametrize("lag", range(2, 9))
@pytest.mark.parametrize("spec", ["oscillation(exact(view='call'))", "cycle"])
def test_the_length_of_a_cycle_is_reported(lag, spec):
    found = detector(spec)
    letters = "abcdefgh"[:lag] * 12
    measured = measure([trace_of(calls(letters))], found.needs)
    scores = found.scores(measured)
    alarm = int(np.argmax(scores >= 1.0))
    assert scores[alarm] == 1.0
    assert found.fewest(1.0) <= alarm + 1
    evidence = evidence_at(found, measured, 0, alarm)
    assert evidence.lag == lag
    assert f"cycle of {lag} steps" in evidence.words
    assert evidence.steps[-1] == alarm


def test_by_default_an_oscillation_has_the_patience_of_two_of_its_longest_cycles():
    assert Oscillation().patience >= 2 * Oscillation().longest


@pytest.mark.parametrize(
    "spec", ["oscillation(exact(view='call'), run(4))", "oscillation(exact(view='call'), ewma(0.6))", "cycle"]
)
def test_a_constant_run_is_no_oscillation(spec):
    assert max(scores_of(spec, calls("ab" + "c" * 40))) < 0.4
    assert scores_of(spec, calls("ab" + "c" * 40))[-1] == 0


def test_a_cycle_may_hold_equal_neighbours():
    assert scores_of("cycle", calls("aab" * 6))[-1] == 1
    assert scores_of("oscillation(exact(view='call'), run(6))", calls("aab" * 6))[-1] == 1


def test_an_oscillation_may_be_fuzzy_but_drift_is_none():
    words = ["the", "parser", "reads", "a", "token", "then", "moves", "on", "to", "next", "until", "it", "ends"]
    noisy = [" ".join(words if n % 2 else reversed(words)) + f" ({n})" for n in range(30)]
    drift = ["x" * 60 + "y" * n for n in range(30)]
    assert scores_of("oscillation(levenshtein, run(16))", states(noisy))[-1] > 0.8
    assert max(scores_of("oscillation(levenshtein, run(16))", states(drift))) == 0


def test_run_length_has_one_score_a_length():
    assert scores_of(RunLength("exact"), states("aaaa")) == [0, 1 / 2, 2 / 3, 3 / 4]


def test_only_pairwise_metrics_have_lags():
    with pytest.raises(InputError, match="net_change compares a step with an earlier one; signal"):
        NetChange("signal('passed')")


# --- symbols ------------------------------------------------------------------------------------------------


def test_a_fresh_step_between_does_not_hide_a_recurring_one():
    steps = calls("axbxcxdxexfx")
    assert scores_of("recurring(5, 12)", steps)[9] == 1
    assert max(scores_of("run_length", steps)) == 0


def test_recurring_names_the_equal_steps():
    found = Recurring(3, 6)
    measured = measure([trace_of(calls("axbxcx"))], found.needs)
    assert evidence_at(found, measured, 0, 5).steps == (1, 3, 5)


def test_one_setting_of_action_novelty_is_the_floor_of_three_in_eight():
    assert scores_of("action_novelty", calls("abababab"))[-1] == pytest.approx(6 / 7)
    assert scores_of("action_novelty", calls("abcbabab"))[-1] < 6 / 7


def test_state_unchanged_fires_at_its_patience():
    assert scores_of(StateUnchanged(5), states("a" * 6)) == [0, 0.2, 0.4, 0.6, 0.8, 1]


def test_a_ring_of_agents_is_a_cycle_over_nodes():
    ring = [Step(node=node, state=f"update {n}") for n, node in enumerate("abc" * 5)]
    assert scores_of("cycle('node')", ring)[-1] == 1
    assert scores_of("node_visits(4)", ring)[-1] == 1
    assert scores_of("node_visits(4)", ring[:11])[-1] < 1


# --- calls --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("12 passed, 0 failed", 0),
        ("exit code 0", 0),
        ("error rate 0.1 %", 0),
        ('{"error": null, "rows": 3}', 0),
        ("no errors found", 0),
        ("Process exited with code 2", 2),
        ("Traceback (most recent call last):\n  File x\nValueError: no", 2),
        ("bash: foo: command not found", 2),
        ("cat: a.txt: No such file or directory", 2),
        ("2031-04-09T08:00:02Z ERROR sync[41] bucket denies", 2),
        ("src/a.ts(3,1): error TS2307: cannot find", 0),
        ("error TS2307: cannot find", 2),
        ('{"error":"rate_limited","status":429}', 1),
        ("Error: connect ECONNREFUSED 127.0.0.1:80", 1),
        ("", 0),
    ],
)
def test_what_counts_as_an_error(output, kind):
    assert streamed(Failure(), trace_of([Step(tool="x", output=output)])).tolist() == [kind]


def test_the_flag_decides_where_it_is_set():
    steps = [Step(tool="x", output="fine", error=True), Step(tool="x", output="error: a", error=False), Step()]
    assert streamed(Failure(), trace_of(steps)).tolist() == [2, 0, -1]


def test_errors_are_equal_whatever_the_call_brought_in():
    steps = [Step(tool="rm", args={"path": f"/srv/{n}.txt"}, output=f"error: /srv/{n}.txt is read-only") for n in "abc"]
    assert streamed(Failure(), trace_of(steps)).tolist() == [2, 2, 2]


def test_an_outage_neither_counts_nor_resets_and_may_be_counted_apart():
    outputs = ["error: full", "HTTP 503", "error: 503 unavailable", "error: full", "error: full"]
    steps = [Step(tool="x", output=output) for output in outputs]
    assert is_outage(steps[2])
    assert scores_of(ErrorStreak(3, over=1), steps)[-1] == 1
    assert scores_of(ErrorStreak(2, kind="outage"), steps)[2] == 0.5


def test_another_error_starts_a_new_streak():
    steps = [Step(tool="x", output=f"error: {what}") for what in "aabbb"]
    assert scores_of(ErrorStreak(3), steps) == pytest.approx([1 / 3, 2 / 3, 1 / 3, 2 / 3, 1])


def test_idle_needs_an_agent_that_used_tools_and_a_silent_user():
    talk = states("abcd")
    assert max(scores_of(Idle(3), talk)) == 0
    assert scores_of(Idle(3), [Step(tool="ls"), *talk])[-1] == 1
    assert scores_of(Idle(3), [Step(tool="ls"), *talk[:2], Step(event="user"), *talk[:2]])[-1] < 1


# --- signals, structure -------------------------------------------------------------------------------------


def signals(values):
    return [Step(signals={"passed": value}) for value in values]


def test_flat_counts_from_the_best_not_from_the_step_before():
    assert scores_of(Flat(3), signals([5, 3, 4, 4.5])) == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert scores_of(Flat(3), signals([5, 3, 6, None, 4])) == pytest.approx([0, 1 / 3, 0, 0, 1 / 3])


def test_a_signal_at_its_goal_is_flat_too():
    assert scores_of(Flat(3), signals([1, 1, 1, 1]))[-1] == 1


def test_a_map_is_learned_from_good_traces_with_support():
    runs = [["plan", "code", "test"], ["plan", "code"], ["plan", "ask"]]
    good = [trace_of([Step(node=n) for n in names], label="good").replace(id=str(i)) for i, names in enumerate(runs)]
    assert learn_transitions(good, support=2) == (("plan", "code"),)
    with pytest.raises(InputError, match="no move between nodes occurs in 3 of 3 good traces"):
        learn_transitions(good, support=3)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("illegal_transition(('ab',))", "pairs \\(from, to\\)"),
        ("dead_end((('a', 'b', 'c'),))", "pairs \\(from, to\\)"),
        ("error_streak(2, kind='tasks')", "did you mean 'task'"),
        ("recurring(6, 5)", "window must be a whole number >= 6"),
        ("recurring(1)", "times must be a whole number >= 2"),
        ("flat(0)", "patience must be a whole number >= 1"),
        ("run_length(limit=1.0)", "limit must be in"),
        ("phrases(new=0)", "new must be in"),
        ("same_call(changed=1)", "changed must be in"),
        ("redo(new=-1)", "new must be in"),
        ("regression(fall=-1)", "fall must be >= 0"),
        ("cycle('words')", "unknown view 'words'"),
        ("oscillation(longest=1)", "longest must be a whole number >= 2"),
        ("idl(3)", "did you mean 'idle'"),
    ],
)
def test_errors_name_the_thing_and_the_remedy(spec, message):
    with pytest.raises(InputError, match=message):
        detector(spec)


def test_there_is_a_usual_setting_of_every_detector_and_it_can_be_drawn():
    settings = {detector(spec): threshold for spec, threshold in USUAL.items()}
    assert {each.name for each in settings} == set(DETECTORS)
    assert all(each.fewest(threshold) < 100 for each, threshold in settings.items())
    run = trace_of([Step(tool=t, output="same", state="x", signals={"p": 1}) for t in "abc" * 10])
    lines = score_trace(run, settings)
    assert [line.detector for line in lines] == list(settings)
    fired = {line.detector.name for line in lines if line.alarm is not None}
    assert {"revisit", "oscillation", "stuck", "redo", "cycle", "flat"} <= fired
    assert all(line.evidence.steps[-1] <= line.alarm for line in lines if line.alarm is not None)
    assert all(line.scores.shape == (30,) for line in lines)
