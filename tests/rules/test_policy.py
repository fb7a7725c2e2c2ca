"""Stop rules, policies, their file."""

import math
import pickle

import pytest
import runs
import variants
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import SPECS

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab.metrics.measurements import measure
from driftlab.monitor.monitor import Monitor
from driftlab.rules.policy import Policy, StopRule
from driftlab.rules.presets.default import default_policy
from driftlab.rules.roles import Role
from driftlab.trace.schema import SignalSpec, Step, Trace
from driftlab.trace.views import MASKS, Mask

FULL = Policy(
    (
        StopRule("plateau(levenshtein(view='output'), run(3))", 0.1 + 0.2, task="code", evidence={"recall": 0.25}),
        StopRule("within(recurring(3, 6), context(tools=(('a*', 'poller', 2),)))", 1.0, action="nudge"),
        StopRule("dead_end((('a', 'b'),), ends=('b',))", math.inf, task="ring", action="flag"),
    ),
    signals={"left": SignalSpec("lower", 0)},
    roles={"wait_*": Role("poller", 3), "grep": Role("reader", ignore=("colour",)), "slow.tool": Role(patience=2)},
    resets=("progress", "user"),
    outages=3,
    provenance={"problems": 12, "chosen_by": "hand", "written at": "2033"},
)


def saved(policy, tmp_path):
    policy.save(tmp_path / "deep" / "policy.toml")
    return Policy.load(tmp_path / "deep" / "policy.toml")


def test_a_policy_survives_its_file(tmp_path):
    assert saved(FULL, tmp_path) == FULL
    assert saved(default_policy("safe"), tmp_path) == default_policy("safe")
    assert pickle.loads(pickle.dumps(FULL)) == FULL


@settings(max_examples=25, deadline=None)
@given(spec=st.sampled_from(SPECS), threshold=st.floats(0, 1, exclude_min=True), seed=st.integers(0, 999))
def test_a_loaded_rule_raises_the_same_alarms(tmp_path_factory, spec, threshold, seed):
    path = tmp_path_factory.mktemp("rule") / "rule.toml"
    rule = StopRule(spec, threshold, evidence={"seed": seed})
    rule.save(path)
    loaded = StopRule.load(path)
    assert loaded == rule
    assert loaded.threshold == rule.threshold
    measured = measure([runs.run(seed, 40)], rule.detector.needs)
    assert loaded.alarms(measured).tolist() == rule.alarms(measured).tolist()


def test_a_loaded_policy_raises_the_same_alarms(tmp_path):
    traces = [variants.stalled_run(kind, 1) for kind in variants.STALLED] + [runs.run(n, 40) for n in range(9)]
    for policy in (FULL, default_policy()):
        loaded = saved(policy, tmp_path)
        found = [each.alarms(measure(each.prepared(traces), each.needs)) for each in (policy, loaded)]
        assert [values.tolist() for values in found[0]] == [values.tolist() for values in found[1]]


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5, math.nan])
def test_a_threshold_is_in_range(threshold):
    with pytest.raises(InputError, match="threshold must be in"):
        StopRule("steps", threshold)


