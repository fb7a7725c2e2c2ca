"""A policy in a live loop."""

import subprocess
import sys

import numpy as np
import pytest
import runs
import variants
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import SPECS

from driftlab._util.errors import InputError
from driftlab.metrics import models
from driftlab.metrics.measurements import measure
from driftlab.monitor.monitor import Monitor
from driftlab.monitor.trend import followed
from driftlab.rules.policy import Policy, StopRule
from driftlab.rules.presets.default import PRESETS, default_policy
from driftlab.rules.roles import Role
from driftlab.trace.schema import SignalSpec, Step


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
    code = f"import sys, driftlab.monitor; print([n for n in {heavy} if n in sys.modules])"
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


def nested(levels):
    value = 1
    for _ in range(levels):
        value = {"p": value}
    return value


ENDLESS = {"p": []}
ENDLESS["p"].append(ENDLESS)
UNREADABLE = [
    (Step(tool="edit", args=nested(900)), "args are nested too deeply to compare, .*; flatten or shorten them first"),
    (Step(tool="edit", args=nested(5_000)), "args are nested too deeply"),
    (Step(tool="edit", args=ENDLESS), "args are nested too deeply"),
    ({"tool": "edit", "args": nested(900), "passed": 9}, "args are nested too deeply"),
    (
        Step(tool="edit", args={"q": object()}, output="new"),
        "args hold what JSON cannot: .*; turn it into text first",
    ),
    (Step(tool="edit", args={"q": "\ud800", "r": {1}}), "args hold what JSON cannot"),
    (Step(state="new", tool="edit", output=["new"]), "output must be text, got .*; turn it into text first"),
    (
        Step(state="new", signals={"passed": "high"}),
        "signal 'passed' must be a number .* got 'high'; convert it or leave it out",
    ),
    (Step(state="new", signals={"passed": 10**400}), "signal 'passed' must be a number that fits a float"),
    (Step(state="new", signals=[3]), r"signals must map names to numbers, got \[3\]"),
    (Step(tool=3, state="new"), "tool must be text, got 3"),
    (Step(node=["plan"], state="new"), "node must be text, got"),
]
EVERYTHING = Policy(
    tuple(StopRule(spec, 1.0, action="nudge") for spec in SPECS if spec != "steps"),
    roles={"wait": Role("poller", 2), "read": Role("reader", ignore=("p",))},
    resets=("progress", "user", "compaction"),
    outages=2,
)


@pytest.mark.parametrize(
    "policy", [default_policy(), Policy(EVERYTHING.rules), EVERYTHING], ids=["default", "bare", "all"]
)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), length=st.integers(0, 40), data=st.data())
def test_after_a_step_that_cannot_be_read_all_is_as_if_it_had_never_come(policy, seed, length, data):
    trace = runs.run(seed, length)
    _, expected = watched(policy, trace)
    monitor = Monitor(policy, task=trace.task, trace_id=trace.id, signals=trace.signal_specs)
    refused = UNREADABLE if policy is EVERYTHING else UNREADABLE[:-2]  # nobody else reads names of nodes, tools
    for step, verdict in zip(trace.steps, expected, strict=True):
        for bad, message in data.draw(st.lists(st.sampled_from(refused), max_size=2)):
            best, alarm = monitor.best, monitor.alarm
            with pytest.raises(InputError, match=f"^step {verdict.t}: {message}"):
                monitor.update(bad)
            assert (monitor.best, monitor.alarm) == (best, alarm)
        assert monitor.update(step) == verdict


def test_a_signal_without_a_name_is_refused_before_it_is_stored():
    monitor = Monitor(StopRule("plateau(signal, run(2))", 1.0))
    assert monitor.update(passed=1).scores == (0.0,)
    with pytest.raises(InputError, match="step 1: signal without a name, and there are several; choose one of: left"):
        monitor.update(left=3)
    assert [monitor.update(passed=1).scores for _ in range(2)] == [(0.0,), (1.0,)]


