"""Choosing a threshold: worths, ties, midpoints, margins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies import COLUMN, Run, labels_of, runs

from driftlab._util.errors import InputError
from driftlab.detectors import Plateau, StepCount, first_alarms
from driftlab.evaluation.tally import curve, tally
from driftlab.tuning.objective import (
    MARGIN,
    OBJECTIVES,
    Price,
    above,
    choices,
    f_beta,
    margin_of,
    objective_named,
    ordered,
)


@given(runs(), st.sampled_from(sorted(OBJECTIVES)), st.sampled_from([None, 0.0, 0.5]))
def test_the_choice_is_the_best_threshold_of_a_plain_search(found: list[Run], objective: str, limit: float | None):
    labels, scores, offsets = labels_of(found)
    everyone = np.ones((1, len(found)), dtype=bool)
    choice = choices({StepCount(): scores}, offsets, labels, everyone, objective=objective, limit=limit)[0]
    best, at = -math.inf, math.inf
    made = curve(scores, offsets, labels)
    for place, threshold in enumerate(made.thresholds):
        value = OBJECTIVES[objective](made)[place]
        allowed = limit is None or made.false_stop_rate[place] <= limit
        if allowed and not math.isnan(value) and value >= best:
            best, at = value, threshold
    assert choice.objective[0] == pytest.approx(best)
    # What a objective can see is equal; within that range a false stop may still come earlier or later.
    counted = [tally(first_alarms(scores, offsets, t), labels) for t in (choice.threshold(), at)]
    for name in ("hit", "premature", "late", "false_stop", "saved_steps"):
        assert getattr(counted[0], name) == getattr(counted[1], name)


@given(runs())
def test_the_threshold_lies_between_observed_scores(found: list[Run]):
    labels, scores, offsets = labels_of(found)
    choice = choices({StepCount(): scores}, offsets, labels, np.ones((1, len(found)), dtype=bool), objective="recall")[
        0
    ]
    assert choice.threshold() == math.inf or choice.threshold() not in scores


def test_a_set_is_chosen_by_its_own_traces_alone():
    labels, scores, offsets = labels_of([("stalled", (0, 1), [1.0]), ("good", None, [0.5]), ("good", None, [0.25])])
    without = np.array([[True, False, True]])
    found = choices({StepCount(): scores}, offsets, labels, without, objective="youden")[0]
    assert found.threshold() == 0.75  # best between 0.25 and 1.0, and in the middle of a gap that 0.5, left out, leaves


@pytest.mark.parametrize(
    ("scores", "line", "margin", "expected"),
    [
        ([0.25, 0.5, 0.75], 0.5, 0.0, 0.625),
        ([0.25, 0.5], 0.5, 0.0, math.inf),
        ([], 0.5, 0.0, math.inf),
        ([0.5, 0.5001, 0.9], 0.5, 1e-4, 0.70005),  # the first gap is narrower than twice the margin
        ([0.5, 0.50021], 0.5, 1e-4, 0.500105),
        ([0.5, 0.5001], 0.5, 1e-4, math.inf),
        ([0.0, 0.5], 0.0, 0.0, 0.25),
    ],
)
def test_above_is_the_middle_of_the_first_gap_that_is_wide_enough(scores, line, margin, expected):
    assert above(line, np.array(scores, dtype=float), margin) == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0, 1), st.sampled_from([0.0, MARGIN]))
def test_above_keeps_its_margin_and_spares_the_line(scores, line, margin):
    found = above(line, np.array(scores), margin)
    assert found > line
    if found < math.inf and margin:
        assert min(abs(found - score) for score in [*scores, line] if score != found) >= margin


def test_neighbouring_floats_leave_the_upper_one():
    upper = math.nextafter(0.5, 1)
    assert above(0.5, np.array([0.5, upper])) == upper


def test_only_deltas_out_of_a_model_need_a_margin():
    assert margin_of(Plateau(COLUMN)) == 0.0
    assert margin_of(Plateau("embedding")) == MARGIN


@pytest.mark.parametrize("prevalence", [None, 0.0, 0.1, 1.0])
def test_a_price_is_what_a_plain_count_earns(prevalence):
    found: list[Run] = [
        ("stalled", (1, 5), [0.0, 0.5, 0.5, 1.0, 1.0]),
        ("stalled", (2, 4), [0.5, 0.5, 0.5, 0.5]),
        ("good", None, [0.0, 0.25]),
        ("good", None, [0.5]),
    ]
    labels, scores, offsets = labels_of(found)
    made = curve(scores, offsets, labels)
    earned = Price(10, 2, prevalence)(made)
    for place, threshold in enumerate(made.thresholds):
        one = tally(first_alarms(scores, offsets, threshold), labels)
        share = 0.5 if prevalence is None else prevalence
        expected = share * (2 * one.saved_steps - 10 * one.premature) / 2 - (1 - share) * 10 * one.false_stop / 2
        assert earned[place] == pytest.approx(expected)


def test_f_beta_is_the_usual_one():
    found: list[Run] = [("stalled", (0, 1), [1.0]), ("stalled", (0, 1), [0.5]), ("good", None, [1.0])]
    labels, scores, offsets = labels_of(found)
    made = curve(scores, offsets, labels)
    p, r = made.precision, made.recall
    np.testing.assert_allclose(f_beta(2)(made), 5 * p * r / (4 * p + r))


def test_an_unknown_worth_is_named():
    with pytest.raises(InputError, match="unknown objective 'yooden'; did you mean 'youden'"):
        objective_named("yooden")


@pytest.mark.parametrize("prices", [(-1, 1), (1, -1), (1, 1, 1.5)])
def test_impossible_prices_are_refused(prices):
    with pytest.raises(InputError, match="must be"):
        Price(*prices)


def test_nothing_to_choose_from_says_what_to_do():
    with pytest.raises(InputError, match="name at least one metric"):
        ordered([])


def test_where_nothing_is_allowed_a_class_that_is_absent_has_no_rate():
    labels, scores, offsets = labels_of([("good", None, [0.5])])
    found = choices({StepCount(): scores}, offsets, labels, np.ones((1, 1), dtype=bool))[0].rates()
    assert found["false_stop_rate"] == 0
    assert np.isnan([found["recall"], found["saved"]]).all()
