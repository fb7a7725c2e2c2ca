"""Ranking at equal age against double loops and scikit-learn."""

import math

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve
from studies import Run, labels_of, runs

from driftlab.evaluation import bootstrap as drawn
from driftlab.evaluation.bootstrap import Bootstrap
from driftlab.evaluation.labels import Labels
from driftlab.evaluation.ranking import Ranking, Stratum
from driftlab.evaluation.stats import cluster_weights
from driftlab.evaluation.strata import equal_age, horizon, landmark, matched, whole_trace

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=8)


@given(runs(), st.integers(1, 4))
def test_the_area_at_equal_age_equals_a_double_loop(found: list[Run], width: int):
    labels, scores, offsets = labels_of(found)
    ranking = equal_age(labels, width)
    area, compared, good = naive.auc_at_equal_age(found, width)
    np.testing.assert_allclose(ranking.auc(scores, offsets), area)
    assert (ranking.n_stalled, len(ranking.good)) == (compared, good)


@given(runs(), st.integers(1, 4))
def test_the_area_under_the_curve_equals_the_area(found: list[Run], width: int):
    labels, scores, offsets = labels_of(found)
    ranking = equal_age(labels, width)
    share, recall = ranking.roc(scores, offsets)
    if not ranking.strata:
        assert len(share) == 0
        return
    assert (np.diff(share) >= 0).all()
    assert (np.diff(recall) >= -1e-12).all()
    assert np.trapezoid(recall, share) == pytest.approx(ranking.auc(scores, offsets))


@given(SCORES, SCORES)
def test_one_stratum_agrees_with_scikit_learn(stalled, good):
    ranking = Ranking((Stratum(np.arange(len(stalled)), np.arange(len(good)) + len(stalled), 0, 1),))
    scores, offsets = np.array(stalled + good), np.arange(len(stalled) + len(good) + 1)
    kind = [1] * len(stalled) + [0] * len(good)
    assert ranking.auc(scores, offsets) == pytest.approx(roc_auc_score(kind, scores))
    false, true, _ = roc_curve(kind, scores, drop_intermediate=False)
    share, recall = ranking.roc(scores, offsets)
    np.testing.assert_allclose(np.interp(GRID, share, recall), np.interp(GRID, false, true), atol=1e-12)


GRID = np.linspace(0.001, 0.999, 37)  # between the corners: at a jump either end is right


@given(SCORES, SCORES, st.booleans())
def test_the_area_of_a_draw_is_that_of_the_drawn_traces(stalled, good, by_pair):
    m, n = len(stalled), len(good)
    ranking = Ranking((Stratum(np.arange(m), np.arange(m, m + n), 0, 1),), by_pair)
    scores, offsets = np.array(stalled + good), np.arange(m + n + 1)
    weights = cluster_weights([k // 2 for k in range(m + n)], 20, 0)
    found = Bootstrap(ranking, weights).areas(ranking.compared(scores, offsets))
    for place, own in enumerate(weights.T.astype(int)):
        expected = naive.auc(*(np.repeat(*each).tolist() for each in ((scores[:m], own[:m]), (scores[m:], own[m:]))))
        np.testing.assert_allclose(found[place], expected)


@given(runs(max_size=8), st.integers(1, 3), st.booleans())
def test_the_mean_of_several_scores_draws_as_each_alone(found: list[Run], width: int, by_pair: bool):
    labels, scores, offsets = labels_of(found)
    ranking = Ranking(equal_age(labels, width).strata, by_pair)
    many = np.array([scores, scores[::-1], np.round(scores)])
    weights = cluster_weights(range(len(found)), 12, 1)
    resampled = Bootstrap(ranking, weights)
    expected = np.mean([resampled.areas(ranking.compared(each, offsets)) for each in many], axis=0)
    compared = ranking.compared(many, offsets)
    np.testing.assert_allclose(resampled.areas(compared), expected)
    if ranking.strata:
        np.testing.assert_allclose(ranking.areas(compared), [ranking.auc(each, offsets) for each in many])


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 9), st.integers(1, 9))
def test_a_table_and_an_order_count_the_same_pairs(seed: int, scores: int, stalled: int, good: int):
    random = np.random.default_rng(seed)
    high, low = (random.integers(4, size=(scores, n)) / 4 for n in (stalled, good))
    own, heavy = (random.integers(4, size=(n, 6)).astype(np.float32) for n in (stalled, good))
    expected = [naive.pairs_won(high, low, own[:, draw], heavy[:, draw]) for draw in range(6)]
    np.testing.assert_allclose(drawn._by_order(high, low, own, heavy), expected, rtol=1e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawn, "TABLE", 2)  # one row of the table at a time
        np.testing.assert_allclose(drawn._by_table(high, low, own, heavy), expected, rtol=1e-6)


def test_copies_for_every_onset_are_not_kept():
    """Nearly all good traces are compared at every onset: copies of their weights would outgrow all else."""
    found = [("stalled", (n, n + 1), [n / 9] * 9) for n in range(8)] + [("good", None, [0.4] * 9)] * 30
    labels, scores, offsets = labels_of(found)
    ranking, weights = equal_age(labels, 1), cluster_weights(range(len(found)), 12, 1)
    many, one = Bootstrap(ranking, weights), Bootstrap(whole_trace(labels), weights)
    assert (many._kept, len(one._kept or ())) == (None, 1)
    each = [Bootstrap(Ranking((stratum,)), weights) for stratum in ranking.strata]
    compared = ranking.compared(scores, offsets)
    parts = np.array([own.areas([pair]) for own, pair in zip(each, compared, strict=True)])
    heavy = np.array([weights[stratum.stalled].sum(axis=0) for stratum in ranking.strata])
    expected = np.nansum(parts * heavy, axis=0) / heavy.sum(axis=0)
    np.testing.assert_allclose(many.areas(compared), expected)


