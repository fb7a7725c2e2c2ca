"""Rules carried to other agents, setups, sources."""

from functools import partial

import pytest
from studies import drawn, study

from driftlab._util.errors import InputError
from driftlab.fleet.scope import strangers
from driftlab.rules.policy import Policy, StopRule
from driftlab.trace.schema import TraceInfo
from driftlab.tuning.transfer import RATES, SHARED, TOO_GOOD, UNTUNED, transfer

METRIC = ["levenshtein"]
AGENTS = (["a"] * 20 + ["b"] * 20) * 2


def two_agents(**fields):
    """The second agent's good runs repeat as much as the first one's stalled ones."""
    stalled = [[0.6] * 9] * 20 + [[0.9] * 9] * 20
    good = [[0.1] * 9] * 20 + [[0.6] * 9] * 20
    return study(stalled, good, agent=AGENTS, **fields)


def test_a_threshold_does_not_travel():
    table = transfer(two_agents(), "agent", METRIC, objective="recall", patience=[1], decay=[]).set_index(
        ["tuned_on", "tried_on"]
    )
    assert table.loc[("a", "a"), "recall"] == table.loc[("b", "b"), "recall"] == 1.0
    assert table.loc[("a", "b"), "false_stop_rate"] == 1.0
    assert table.loc[("b", "a"), "recall"] == 0.0
    assert table.note.tolist() == [TOO_GOOD, "", "", TOO_GOOD]


def test_a_side_with_one_class_alone_tunes_nothing_and_says_so():
    agents = ["a"] * 20 + ["b"] * 20 + ["a"] * 40
    table = transfer(study([[0.9] * 9] * 40, [[0.1] * 9] * 40, agent=agents), "agent", METRIC)
    untuned = table[table.tuned_on == "b"]
    assert (untuned.note == UNTUNED).all()
    assert untuned[list(RATES)].isna().all(axis=None)
    assert table[table.tuned_on == "a"].recall.tolist() == [1.0, 1.0]


def test_what_is_left_out_tunes_nothing():
    table = transfer(
        two_agents(), "agent", METRIC, left_out=True, objective="recall", patience=[1], decay=[]
    ).set_index("tried_on")
    assert table.loc["b", "tuned_on"] == "all but b"
    assert table.loc["b", "false_stop_rate"] == 1.0
    assert (table.note == "").all()


def test_problems_on_both_sides_are_told_where_nothing_else_is_left():
    problems = [str(n % 20) for n in range(80)]
    table = transfer(two_agents(problem=problems), "agent", METRIC, left_out=True, patience=[1], decay=[])
    assert (table.note == SHARED).all()


def test_one_value_alone_leaves_nothing_to_tune_on():
    table = transfer(drawn(0, 9, 9), "source", METRIC, left_out=True, patience=[1], decay=[])
    assert table.tried_on.tolist() == ["(none)"]
    assert table.threshold.tolist() == [float("inf")]


def test_what_cannot_be_left_out_is_named():
    with pytest.raises(InputError, match="unknown by 'model'"):
        transfer(drawn(0, 9, 9), "model", METRIC)


def test_a_known_source_is_no_stranger():
    rule = StopRule("plateau(exact, run(2))", 1.0, evidence={"sources": "one, two"})
    infos = [TraceInfo(id="a", source="two"), TraceInfo(id="b", source="three"), TraceInfo(id="c")]
    notes = strangers(Policy((rule,)), infos)
    assert len(notes) == 2
    assert "'three'" in notes[0]
    assert strangers(Policy((StopRule("plateau(exact, run(2))", 1.0),)), infos) == ()


@pytest.mark.parametrize("tried", [transfer, partial(transfer, left_out=True)])
def test_without_traces_there_is_nothing_to_tune(tried):
    with pytest.raises(InputError, match="there are no traces"):
        tried([], "source", METRIC)
