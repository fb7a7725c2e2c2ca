"""The curve of all thresholds equals a tally at each of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from studies import Run, labels_of, runs

from driftlab.detectors import first_alarms
from driftlab.evaluation.tally import tally
from driftlab.evaluation.thresholds import curve, curves

COUNTS = ("hit", "premature", "late", "false_stop", "saved_steps")


@given(runs())
def test_the_curve_equals_a_tally_at_each_threshold(found: list[Run]):
    labels, scores, offsets = labels_of(found)
    made = curve(scores, offsets, labels)
    for place, threshold in enumerate(made.thresholds):
        one = tally(first_alarms(scores, offsets, threshold), labels)
        assert [int(getattr(made, name)[place]) for name in COUNTS] == [getattr(one, name) for name in COUNTS]
        for name in ("precision", "recall", "saved", "false_stop_rate", "mean_delay"):
            np.testing.assert_allclose(getattr(made, name)[place], getattr(one, name))


@given(runs())
def test_every_threshold_that_matters_is_there(found: list[Run]):
    labels, scores, offsets = labels_of(found)
    records = {max(own[: t + 1]) for *_, own in found for t in range(len(own))}
    assert set(curve(scores, offsets, labels).thresholds.tolist()) == records - {0.0}


@given(runs(), st.randoms(use_true_random=False))
def test_the_curve_of_a_set_counts_that_set_alone(found: list[Run], draw):
    labels, scores, offsets = labels_of(found)
    members = np.array([[draw.random() < 0.5 for _ in found] for _ in range(3)], dtype=bool).reshape(3, len(found))
    made = curves(scores, offsets, labels, members)
    for row, inside in enumerate(members):
        part = labels.take(np.flatnonzero(inside))
        for place, threshold in enumerate(made.thresholds):
            one = tally(first_alarms(scores, offsets, threshold)[inside], part)
            assert [int(getattr(made, name)[row, place]) for name in COUNTS] == [getattr(one, name) for name in COUNTS]
        assert int(made.n_stalled[row, 0]) == part.stalled.sum()
        assert int(made.n_good[row, 0]) == part.good.sum()


def test_a_tie_at_the_threshold_alarms():
    labels, scores, offsets = labels_of([("good", None, [0.5]), ("good", None, [0.25])])
    made = curve(scores, offsets, labels)
    assert (made.thresholds.tolist(), made.false_stop.tolist()) == ([0.25, 0.5], [2, 1])


def test_of_equals_within_the_limit_the_highest_threshold_is_taken():
    labels, scores, offsets = labels_of([("good", None, [score]) for score in (0.25, 0.5, 0.75, 1.0)])
    made = curve(scores, offsets, labels)
    assert [made.at_limit(limit) for limit in (1.0, 0.25, 0.2)] == [1.0, 1.0, float("inf")]


def test_without_good_traces_there_is_no_limit_to_keep():
    labels, scores, offsets = labels_of([("stalled", (0, 1), [0.5])])
    assert np.isnan(curve(scores, offsets, labels).at_limit(0.05))


def test_all_scores_equal_to_zero_give_no_threshold():
    labels, scores, offsets = labels_of([("good", None, [0.0, 0.0]), ("stalled", (0, 2), [0.0, 0.0])])
    made = curve(scores, offsets, labels)
    assert (len(made.thresholds), made.n_good, made.n_stalled) == (0, 1, 1)


def test_the_limit_is_kept_by_the_threshold_that_saves_most_not_by_the_smallest():
    # At 0.25 the stalled run alarms before its onset: within the limit, and worth nothing.
    labels, scores, offsets = labels_of([("stalled", (2,), [0.25, 0.25, 0.5, 0.75]), ("good", None, [0.1, 0.1])])
    made = curve(scores, offsets, labels)
    assert made.at_limit(0.0) == 0.5
