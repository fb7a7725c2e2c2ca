"""Certified thresholds: what they promise, what they miss, that they pay for a grid."""

import math

import numpy as np
import pytest
from studies import COLUMN, study

from driftlab.detectors import Plateau, Run
from driftlab.tuning.certificate import certified, certify, certify_grid, maxima_of, one_a_problem

PLATEAU = Plateau(COLUMN, Run(1))


def good(n, runs=1, seed=0):
    u = np.random.default_rng(seed).random((n * runs, 3))
    return study([], u.tolist(), problem=[str(k // runs) for k in range(n * runs)])


@pytest.mark.parametrize(
    ("n", "risk", "missing"), [(18, None, 1), (0, None, 19), (58, 0.05, 1), (44, 0.1, 1), (10, 0.1, 35)]
)
def test_too_few_good_traces_only_watch_and_say_how_many_are_missing(n, risk, missing):
    found = certify(good(n), PLATEAU, 0.05, risk)
    assert (found.threshold, found.missing, found.n_good) == (math.inf, missing, n)
    assert f"{missing} more needed" in found.why
    assert math.isnan(found.line)


@pytest.mark.parametrize(
    ("n", "risk", "rank"), [(19, None, 19), (39, None, 38), (99, None, 95), (60, 0.1, 60), (100, 0.1, 99)]
)
def test_the_threshold_lies_just_above_the_ranked_good_maximum(n, risk, rank):
    measured = good(n)
    between = np.linspace(0, 1, 5001)
    found = certify(measured, PLATEAU, 0.05, risk, observed=between)
    maxima = np.sort(maxima_of(PLATEAU.scores(measured), measured.offsets, range(n)))
    assert found.line == maxima[rank - 1]
    assert found.line < found.threshold < found.line + 1 / 2500
    assert found.missing == 0


def test_runs_of_one_problem_count_once():
    measured = good(30, runs=5)
    assert len(one_a_problem(measured, 0)) == 30
    assert certify(measured, PLATEAU, 0.05).n_good == 30
    assert {measured.infos[i].group for i in one_a_problem(measured, 3)} == {info.group for info in measured.infos}


def test_one_giant_problem_certifies_nothing():
    found = certify(good(1, runs=200), PLATEAU, 0.05)
    assert (found.threshold, found.n_good, found.missing) == (math.inf, 1, 18)


def test_a_score_that_every_good_trace_reaches_only_watches():
    found = certify(study([], [[1.0] * 3] * 40), PLATEAU, 0.05)
    assert found.threshold == math.inf
    assert found.why == "no score lies above 1.0000, which 40 of 40 good traces reach"
    assert found.missing == 0


def test_ties_at_the_line_do_not_alarm():
    maxima = np.array([0.25] * 10 + [0.5] * 10)
    found = certified(maxima, np.array([0.25, 0.5, 0.75]), PLATEAU, 0.05, None)
    assert found.threshold == 0.625


def test_a_trace_without_steps_never_alarms():
    assert maxima_of(np.zeros(0), np.array([0, 0]), [0]).tolist() == [0.0]


def test_a_grid_is_paid_for():
    measured = good(200)
    detectors = [Plateau(COLUMN, Run(p)) for p in (1, 2, 3)]
    scores = {each: each.scores(measured) for each in detectors}
    together = certify_grid(measured, scores, 0.1, 0.1)
    for each in detectors:
        alone = certify(measured, each, 0.1, 0.1 / 3)
        assert together[each] == alone
        assert together[each].line >= certify(measured, each, 0.1, 0.1).line


def test_the_mean_promise_holds_for_a_new_exchangeable_trace():
    """Leave one of 20 out: it exceeds the line of the other 19 with chance 1 / 20."""
    maxima = np.random.default_rng(0).random(20)
    above = [maxima[i] > certified(np.delete(maxima, i), maxima, PLATEAU, 0.05, None).line for i in range(20)]
    assert sum(above) == 1
