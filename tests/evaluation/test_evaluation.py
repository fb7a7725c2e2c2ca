"""Controls, intervals, verdicts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from studies import COLUMN, drawn, study

from driftlab.detectors import Ewma, Plateau, Revisit, Run
from driftlab.evaluation.auc import Auc
from driftlab.evaluation.controls import average_precision, controls, steps_trace, warning
from driftlab.evaluation.evaluation import PLACEBO_DRAWS, Evaluation, verdict
from driftlab.evaluation.ranking import Ranking, Stratum
from driftlab.evaluation.stats import Design, newcombe

PLATEAU = Plateau(COLUMN, Run(1))


def ranked(auc, n=40, spread=0.01, **more):
    draws = auc + spread * np.random.default_rng(0).standard_normal(500)
    return Auc(auc, draws, n, n, (n, n), **more)


def test_few_problems_take_method_5():
    found = replace(ranked(0.8), problems=(8, 12))
    assert found.few
    assert found.interval() == newcombe(0.8, 8, 12)


def test_many_independent_traces_take_the_wider_of_both():
    low, high = ranked(0.97, n=30, spread=0.001).interval()
    assert (low, high) == pytest.approx(newcombe(0.97, 30, 30), abs=1e-3)


def test_runs_of_like_problems_widen_the_interval():
    alone = ranked(0.8, spread=0.02)
    alike = replace(ranked(0.8, spread=0.1), traces_tell=Design(120 * 120, 119), problems_tell=Design(40 * 40, 39))
    assert alike.interval()[0] < alone.interval()[0]


def test_an_area_of_1_from_runs_of_few_problems_counts_problems():
    found = Auc(1.0, np.ones(100), 90, 90, (30, 30), Design(8100, 89), Design(900, 29))
    assert found.interval() == newcombe(1.0, 30, 30)


def test_what_is_known_by_construction_has_no_interval():
    assert ranked(0.5, constant=True).interval() == (0.5, 0.5)


def test_the_difference_to_a_constant_for_few_problems():
    found, counter = replace(ranked(0.8), problems=(8, 12)), replace(ranked(0.5, constant=True), problems=(8, 12))
    low, high = found.interval()
    assert found.over(counter) == (pytest.approx(low - 0.5), pytest.approx(high - 0.5))


def test_equal_draws_leave_no_difference():
    found = ranked(0.8)
    assert found.over(found) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("own", "within", "expected"),
    [
        (0.5, 0.5, "not better than steps"),
        (0.8, 0.8, "beats steps and placebo; not explained by setup"),
        (0.8, 0.5, "beats steps and placebo; may be explained by setup"),
        (0.8, math.nan, "beats steps and placebo; cannot be told from setup"),
        (math.nan, math.nan, "undefined: nothing to compare"),
    ],
)
def test_verdicts_in_words(own, within, expected):
    flat = ranked(0.5, spread=0.001)
    assert verdict(ranked(own), ranked(within), [("steps", flat), ("placebo", flat)]) == expected


def test_what_beats_the_counter_but_not_noise_is_told():
    lucky = ranked(0.9, spread=0.001)
    assert verdict(ranked(0.8), ranked(0.8), [("steps", ranked(0.5)), ("placebo", lucky)]) == "not better than placebo"


def test_the_counter_is_one_half_at_equal_age_and_perfect_over_whole_traces():
    evaluation = Evaluation(study([[0.5] * 20] * 10, [[0.5] * 12] * 25), draws=50)
    assert evaluation.horizon == 12
    assert evaluation.steps().auc == 0.5
    assert evaluation.steps().interval() == (0.5, 0.5)
    assert steps_trace(evaluation) == 1.0


def test_noise_is_near_one_half_at_equal_age_for_every_patience_and_not_over_whole_traces():
    evaluation = Evaluation(study([[0.5] * 24] * 60, [[0.5] * 9] * 60), draws=50)
    for patience in (1, 3, 5, 8):
        plateau = Plateau(COLUMN, Run(patience))
        found = evaluation.placebo(plateau)
        assert abs(found.auc - 0.5) < 0.05
        assert len(found.noises) == PLACEBO_DRAWS
        assert found.band()[0] < 0.5 < found.band()[1]
        assert evaluation.noise_areas(plateau, evaluation.whole).mean() > 0.65


def test_noise_goes_through_the_accumulator_of_any_detector_that_has_one():
    evaluation = Evaluation(study([[0.5] * 24] * 30, [[0.5] * 24] * 30), draws=20)
    slow = Ewma(0.9)
    found, expected = (evaluation.placebo(each(COLUMN, slow)).noises for each in (Revisit, Plateau))
    assert (found == expected).all()


@pytest.mark.parametrize(
    ("stalled", "good", "why"),
    [
        (0, 30, "undefined: no stalled traces"),
        (30, 0, "undefined: no good traces"),
        (30, 19, "undefined: 19 good traces, 20 needed"),
    ],
)
def test_what_cannot_be_ranked_says_why(stalled, good, why):
    evaluation = Evaluation(study([[0.5] * 9] * stalled, [[0.5] * 9] * good), draws=20)
    assert evaluation.undefined == why
    assert math.isnan(evaluation.rank(np.zeros(int(evaluation.measurements.offsets[-1]))).auc)
    assert math.isnan(evaluation.steps().auc)
    assert math.isnan(evaluation.placebo(PLATEAU).auc)


def test_one_giant_problem_gives_an_interval_that_admits_everything():
    found = study([[1.0] * 9] * 30, [[0.0] * 9] * 30, problem=["only"] * 60)
    evaluation = Evaluation(found, draws=50)
    own = evaluation.rank(PLATEAU.scores(found))
    low, high = own.interval()
    assert (own.auc, own.problems, high) == (1.0, (1, 1), 1.0)
    assert low < 0.25


def test_one_setup_cannot_be_told():
    evaluation = Evaluation(drawn(0, 30, 30), draws=50)
    assert math.isnan(evaluation.setup().auc)
    assert math.isnan(evaluation.rank(PLATEAU.scores(evaluation.measurements), evaluation.within_setup).auc)


def test_a_setup_that_made_the_label_ranks_perfectly_and_warns():
    names = ["weak"] * 30 + ["strong"] * 30
    found = study([[0.6] * 9] * 30, [[0.5] * 9] * 30, setup=names)
    evaluation = Evaluation(found, draws=100)
    assert evaluation.setup().auc == 1.0
    row = controls(evaluation, PLATEAU.scores(found), PLATEAU)
    assert math.isnan(row["same_setup"])
    assert row["warning"].startswith("setup alone ranks at 1.00")


def test_setups_that_tell_nothing_do_not_warn():
    found = drawn(1, 40, 40)
    infos = tuple(
        type(i)(id=i.id, label=i.label, stalls=i.stalls, setup="xy"[n % 2]) for n, i in enumerate(found.infos)
    )
    evaluation = Evaluation(type(found)(infos, found.offsets, found.columns), draws=100)
    row = controls(evaluation, PLATEAU.scores(found), PLATEAU)
    assert row["setup"] < 0.6
    assert row["warning"] == ""
    assert row["same_setup"] > 0.5
    assert row["over_setup_low"] > 0


def test_a_quiet_setup_that_beats_the_score_warns_too():
    assert warning({"setup": 0.55, "over_setup": -0.02}).endswith("beats this score: read same_setup, not auc")


def test_counts_of_labels():
    found = drawn(2, 3, 4)
    infos = [*found.infos]
    infos[0] = type(infos[0])(id="u", label="unsure")
    infos[1] = type(infos[1])(id="n")
    counts = Evaluation(type(found)(tuple(infos), found.offsets, found.columns)).counts
    assert (counts["stalled"], counts["good"], counts["unsure"], counts["unlabelled"]) == (1, 4, 1, 1)


def test_average_precision_of_one_stratum_is_scikit_learns():
    random = np.random.default_rng(3)
    scores, kind = np.round(random.random(40), 1), [1] * 15 + [0] * 25
    ranking = Ranking((Stratum(np.arange(15), np.arange(15, 40), 0, 1),))
    expected = average_precision_score(kind, scores)
    assert average_precision(ranking, scores, np.arange(41)) == pytest.approx(expected)
    flat = np.full(40, 0.5)
    assert average_precision(ranking, flat, np.arange(41), prevalence=0.1) == pytest.approx(0.1)


def test_same_problem_pairs_count_once_each():
    found = study([[1.0] * 9] * 2, [[0.0] * 9] * 22, problem=["p", "q"] + ["p"] * 3 + ["r"] * 19)
    evaluation = Evaluation(found, draws=20)
    assert evaluation.within_problem.n_pairs == 3
    assert evaluation.rank(PLATEAU.scores(found), evaluation.within_problem).auc == 1.0