def test_each_stalled_trace_counts_once_or_each_pair_once():
    # One stalled trace beats its only peer, another loses to all three of its own.
    strata = (Stratum(np.array([0]), np.array([1]), 0, 1), Stratum(np.array([2]), np.array([3, 4, 5]), 0, 1))
    scores, offsets = np.array([1, 0, 0, 1, 1, 1.0]), np.arange(7)
    assert Ranking(strata).auc(scores, offsets) == 0.5
    assert Ranking(strata, by_pair=True).auc(scores, offsets) == 0.25


def test_all_scores_equal_rank_at_one_half():
    labels, scores, offsets = labels_of([("stalled", (0, 2), [0.5, 0.5]), ("good", None, [0.5, 0.5])])
    assert equal_age(labels, 2).auc(scores, offsets) == 0.5


@pytest.mark.parametrize("label", ["stalled", "good"])
def test_one_class_alone_ranks_nothing(label):
    labels, scores, offsets = labels_of([(label, (0, 1) if label == "stalled" else None, [0.5])])
    for ranking in (equal_age(labels, 1), whole_trace(labels), landmark(labels, 1), matched(labels)):
        assert math.isnan(ranking.auc(scores, offsets))
        assert ranking.n_pairs == 0


def test_zero_traces_rank_nothing():
    labels, scores, offsets = labels_of([])
    assert math.isnan(whole_trace(labels).auc(scores, offsets))
    assert horizon(labels) is None


def test_a_trace_without_steps_is_compared_with_nobody():
    labels, scores, offsets = labels_of([("good", None, []), ("stalled", (0, 1), [0.5]), ("good", None, [0.25])])
    assert whole_trace(labels).good.tolist() == [2]
    assert whole_trace(labels).auc(scores, offsets) == 1.0


@st.composite
def lengths(draw: st.DrawFn) -> list[Run]:
    """Enough runs that a horizon may exist, of lengths around it."""
    stalled = draw(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 14)), min_size=1, max_size=6))
    good = draw(st.lists(st.integers(1, 22), min_size=18, max_size=26))
    out: list[Run] = [("stalled", (start, start + more), [0.0] * (start + more)) for start, more in stalled]
    return out + [("good", None, [0.0] * n) for n in good]


@given(lengths())
def test_the_horizon_equals_a_search(found: list[Run]):
    assert horizon(labels_of(found)[0]) == naive.horizon(found)


@pytest.mark.parametrize(("goods", "expected"), [(19, None), (20, 8)])
def test_the_horizon_needs_20_good_traces(goods, expected):
    found: list[Run] = [("stalled", (1, 30), [0.0] * 30)] + [("good", None, [0.0] * 9)] * goods
    assert horizon(labels_of(found)[0]) == expected


@pytest.mark.parametrize(("short", "expected"), [(1, 16), (2, 3)])
def test_the_horizon_keeps_80_percent_of_the_stalled(short, expected):
    """One of five may be too short for H = 16; two may not."""
    stalled: list[Run] = [("stalled", (0, 3), [0.0] * 3)] * short + [("stalled", (0, 20), [0.0] * 20)] * (5 - short)
    assert horizon(labels_of(stalled + [("good", None, [0.0] * 20)] * 20)[0]) == expected


def test_length_matched_pairs_are_those_within_the_tolerance():
    found: list[Run] = [("stalled", (0, n), [0.0] * n) for n in (5, 9)] + [
        ("good", None, [0.0] * n) for n in (3, 7, 8, 12)
    ]
    expected = sum(abs(a - b) <= 2 for a in (5, 9) for b in (3, 7, 8, 12))
    assert matched(labels_of(found)[0]).n_pairs == expected == 4


def test_runs_are_compared_within_equal_keys_only():
    found: list[Run] = [
        ("stalled", (0, 1), [0.5]),
        ("stalled", (0, 1), [1.0]),
        ("good", None, [0.75]),
        ("good", None, [0.0]),
    ]
    labels, scores, offsets = labels_of(found)
    ranking = whole_trace(labels).within(["x", "y", "x", "z"])
    assert (ranking.n_stalled, ranking.n_pairs, ranking.auc(scores, offsets)) == (1, 1, 0.0)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=9), st.booleans())
def test_the_design_of_pairs_equals_its_definition(units, by_pair):
    half = len(units) // 2 or 1
    strata = (Stratum(np.arange(half), np.arange(half, len(units)), 0, 1),)
    strata += (Stratum(np.array([0]), np.arange(half, half + 1), 0, 1),)
    found = Ranking(strata, by_pair).design(units)
    weight: dict[tuple[int, int], float] = {}
    for s in strata:
        for i in s.stalled:
            for j in s.good:
                key = (units[i], units[j])
                weight[key] = weight.get(key, 0.0) + (1 if by_pair else 1 / len(s.good))
    total = sum(weight.values())
    squares = sum((w / total) ** 2 for w in weight.values())
    shared = [
        sum(sum(w / total for key, w in weight.items() if key[side] == unit) ** 2 for unit in set(units)) - squares
        for side in (0, 1)
    ]
    assert found.pairs == pytest.approx(1 / squares)
    assert found.shared == pytest.approx(sum(shared) / 2 / squares)


def test_the_design_of_all_pairs_is_newcombes():
    labels = Labels.of([], np.zeros(0, dtype=np.int64))
    assert Ranking(()).design([]).pairs == 0
    assert whole_trace(labels).n_pairs == 0
    found = Ranking((Stratum(np.arange(8), np.arange(8, 20), 0, 1),)).design(range(20))
    assert (found.pairs, found.shared) == (pytest.approx(96), pytest.approx(9))