def test_inf_watches_only():
    rule = StopRule("steps", math.inf)
    assert rule.watch_only
    assert rule.alarms(measure([runs.run(1, 30)], rule.detector.needs)).tolist() == [-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "driftlab-policy/1"),
        ("format = 'driftlab-policy/2'\nrules = []", "driftlab-policy/2"),
        ("format = 'driftlab-policy/1'\nrules = []\nmood = 1", "mood"),
        ("format = 'driftlab-policy/1'\n[[rules]]\ndetector = 'plato'\nthreshold = 1.0", "unknown detector 'plato'"),
        ("format = 'driftlab-policy/1'\n[[rules]]\ndetector = 'steps'\nthreshold = 2.0", "threshold must be in"),
        ("format = 'driftlab-policy/1'\n[[rules]]\ndetector = 'flat(patience=0)'\nthreshold = 1.0", "patience must be"),
        ("format = 'driftlab-policy/1'\nresets = ['users']\nrules = []", "did you mean 'user'"),
        ("format = 'driftlab-policy/1'\nrules = []\n[roles.a]\nrole = 'painter'", "painter"),
        ("format = 'driftlab-policy/1'\nrules = []\n[roles.a]\nmood = 1", "mood"),
        ("format = 'driftlab-policy/1'\nrules = []\n[roles.a]\npatience = 0", "patience of 'a'"),
        ("format = 'driftlab-policy/1'\noutages = 0\nrules = []", "outages must be"),
        ("format = 'driftlab-policy/1'\nrules = []\n[masks]\nsecret = 'v1 00'", "register it with dl.register_mask"),
    ],
)
def test_a_bad_file_is_refused_by_name(text, message, tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        Policy.load(path)
    assert str(path) in str(caught.value)


def test_the_mask_of_every_column_goes_into_the_file(monkeypatch):
    text = default_policy().text()
    assert "volatile = " in text
    monkeypatch.setitem(MASKS._entries, "volatile", Mask("volatile", version=99))
    with pytest.warns(DriftlabWarning, match="mask 'volatile' was"):
        Policy.parse(text)


def test_one_rule_is_not_two(tmp_path):
    FULL.save(tmp_path / "three.toml")
    with pytest.raises(InputError, match="holds 3 rules, not one"):
        StopRule.load(tmp_path / "three.toml")


def test_a_role_must_be_one():
    with pytest.raises(InputError, match="role of 'grep' must be a Role"):
        Policy((), roles={"grep": "reader"})


def test_the_first_rule_to_fire_is_named_and_of_two_the_earlier():
    rules = (StopRule("flat(3)", 1.0), StopRule("state_unchanged(2)", 1.0), StopRule("state_unchanged(3)", 0.6))
    policy = Policy(rules)
    trace = Trace(id="a", steps=[Step(state="x", signals={"p": 1})] * 6)
    assert [values.tolist() for values in policy.alarms(measure([trace], policy.needs))] == [[2], [1]]


def test_rules_of_another_task_do_not_run():
    policy = Policy((StopRule("steps", 0.5, task="sql"), StopRule("steps", 0.8)))
    traces = [Trace(id=task, task=task, steps=[Step()] * 6) for task in ("sql", "code")]
    assert policy.alarms(measure(traces, policy.needs))[0].tolist() == [1, 4]


def test_a_policy_without_rules_and_a_list_of_arguments_survive(tmp_path):
    for policy in (Policy(()), Policy((StopRule("steps", 1.0),), roles={"ls": Role("reader", ignore=["colour"])})):
        assert saved(policy, tmp_path) == policy


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StopRule("steps", "high"), "threshold must be in .* got 'high'"),
        (lambda: StopRule("steps", None), "threshold must be in .* got None"),
        (lambda: Policy(("steps",)), "rules must be a tuple of StopRule"),
        (lambda: Policy(StopRule("steps", 1.0)), "rules must be a tuple of StopRule"),
        (lambda: Policy((), signals={"left": "lower"}), "signal 'left' must be declared as SignalSpec"),
        (lambda: StopRule("steps", 1.0, signals={"left": "lower"}), "signal 'left' must be declared as SignalSpec"),
        (lambda: Role("reader", ignore="colour"), r"for example \('colour',\)"),
    ],
)
def test_what_no_file_could_hold_is_refused_at_once(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_lone_rule_keeps_the_directions_it_carries(tmp_path):
    rule = StopRule("flat(2, signal='errors')", 1.0, signals={"errors": SignalSpec("lower", 0), "p": SignalSpec()})
    rule.save(tmp_path / "rule.toml")
    loaded = StopRule.load(tmp_path / "rule.toml")
    assert loaded == rule
    assert loaded != StopRule(rule.detector, 1.0)
    for monitor in (Monitor(rule), Monitor(loaded), Monitor.load(tmp_path / "rule.toml")):
        assert not any(monitor.update(errors=errors).stop for errors in (9, 7, 5, 3, 1))


def test_a_rule_taken_out_of_its_policy_keeps_the_directions(tmp_path):
    policy = Policy((StopRule("flat(2)", 1.0), StopRule("steps", 1.0)), signals={"errors": SignalSpec("lower")})
    assert saved(policy, tmp_path) == policy
    for rule in policy.rules:
        rule.save(tmp_path / "rule.toml")
        assert Policy.load(tmp_path / "rule.toml").signals == policy.signals


def test_rules_of_several_tasks_join_what_they_carry():
    def rule(**signals):
        return StopRule("flat(2)", 1.0, signals=signals)

    down, three, four = SignalSpec("lower"), SignalSpec(goal=3), SignalSpec(goal=4)
    assert Policy((rule(e=down, p=three), rule(p=three))).signals == {"e": down, "p": three}
    assert Policy((rule(p=three), rule(p=four))).signals == {"p": SignalSpec()}
    assert Policy((rule(p=three), rule(p=four)), signals={"p": down}).rules[1].signals == {"p": down}
    with pytest.raises(InputError, match="signal 'p' both as higher and lower; make one policy a task"):
        Policy((rule(p=three), rule(p=down)))
