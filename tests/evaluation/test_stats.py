"""The few statistics written here, each against an oracle."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from driftlab._util.errors import InputError
from driftlab.evaluation.stats import (
    Design,
    cluster_weights,
    clustered,
    difference,
    effective,
    method5,
    newcombe,
    percentile,
    proportion,
)
from driftlab.tuning.sample_size import conformal_rank, good_traces_needed, tolerance_rank


def by_search(auc: float, m: int, n: int) -> tuple[float, float]:
    """Newcombe's method 5 as it is defined: all theta within z standard errors, on a fine grid."""
    z, half = norm.ppf(0.975), (m + n) / 2 - 1
    theta = np.linspace(0, 1, 200_001)
    spread = theta * (1 - theta) * (1 + half * ((1 - theta) / (2 - theta) + theta / (1 + theta))) / (m * n)
    inside = theta[np.abs(auc - theta) <= z * np.sqrt(spread)]
    return float(inside.min()), float(inside.max())


@pytest.mark.parametrize(("m", "n"), [(1, 1), (8, 12), (25, 25), (358, 35)])
@pytest.mark.parametrize("auc", [0.0, 0.03, 0.5, 0.7, 0.97, 1.0])
def test_method_5_equals_a_search_over_a_grid(auc, m, n):
    low, high = by_search(auc, m, n)
    assert newcombe(auc, m, n) == (pytest.approx(low, abs=1e-5), pytest.approx(high, abs=1e-5))


def test_the_interval_of_an_area_over_no_traces_is_undefined():
    assert all(
        math.isnan(bound) for bound in (*newcombe(0.5, 0, 9), *newcombe(math.nan, 9, 9), *method5(0.5, Design(0, 0)))
    )


def test_unrelated_pairs_are_wilsons_interval():
    """Without shared traces the standard error is a proportion's: method 5 must then be Wilson's score interval."""
    assert method5(0.3, Design(40, 0)) == pytest.approx(proportion(12, 40))


def test_the_difference_to_a_constant_is_the_interval_moved():
    assert difference(0.8, 0.5, (0.6, 0.9), (0.5, 0.5), 0.3) == pytest.approx((0.1, 0.4))


def test_the_difference_of_a_score_to_itself_is_nothing():
    low, high = difference(0.8, 0.8, (0.6, 0.9), (0.6, 0.9), 1.0)
    assert (low, high) == pytest.approx((-0.1, 0.1))  # skewed intervals cancel but for their skew


def test_whole_groups_are_drawn():
    weights = cluster_weights(["a", "b", "a", "c"], draws=500, seed=3)
    assert (weights[0] == weights[2]).all()
    assert set((weights[0] + weights[1] + weights[3]).tolist()) == {3}
    assert abs(weights.mean(axis=1) - 1).max() < 0.15
    assert (weights == cluster_weights(["a", "b", "a", "c"], draws=500, seed=3)).all()


def test_no_traces_draw_nothing():
    assert cluster_weights([], draws=4, seed=0).shape == (0, 4)


def test_percentile_leaves_undefined_draws_out():
    assert percentile(np.array([np.nan, 0.0, 1.0, 2.0, 3.0, 4.0]), 0.5) == (1.0, 3.0)
    assert all(math.isnan(bound) for bound in percentile(np.array([np.nan])))


@pytest.mark.parametrize("limit", [0.01, 0.05, 0.1, 0.2, 0.3, 0.07])
@pytest.mark.parametrize("n", [0, 1, 9, 19, 39, 99, 100])
def test_the_conformal_rank_in_exact_fractions(n, limit):
    """Smallest k whose promise holds: a new trace lies above the k-th of n with chance (n + 1 - k) / (n + 1)."""
    share = Fraction(str(limit))
    kept = [k for k in range(1, n + 1) if Fraction(n + 1 - k, n + 1) <= share]
    assert conformal_rank(n, limit) == (kept[0] if kept else None)


@pytest.mark.parametrize(
    ("limit", "mean", "ninety", "ninety_five", "hundred_cells"),
    [(0.01, 99, 230, 299, 688), (0.05, 19, 45, 59, 135), (0.1, 9, 22, 29, 66), (0.2, 4, 11, 14, 31)],
)
def test_good_traces_needed_as_published(limit, mean, ninety, ninety_five, hundred_cells):
    found = [good_traces_needed(limit, risk) for risk in (None, 0.1, 0.05, 0.001)]
    assert found == [mean, ninety, ninety_five, hundred_cells]
    for risk, n in zip((0.1, 0.05, 0.001), found[1:], strict=True):
        assert tolerance_rank(n, limit, risk) == n
        assert tolerance_rank(n - 1, limit, risk) is None
    assert conformal_rank(mean, limit) is not None
    assert conformal_rank(mean - 1, limit) is None


@given(st.integers(1, 60), st.sampled_from([0.05, 0.1, 0.2, 0.5]), st.sampled_from([0.05, 0.1]))
def test_the_tolerance_rank_is_the_smallest_that_holds(n, limit, risk):
    def chance(k: int) -> float:
        return sum(math.comb(n, j) * (1 - limit) ** j * limit ** (n - j) for j in range(k, n + 1))

    kept = [k for k in range(1, n + 1) if chance(k) <= risk]
    assert tolerance_rank(n, limit, risk) == (kept[0] if kept else None)


@pytest.mark.parametrize("limit", [0, 1, -0.1, 1.5])
def test_a_limit_outside_0_and_1_is_named(limit):
    with pytest.raises(InputError, match="between 0 and 1, got"):
        conformal_rank(20, limit)


def test_clopper_pearson_is_never_below_nominal():
    n, share = 30, 0.1
    covered = [low <= share <= high for low, high in (proportion(k, n, "beta") for k in range(n + 1))]
    weights = [math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]
    assert sum(w for w, inside in zip(weights, covered, strict=True) if inside) >= 0.95


def test_one_trace_a_problem_is_worth_itself():
    flags = [True] * 3 + [False] * 7
    assert effective(flags, range(10)) == 10
    assert clustered(flags, range(10)) == proportion(3, 10)


def test_runs_that_repeat_their_problem_are_worth_one():
    flags = [True] * 12 + [False] * 28
    groups = [k // 4 for k in range(40)]
    assert effective(flags, groups) == pytest.approx(9, abs=0.1)  # 10 problems, one degree of freedom


def test_runs_unlike_their_problem_are_worth_no_more_than_themselves():
    assert effective([True, False] * 10, [k // 2 for k in range(20)]) == 20


def test_equal_flags_count_problems():
    assert effective([False] * 40, [k // 4 for k in range(40)]) == 10
    assert clustered([False] * 40, [k // 4 for k in range(40)], "beta")[1] == pytest.approx(
        proportion(0, 10, "beta")[1]
    )


def test_a_share_of_nothing_is_undefined():
    assert all(math.isnan(bound) for bound in clustered([], []))
