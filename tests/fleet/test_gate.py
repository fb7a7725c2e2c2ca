"""The gate: bounds decide, too little evidence fails, the reason is told."""

import json
import math

import pytest

from driftlab._util.errors import InputError
from driftlab._util.plain import for_json, rows
from driftlab.evaluation.stats import proportion
from driftlab.fleet.finished import FinishedRuns
from driftlab.fleet.gate import gate
from driftlab.rules.policy import Policy, StopRule
from driftlab.trace.schema import Span, Step, Trace

RULE = StopRule("plateau(exact, run(2))", 1.0, evidence={"sources": "here"})


def runs(stuck, missed, fine, stopped, *, problem=None, source="here"):
    def run(name, label, states):
        stalls = [Span(1)] if label == "stalled" else []
        steps = [Step(state=s) for s in states]
        return Trace(id=name, problem=problem, source=source, label=label, stalls=stalls, steps=steps)

    out = [run(f"s{n}", "stalled", "xxxxx") for n in range(stuck)]
    out += [run(f"m{n}", "stalled", "xyxyx") for n in range(missed)]
    out += [run(f"g{n}", "good", "abcde") for n in range(fine)]
    return out + [run(f"f{n}", "good", "abbbc") for n in range(stopped)]


def test_a_gate_passes_on_bounds():
    found = gate(RULE, runs(58, 2, 100, 0), min_recall=0.85, max_false_stop=0.05, min_saved=0.3)
    assert found.passed
    assert found.exit_code == 0
    assert found.recall[1] == pytest.approx(proportion(58, 60, "beta", 0.9)[0])
    assert found.false_stop_rate[2] == pytest.approx(proportion(0, 100, "beta", 0.9)[1])
    assert str(found).startswith("gate passed")


def test_a_perfect_but_tiny_sample_fails():
    found = gate(RULE, runs(3, 0, 3, 0), min_recall=0.8, max_false_stop=0.05)
    assert found.recall[0] == 1.0
    assert found.exit_code == 1
    assert [reason.split(":")[0] for reason in found.reasons] == ["recall", "false-stop rate"]
    assert "3 of 3 stalls hit" in found.reasons[0]


def test_runs_of_one_problem_are_one_piece_of_evidence():
    assert not gate(RULE, runs(0, 0, 200, 0, problem="only"), max_false_stop=0.05).passed
    assert gate(RULE, runs(0, 0, 200, 0), max_false_stop=0.05).passed


@pytest.mark.parametrize(
    ("traces", "limit"), [([], "min_recall"), (runs(0, 0, 9, 0), "min_recall"), (runs(9, 0, 0, 0), "max_false_stop")]
)
def test_what_cannot_be_measured_does_not_pass(traces, limit):
    found = gate(RULE, traces, **{limit: 0.5})
    assert not found.passed
    assert "undefined" in found.reasons[0]


def test_a_strange_source_and_an_uncovered_task_are_told_loudly():
    strange = gate(RULE, runs(20, 0, 0, 0, source="elsewhere"), min_recall=0.5)
    assert strange.passed
    assert "NOT calibrated" in strange.notes[0]
    other = StopRule("plateau(exact, run(2))", 1.0, task="sql")
    assert "9 traces were not judged" in gate(other, runs(9, 0, 0, 0), min_recall=0.5).notes[0]


def test_a_nudge_is_no_false_stop():
    nudge = StopRule("plateau(exact, run(1))", 1.0, action="nudge")
    found = gate(Policy((RULE, nudge)), runs(0, 0, 100, 0) + runs(20, 0, 0, 0), max_false_stop=0.05, min_recall=0.8)
    assert found.passed


def test_its_json_is_strict():
    text = json.dumps(gate(RULE, [], min_recall=0.5).to_dict(), allow_nan=False)
    assert json.loads(text)["recall"] == [None, None, None]


@pytest.mark.parametrize(("limits", "words"), [({}, "at least one of"), ({"min_recall": 1.5}, "between 0 and 1")])
def test_a_gate_without_a_sensible_limit_is_refused(limits, words):
    with pytest.raises(InputError, match=words):
        gate(RULE, [], **limits)


def test_strict_values():
    import pandas as pd

    assert for_json([math.nan, math.inf, None, True, {"a": (1,)}]) == [None, "watch only", None, True, {"a": [1]}]
    assert rows(pd.DataFrame({"threshold": [math.inf], "n": [3]})) == [{"threshold": "watch only", "n": 3}]
    assert for_json(RULE) == str(RULE)


def test_a_stall_shorter_than_the_patience_is_undetectable():
    short = Trace(id="short", label="stalled", stalls=[Span(1, 2)], steps=[Step(state=s) for s in "abcde"])
    found = gate(RULE, [short, *runs(1, 0, 0, 0)], min_recall=0.1)
    assert (found.tally.undetectable, found.tally.attainable) == (1, 0.5)


def test_finished_runs_are_judged_by_the_rules_for_their_task():
    def trace(task, states):
        steps = [Step(state=state) for state in states]
        return Trace(id=task, task=task, label="stalled", stalls=[Span(0, 2)], steps=steps)

    rules = tuple(StopRule(f"plateau(exact, run({p}))", 1.0, task=task) for task, p in (("code", 1), ("sql", 3)))
    judged = FinishedRuns.of(Policy(rules), [trace("ring", "aaaa"), trace("sql", "aaaa"), trace("code", "aaaa")])
    assert [len(judged.traces), [each.id for each in judged.covered]] == [3, ["sql", "code"]]
    assert judged.alarms.tolist() == [3, 1]
    assert judged.outcomes.tolist() == ["late", "hit"]
    assert [judged.tally([place]).undetectable for place in (0, 1)] == [1, 0]
    assert judged.tally([]).n_stalled == 0
