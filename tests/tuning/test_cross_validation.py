"""CrossValidation cross-validation: whole problems, nothing leaks, its spread is told."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies import COLUMN, drawn, study

from driftlab._util.plain import rows
from driftlab.detectors import Plateau, Run
from driftlab.tuning.cross_validation import Procedure, cross_validate


def drawn_staleness(seed: int) -> tuple[list[list[float]], list[list[float]]]:
    z = np.random.default_rng(seed).random((40, 9))
    return (z[:16] ** 0.5).tolist(), z[16:].tolist()


DETECTORS = [Plateau(COLUMN, Run(patience)) for patience in (1, 2, 3)]


def test_it_repeats_for_a_seed_and_moves_with_another():
    measured = drawn(0, 16, 24)
    one, two, other = (cross_validate(measured, DETECTORS, repeats=2, seed=seed) for seed in (0, 0, 1))
    assert one.youden == two.youden
    assert rows(one.table) == rows(two.table)
    assert one.youden != other.youden


def test_every_fold_holds_whole_problems_and_every_trace_is_left_out_once():
    measured = study([[1.0] * 9] * 20, [[0.0] * 9] * 20, problem=[str(n % 10) for n in range(40)])
    found = cross_validate(measured, DETECTORS, repeats=3)
    assert found.table.groupby("repeat")[["n_stalled", "n_good"]].sum().values.tolist() == [[20, 20]] * 3
    assert (found.table["n_stalled"] % 2 == 0).all()  # two stalled runs a problem, never on two sides
    assert found.youden == 1.0


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=4, max_size=60), st.integers(2, 6))
def test_every_fold_holds_both_classes(labels: list[tuple[bool, int]], folds: int):
    stalled, good = ([[1.0] * 3] * sum(kind is each for kind, _ in labels) for each in (True, False))
    names = [str(name) for each in (True, False) for kind, name in labels if kind is each]
    here = [len({name for kind, name in labels if kind is each}) for each in (True, False)]
    found = cross_validate(study(stalled, good, problem=names), DETECTORS[:1], folds=folds, repeats=2)
    if min(here) < 2:
        assert found.why == "one class only, or fewer than 2 problems of each"
        return
    assert (found.table[["n_stalled", "n_good"]] > 0).all(axis=None)
    assert found.table["fold"].max() + 1 == min(folds, *here)


def test_the_order_of_the_traces_changes_nothing():
    measured = study(*drawn_staleness(0), problem=[f"p{n % 17}" for n in range(40)])
    shuffled = measured.take(np.random.default_rng(1).permutation(40))
    one, other = (cross_validate(each, DETECTORS, Procedure("youden"), repeats=3) for each in (measured, shuffled))
    assert (one.youden, one.repeats) == (other.youden, other.repeats)


def test_on_noise_the_same_traces_promise_and_new_ones_do_not_keep():
    found = [cross_validate(drawn(seed, 16, 24, shift=0.0), DETECTORS, repeats=2) for seed in range(12)]
    assert np.mean([each.reported for each in found]) > 0.15
    assert abs(np.mean([each.youden for each in found])) < 0.1
    assert np.mean([each.optimism for each in found]) > 0.1
    assert sum(each.stable for each in found) <= 2
    assert any("too few traces to choose" in str(each) for each in found)


def test_real_skill_is_stable():
    found = cross_validate(drawn(1, 40, 60, shift=1.5), DETECTORS, repeats=2)
    assert found.stable
    assert found.intervals["youden"][0] < found.youden < found.intervals["youden"][1]
    assert found.repeats["youden"][0] <= found.youden <= found.repeats["youden"][1]
    assert "too few" not in str(found)


def test_a_certified_procedure_certifies_inside_every_fold():
    measured = drawn(2, 40, 120, shift=1.5)
    found = cross_validate(measured, DETECTORS, Procedure("saved", 0.1, certify=True, share=0.5), repeats=2)
    free = cross_validate(measured, DETECTORS, Procedure("saved"), repeats=2)
    assert found.false_stop_rate < 0.2 < free.false_stop_rate


def test_too_few_to_certify_means_no_alarm():
    found = cross_validate(drawn(3, 20, 20), DETECTORS, Procedure("saved", 0.05, certify=True, share=0.5), repeats=1)
    assert (found.recall, found.false_stop_rate) == (0.0, 0.0)
    assert math.isnan(found.precision)
    assert np.isinf(found.table["threshold"]).all()


@pytest.mark.parametrize(("m", "n"), [(0, 0), (1, 0), (0, 9), (9, 1)])
def test_one_class_or_one_problem_says_so(m, n):
    found = cross_validate(study([[0.5] * 4] * m, [[0.5] * 4] * n), DETECTORS)
    assert math.isnan(found.youden)
    assert "fewer than 2 problems" in str(found)


def test_an_undefined_rate_has_no_interval():
    found = cross_validate(drawn(3, 20, 20), DETECTORS, Procedure("saved", 0.05, certify=True, share=0.5), repeats=1)
    assert all(math.isnan(bound) for bound in found.intervals["precision"])


def test_one_giant_problem_says_so():
    found = cross_validate(study([[0.5] * 4] * 9, [[0.5] * 4] * 9, problem=["p"] * 18), DETECTORS)
    assert "fewer than 2 problems" in found.why


def test_without_a_detector_there_is_nothing_to_choose():
    assert cross_validate(drawn(0, 9, 9), []).why == "no detector to choose from"
