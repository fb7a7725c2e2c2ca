"""The shadow run says what the live monitor would have done."""

import pytest

from driftlab.fleet.replay import replay
from driftlab.monitor.monitor import Monitor
from driftlab.rules.policy import Policy, StopRule
from driftlab.trace.schema import SignalSpec, Span, Step, Trace


def run(name, states, **fields):
    return Trace(id=name, steps=[Step(state=state) for state in states], **fields)


TRACES = [
    run("hit", "abcccccc", task="code", label="stalled", stalls=[Span(2)], source="here"),
    run("premature", "aaaabcdd", task="code", label="stalled", stalls=[Span(6)], source="here"),
    run("pass", "abcdefgh", task="code", label="good", source="here"),
    run("false stop", "abbbbcde", task="code", label="good", source="elsewhere"),
    run("unlabelled", "aaaa", task="code", source="here"),
    run("other task", "aaaa", task="sql", label="good", source="here"),
]
RULE = StopRule("plateau(exact, run(2))", 1.0, "code", evidence={"sources": "here"})


def test_each_run_is_named_by_what_its_alarm_is_worth():
    found = {r.id: r for r in replay(RULE, TRACES).runs}
    assert {name: r.outcome for name, r in found.items()} == {
        "hit": "hit",
        "premature": "premature",
        "pass": "pass",
        "false stop": "false stop",
        "unlabelled": "none",
    }
    assert (found["hit"].alarm, found["hit"].after, found["hit"].action) == (4, 3, "stop")
    assert found["pass"].alarm is None
    assert found["pass"].why == ""
    assert "exact" in found["hit"].why


def test_alarms_are_those_of_the_live_monitor():
    for replayed in replay(RULE, TRACES).runs:
        trace = next(trace for trace in TRACES if trace.id == replayed.id)
        monitor = Monitor(RULE, task=trace.task)
        for step in trace.steps:
            monitor.update(step)
        assert monitor.alarm == replayed.alarm


def test_counts_by_task_and_what_the_policy_was_not_made_for():
    found = replay(RULE, TRACES)
    assert list(found.tallies) == ["code"]
    assert (found.tallies["code"].hit, found.tallies["code"].false_stop) == (1, 1)
    assert any("1 traces of task 'sql' were not judged" in note for note in found.notes)
    assert any("'elsewhere', on which the policy was NOT calibrated" in note for note in found.notes)
    assert "code: 1 of 2 stalls hit" in str(found)


def test_a_policy_turns_signals_the_way_it_declares():
    steps = [Step.of(errors=n) for n in (5, 4, 3, 2, 1)]
    policy = Policy((StopRule("plateau(signal('errors'), run(2))", 1.0),))
    assert replay(policy, [Trace(id="a", steps=steps)]).runs[0].alarm == 2
    down = Policy(policy.rules, signals={"errors": SignalSpec("lower")})
    assert replay(down, [Trace(id="a", steps=steps)]).runs[0].alarm is None


def test_the_table_has_one_row_a_run():
    table = replay(RULE, TRACES).table()
    assert list(table["id"]) == ["hit", "premature", "pass", "false stop", "unlabelled"]


@pytest.mark.parametrize("traces", [[], [TRACES[-1]]])
def test_nothing_to_judge_is_no_error(traces):
    found = replay(RULE, traces)
    assert found.runs == ()
    assert found.tallies == {}


def test_a_run_without_a_task_is_explained_by_the_rule_that_stopped_it():
    sql = StopRule("plateau(exact, run(1))", 1.0, "sql", action="flag")
    policy = Policy((sql, StopRule("plateau(exact, run(3))", 1.0)))
    (found,) = replay(policy, [run("no task", "aaaaaa", label="good")]).runs
    assert (found.alarm, found.action) == (3, "stop")
    assert "run(3)" in found.why


def test_without_a_stalled_run_nothing_is_said_to_be_saved():
    assert "0 of 0 stalls hit, nothing to save" in str(replay(RULE, [run("fine", "abcd", task="code", label="good")]))
