"""Whether it pays: prices, break-even, words."""

import math

import numpy as np
import pytest
from studies import COLUMN, drawn

from driftlab.detectors import Plateau, Run, first_alarms
from driftlab.evaluation.tally import Labels, Tally, curve, tally
from driftlab.tuning.advice import advice, cost_curve
from driftlab.tuning.objective import Price

GOOD = Tally(30, 2, 0, 8, 1, 59, 0, 120, 400, 5, 500, 3.0)
NAN = float("nan")


def test_the_cost_curve_earns_what_a_tally_earns_and_ends_with_nothing():
    measured, plateau, price = drawn(0, 20, 30), Plateau(COLUMN, Run(1)), Price(4, 1, 0.2)
    labels, scores = Labels.of(measured.infos, measured.lengths), plateau.scores(measured)
    table = cost_curve(curve(scores, measured.offsets, labels), price)
    for place in (0, len(table) // 2, len(table) - 2):
        row = table.iloc[place]
        found = tally(first_alarms(scores, measured.offsets, row.threshold), labels)
        assert row.earned == pytest.approx(float(price(found)))
    assert table.iloc[-1].tolist() == [math.inf, 0.0, 0.0, 0.0, 0.0]


def test_what_no_trace_tells_earns_nan_and_has_no_rate():
    nothing = Tally(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NAN)
    assert math.isnan(float(Price(4, 1, 0.2)(nothing)))
    measured = drawn(0, 0, 5)
    labels, scores = Labels.of(measured.infos, measured.lengths), Plateau(COLUMN, Run(1)).scores(measured)
    last = cost_curve(curve(scores, measured.offsets, labels), Price(4, 1, 0.2)).iloc[-1]
    assert (last.earned, last.false_stop_rate) == (0, 0)
    assert np.isnan([last.recall, last.saved]).all()


@pytest.mark.parametrize(
    ("verdict", "found", "options", "words"),
    [
        ("not better than steps", GOOD, {}, "not better than steps"),
        ("circular: exact made the label", GOOD, {}, "labels it did not make"),
        ("undefined: no good traces", GOOD, {}, "no good traces"),
        ("beats steps and placebo; may be explained by setup", GOOD, {}, "may be explained by setup"),
        ("beats steps and placebo; cannot be told from setup", GOOD, {}, "cannot be told from setup"),
        ("", GOOD, {"blind": "3 more needed"}, "the rule can only watch: 3 more needed"),
        ("", Tally(0, 0, 0, 9, 0, 9, 0, 0, 90, 0, 90, NAN), {}, "none of 9 stalls"),
        ("", Tally(0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 90, NAN), {}, "no stalled trace"),
        ("", Tally(9, 0, 0, 0, 0, 0, 0, 50, 90, 0, 0, 2.0), {}, "no good trace"),
        ("", Tally(9, 0, 0, 1, 0, 9, 0, 4, 100, 0, 90, 8.0), {}, "4.0% of stalled steps"),
        ("", Tally(5, 0, 0, 5, 6, 4, 0, 30, 100, 9, 90, 1.0), {}, "stops 60% of good runs"),
        ("", Tally(3, 6, 0, 1, 0, 9, 0, 30, 100, 0, 90, 1.0), {}, "convergence is slow"),
        ("", GOOD, {"precision": 0.3}, "flag instead"),
        ("", Tally(9, 0, 0, 1, 8, 2, 0, 30, 100, 99, 90, 1.0), {}, "loses 99 steps of good traces and saves 30"),
        (
            "",
            Tally(9, 0, 0, 1, 9, 20, 0, 30, 100, 0, 90, 1.0),
            {"limit": 0.05},
            "9 of 29 good traces stopped",
        ),
        ("", Tally(9, 0, 0, 1, 0, 9, 0, 30, 100, 0, 90, 1.0), {"cap": 0.3}, "counting steps does as well"),
        ("", GOOD, {"luck": "0.1 [-0.1, 0.3]"}, "this may be luck: 0.1 [-0.1, 0.3]"),
        ("", GOOD, {"price": Price(500, 1)}, "at 500 a false stop and 1 a step it earns -"),
        ("unreachable: patience 9 > horizon 8", GOOD, {}, "unreachable"),
    ],
)
def test_do_not_deploy_is_a_plain_answer(verdict, found, options, words):
    deploy, reasons = advice(verdict, found, **options)
    assert not deploy
    assert any(words in reason for reason in reasons)
    assert all(reason.startswith("do not") for reason in reasons)


def test_deploy_is_one_too():
    deploy, reasons = advice("beats steps and placebo; not explained by setup", GOOD, precision=0.8)
    assert deploy
    assert reasons == ("deploy: 30 of 40 stalls hit, 30% of their steps saved",)
