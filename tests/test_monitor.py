"""A policy in a live loop."""

import subprocess
import sys

import numpy as np
import pytest
import runs
import variants
from hypothesis import given, settings
from hypothesis import strategies as st

from driftlab.errors import InputError
from driftlab.measure import measure
from driftlab.monitor import Monitor
from driftlab.policies import PRESETS, default_policy
from driftlab.rule import Policy, StopRule
from driftlab.trace import SignalSpec, Step
from driftlab.trend import followed


def watched(policy, trace):
    monitor = Monitor(policy, task=trace.task, trace_id=trace.id, signals=trace.signal_specs)
    return monitor, [monitor.update(step) for step in trace.steps]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), length=st.integers(0, 60), preset=st.sampled_from(sorted(PRESETS)))
def test_online_is_offline(seed, length, preset):
    policy, trace = default_policy(preset), runs.run(seed, length)
    measured = measure(policy.prepared([trace]), policy.needs)
    monitor, verdicts = watched(policy, trace)
    for number, rule in enumerate(policy.rules):
        batch = policy.running(rule).scores(measured)
        assert [verdict.scores[number] for verdict in verdicts] == batch.tolist()
    alarms, which = policy.alarms(measured)
    assert monitor.alarm == (int(alarms[0]) if alarms[0] >= 0 else None)
    if monitor.alarm is not None:
        assert verdicts[monitor.alarm].rule == repr(policy.rules[which[0]].detector)


@pytest.mark.parametrize("kind", variants.STALLED, ids=lambda kind: kind.__name__)
def test_an_alarm_has_evidence(kind):
    trace = variants.stalled_run(kind, 3)
    monitor, verdicts = watched(default_policy(), trace)
    alarm = verdicts[monitor.alarm]
    assert alarm.stop
    assert alarm.t == monitor.alarm
    assert 0 <= alarm.since == alarm.steps[0] <= alarm.steps[-1] <= alarm.t
    assert alarm.rule in alarm.evidence
    assert f"steps {alarm.since}..{alarm.t}" in alarm.evidence
    assert alarm.trend in ("plateaued", "oscillating")
    assert (alarm.trend == "oscillating") == (alarm.lag is not None)


@pytest.mark.parametrize("length", range(2, 9))
def test_a_cycle_is_called_one_whichever_rule_stops_it(length):
    steps = [Step(tool="read", args={"n": n % length}, output=f"page {n % length}") for n in range(40)]
    policy = Policy((StopRule("plateau(novelty(view='output'), run(14))", 1.0), StopRule("cycle", 1.0)))
    monitor = Monitor(policy)
    alarm = next(verdict for verdict in map(monitor.update, steps) if verdict.stop)
    assert (alarm.trend, alarm.lag) == ("oscillating", length)


def test_an_alarm_stays_until_reset():
    monitor = Monitor(StopRule("state_unchanged(1)", 1.0, action="nudge"))
    actions = [monitor.update(state=state).action for state in "aabc"]
    assert actions == ["continue", "nudge", "nudge", "nudge"]
    assert monitor.alarm == 1
    monitor.reset()
    assert monitor.alarm is None
    assert monitor.update(state="a").t == 0


def test_without_a_signal_the_best_step_is_the_last_before_the_evidence():
    monitor = Monitor(StopRule("state_unchanged(2)", 1.0))
    assert monitor.best is None
    for state in "abccc":
        monitor.update(state=state)
    assert monitor.alarm == 4
    assert monitor.best.state == "c"
    assert monitor.update(state="d").since == 3
    assert monitor.best.state == "c"


def test_with_a_signal_the_best_step_is_the_best():
    policy = Policy((StopRule("flat(9)", 1.0),), signals={"errors": SignalSpec("lower")})
    monitor = Monitor(policy)
    for state, errors in (("a", 5), ("b", 2), ("c", 2), ("d", 4)):
        monitor.update(state=state, errors=errors)
    assert monitor.best.state == "b"


def test_trends_follow_the_signal():
    values = [1, 2, 3, 3, 3, 3, 3, 3, 2, 2, 2, 3, 4]
    trends = [Monitor(StopRule("steps", float("inf")))] and followed(
        Monitor(StopRule("steps", 1.0))._info, [Step(signals={"p": v}) for v in values]
    )
    assert trends[0] == "unknown"
    assert trends[1:7] == ["improving"] * 6
    assert trends[7] == "plateaued"
    assert trends[10] == "regressing"
    assert trends[11] == "plateaued"
    assert trends[12] == "improving"


def test_a_regressing_loop_goes_on_but_is_flagged():
    monitor = Monitor(StopRule("flat(20)", 1.0))
    verdicts = [monitor.update(p=value) for value in (3, 4, 3, 3, 3, 5)]
    assert [verdict.action for verdict in verdicts] == ["continue"] * 4 + ["flag", "continue"]
    flagged = verdicts[4]
    assert (flagged.trend, flagged.steps, flagged.rule) == ("regressing", (2, 3, 4), "")
    assert "below its best, of step 1" in flagged.evidence
    assert monitor.alarm is None
    assert verdicts[5].trend == "improving"


def test_a_step_that_does_not_fit_changes_nothing():
    monitor = Monitor(StopRule("state_unchanged(2)", 1.0))
    monitor.update(state="a")
    with pytest.raises(InputError, match="state"):
        monitor.update({"state": 3})
    assert monitor.update(state="a").t == 1


def test_a_policy_without_a_rule_for_the_task_says_so():
    policy = Policy((StopRule("steps", 0.5, task="sql"),))
    with pytest.raises(InputError, match="no rule for task 'code'; it has rules for: sql"):
        Monitor(policy, task="code")


def test_what_is_kept_is_bounded():
    monitor = Monitor(default_policy())
    for n in range(300):
        monitor.update(tool="read", args={"n": n}, output=f"page {n}", p=n)
    assert len(monitor._rows) == len(monitor._steps) == monitor._kept < 100
    sizes = [values.nbytes for _, state in monitor._running for values in state.values()]
    assert sum(sizes) < 4_000


def test_the_monitor_loads_nothing_heavy():
    heavy = ["pandas", "sklearn", "scipy", "matplotlib", "torch", "pyarrow", "statsmodels", "joblib"]
    code = f"import sys, driftlab.monitor, driftlab.policies; print([n for n in {heavy} if n in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_scores_are_plain_numbers():
    verdict = Monitor(default_policy()).update(state="a")
    assert all(type(score) is float for score in verdict.scores)
    assert not isinstance(verdict.score, np.generic)


def test_what_is_no_policy_is_refused():
    with pytest.raises(InputError, match=r"a file: Monitor\.load"):
        Monitor("rule.toml")
    with pytest.raises(InputError, match="signal 'left' must be declared as SignalSpec"):
        Monitor(default_policy(), signals={"left": "lower"})
