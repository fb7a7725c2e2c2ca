"""A calibration is saved with all that a live loop needs to know."""

from dataclasses import replace

import pytest

from driftlab._util.errors import InputError
from driftlab.monitor.monitor import Monitor
from driftlab.rules.policy import Policy, StopRule
from driftlab.trace.schema import SignalSpec, Span, Step, Trace
from driftlab.tuning.calibrate import calibrate
from driftlab.tuning.calibration import policy_of

ERRORS = {"e": SignalSpec("lower")}
FALLING = range(20, 4, -1)


def run(name, label, values, **fields):
    steps = [Step.of(signals={"e": float(x)}) for x in values]
    return Trace(id=name, problem=name, label=label, signal_specs=ERRORS, steps=steps, **fields)


@pytest.fixture(scope="module")
def found():
    good = [run(f"g{n}", "good", FALLING) for n in range(60)]
    stalled = [run(f"s{n}", "stalled", [20, 19, *[18] * 14], stalls=[Span(3)]) for n in range(60)]
    return calibrate([*good, *stalled], metrics=["signal('e')"], repeats=0, nudge=0.2)


def fed(monitor, values):
    """Feed a run as a live loop does, which declares no direction."""
    for value in values:
        monitor.update(signals={"e": float(value)})
    return monitor


@pytest.mark.parametrize("name", ["rule", "nudge"])
def test_a_rule_saved_alone_stops_no_run_whose_errors_fall(found, name, tmp_path):
    rule = getattr(found, name)
    rule.save(tmp_path / "code.toml")
    assert StopRule.load(tmp_path / "code.toml") == rule
    monitor = fed(Monitor.load(tmp_path / "code.toml"), FALLING)
    assert monitor.alarm is None
    assert monitor.best.signals == {"e": 5.0}
    assert fed(Monitor(rule), FALLING).alarm is None
    assert fed(Monitor(rule), [20, 19, *[18] * 14]).alarm is not None


def test_every_way_to_save_a_calibration_keeps_the_directions(found, tmp_path):
    for policy in (found.policy, policy_of([found]), Policy.of(found.rule)):
        policy.save(tmp_path / "policy.toml")
        loaded = Policy.load(tmp_path / "policy.toml")
        assert loaded == policy
        assert loaded.signals == ERRORS
        assert fed(Monitor(loaded), FALLING).alarm is None


def test_the_rules_of_several_tasks_keep_their_nudges(found):
    assert [rule.action for rule in policy_of([found, found]).rules] == ["stop", "nudge"] * 2


def test_tasks_that_declare_one_signal_in_both_directions_get_no_common_policy(found):
    other = replace(found, rule=replace(found.rule, task="b", signals={"e": SignalSpec("higher")}), nudge=None)
    with pytest.raises(InputError, match="signal 'e' both as higher and lower; make one policy a task"):
        policy_of([found, other])


@pytest.mark.parametrize("make", [lambda **o: StopRule("steps", 1.0, **o), lambda **o: Policy((), **o)])
def test_signals_must_be_a_mapping(make):
    with pytest.raises(InputError, match="signals must map names to SignalSpec"):
        make(signals=None)