def test_what_a_role_ignores_need_not_be_readable():
    policy = Policy((StopRule("same_call(2)", 1.0),), roles={"plot": Role("reader", ignore=("figure",))})
    monitor = Monitor(policy)
    verdicts = [monitor.update(tool="plot", args={"figure": object(), "x": 1}) for _ in range(3)]
    assert verdicts[-1].stop


def test_numbers_of_any_library_are_signals():
    values = [np.float32(0.5), np.float16(1), np.int64(-(2**63)), np.uint8(3), 2**1000]
    monitor, twin = Monitor(StopRule("flat(9)", 1.0)), Monitor(StopRule("flat(9)", 1.0))
    for value in values:
        assert monitor.update(Step(signals={"p": value})) == twin.update(Step(signals={"p": float(value)}))


@pytest.mark.parametrize("levels", [100, 101, 600, 5_000])
@pytest.mark.parametrize("calls", [0, 700])
def test_json_text_is_text_where_it_is_nested_too_deeply_whoever_calls(levels, calls):
    def below(left):
        return below(left - 1) if left else monitor.update(Step(tool="t", args=text))

    monitor, text = Monitor(StopRule("same_call(2)", 1.0)), '{"p":' * levels + "1" + "}" * levels
    assert [below(calls).stop for _ in range(3)] == [False, False, True]


def test_text_inside_arguments_may_hold_any_json():
    monitor, text = Monitor(default_policy()), '{"p":' * 960 + "1" + "}" * 960
    actions = [monitor.update(tool="write", args={"content": text}, output=f"{n} written").action for n in range(3)]
    assert actions == ["continue"] * 3


class Away:
    """A model that is away when it is asked about one text."""

    def encode(self, texts):
        if "away" in texts:
            raise ConnectionError("the model is away")
        return [[len(text), 1.0] for text in texts]


def test_a_model_that_is_away_leaves_all_as_it_was(monkeypatch):
    monkeypatch.setattr(models, "_REGISTERED", {})
    models.register_model("away", Away(), revision="1")
    rules = ("plateau(novelty(view='state'), run(2))", "plateau(embedding(model='away'), run(2))", "recurring(2, 4)")
    monitor, twin = (Monitor(Policy(tuple(StopRule(rule, 1.0) for rule in rules))) for _ in range(2))
    for state in ("a", "b b", "b b", "c"):
        with pytest.raises(ConnectionError):
            monitor.update(state="away")
        assert monitor.update(state=state) == twin.update(state=state)


class Once:
    """A model that is away the first time it is asked about a text without the argument that a role ignores."""

    gone = False

    def encode(self, texts):
        if not self.gone and not any("page" in text for text in texts):
            self.gone = True
            raise ConnectionError("the model is away")
        return [[len(text), 1.0] for text in texts]


def test_a_model_is_asked_about_what_a_role_leaves_of_a_step(monkeypatch):
    monkeypatch.setattr(models, "_REGISTERED", {})
    models.register_model("once", Once(), revision="1")
    rules = ("plateau(novelty(view='output'), run(2))", "plateau(embedding(view='action', model='once'), run(2))")
    policy = Policy(tuple(StopRule(rule, 1.0) for rule in rules), roles={"read": Role("reader", ignore=("page",))})
    monitor = Monitor(policy)
    steps = [Step(tool="read", args={"q": n % 3, "page": n}, output=str(n)) for n in range(6)]
    with pytest.raises(ConnectionError):
        monitor.update(steps[0])
    found, twin = [monitor.update(step) for step in steps], Monitor(policy)
    assert found == [twin.update(step) for step in steps]


@pytest.mark.parametrize("levels", [0, 100])
def test_deep_arguments_that_can_be_compared_are(levels):
    monitor = Monitor(StopRule("same_call(2)", 1.0))
    assert [monitor.update(Step(tool="edit", args=nested(levels))).stop for _ in range(3)] == [False, False, True]


def test_a_command_that_ends_in_deep_json_is_compared_as_text():
    monitor, command = Monitor(StopRule("same_call(2)", 1.0)), 'echo {"p":' + '{"p":' * 600 + "1" + "}" * 601
    assert [monitor.update(Step(tool="bash", args=command)).stop for _ in range(3)] == [False, False, True]
