"""Two annotators: kappa, onsets, disputes."""

import json
import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from driftlab._util.errors import InputError
from driftlab.evaluation.agreement import agreement, kappa
from driftlab.trace.schema import Span, Step, Trace


def trace(name, label, onset=None):
    stalls = [] if onset is None else [Span(onset)]
    return Trace(id=name, label=label, stalls=stalls, steps=[Step(state="x")] * 20)


def test_kappa_is_scikit_learns():
    random = np.random.default_rng(0)
    one = random.choice(["good", "stalled", "unsure"], 60).tolist()
    two = [label if random.random() < 0.7 else "good" for label in one]
    value, low, high = kappa(one, two)
    assert value == pytest.approx(cohen_kappa_score(one, two))
    assert low < value < high


def test_the_published_ceiling_has_its_interval():
    """AgentRewardBench: 106 double annotations, agreement 89.6 %, kappa 0.770 [0.628, 0.887] by bootstrap."""
    one = ["y"] * 59 + ["n"] * 47
    two = ["y"] * 53 + ["n"] * 6 + ["y"] * 5 + ["n"] * 42
    value, low, high = kappa(one, two)
    assert value == pytest.approx(0.79, abs=0.03)
    assert (low, high) == (pytest.approx(0.65, abs=0.04), pytest.approx(0.9, abs=0.04))


@pytest.mark.parametrize("labels", [[], ["good"], ["good"] * 9])
def test_one_label_only_has_no_kappa(labels):
    assert all(math.isnan(value) for value in kappa(labels, labels))


def test_a_constant_annotator_agrees_by_chance():
    assert kappa(["good", "stalled"] * 10, ["good"] * 20)[0] == 0.0


@pytest.mark.parametrize(("tolerance", "within"), [(0, 1 / 3), (1, 2 / 3), (4, 2 / 3), (5, 1.0)])
def test_onsets_may_differ_by_the_tolerance(tolerance, within):
    one = [trace("a", "stalled", 4), trace("b", "stalled", 4), trace("c", "stalled", 4)]
    two = [trace("a", "stalled", 4), trace("b", "stalled", 5), trace("c", "stalled", 9)]
    found = agreement(one, two, tolerance=tolerance)
    assert found.within[0] == pytest.approx(within)
    assert found.onsets == 3
    assert found.shift == 1


def test_disputed_traces_are_listed_with_both_answers():
    one = [
        trace("a", "stalled", 4),
        trace("b", "good"),
        trace("c", "stalled", 2),
        trace("only", "good"),
        trace("null", None),
    ]
    two = {"a": ("stalled", 12), "b": "stalled", "c": ("stalled", 3), "other": "good", "null": "good"}
    found = agreement(one, two)
    assert [each["id"] for each in found.disputed] == ["a", "b"]
    assert found.disputed[0] == {
        "id": "a",
        "first": "stalled",
        "second": "stalled",
        "first_onset": 4,
        "second_onset": 12,
    }
    assert (found.n, found.only_first, found.only_second) == (3, ("only",), ("null", "other"))
    assert found.table["good"]["stalled"] == 1
    assert "disputed      2: a, b" in str(found)


def test_nobody_in_common_is_undefined_and_strict_json():
    found = agreement({"a": "good"}, {"b": "good"})
    assert found.n == 0
    assert "undefined" in str(found)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["agreed"] == [None, None, None]


def test_bad_input_is_told():
    with pytest.raises(InputError, match="tolerance must be"):
        agreement({}, {}, tolerance=-1)
    with pytest.raises(InputError, match="labelled twice"):
        agreement([trace("a", "good"), trace("a", "stalled", 1)], {})
