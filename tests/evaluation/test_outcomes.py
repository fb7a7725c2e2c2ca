"""Outcomes of first alarms: edges on both sides, counts against a plain loop."""

import math

import naive
import numpy as np
import pytest
from hypothesis import given
from studies import Run, labels_of, runs

from driftlab.detectors import first_alarms
from driftlab.evaluation.tally import Labels, Tally, delays_of, outcomes, tally
from driftlab.trace.schema import Span, TraceInfo

LENGTH = 9


@pytest.mark.parametrize(
    ("onset", "end", "alarm", "expected"),
    [
        (3, None, None, "miss"),
        (3, None, 0, "premature"),
        (3, None, 2, "premature"),
        (3, None, 3, "hit"),
        (3, None, 8, "hit"),
        (3, 6, 5, "hit"),
        (3, 6, 6, "late"),
        (3, 6, 8, "late"),
        (0, None, 0, "hit"),
        (0, 1, 0, "hit"),
        (0, 1, 1, "late"),
        (8, None, 8, "hit"),
        (8, None, 7, "premature"),
    ],
)
def test_a_first_alarm_is_judged_against_the_half_open_span(onset, end, alarm, expected):
    info = TraceInfo(id="a", label="stalled", stalls=(Span(onset, end),))
    labels = Labels.of([info], np.array([LENGTH]))
    assert outcomes(np.array([-1 if alarm is None else alarm]), labels).tolist() == [expected]


@pytest.mark.parametrize(("alarm", "expected"), [(-1, "pass"), (0, "false stop"), (8, "false stop")])
def test_on_a_good_trace_any_alarm_is_a_false_stop(alarm, expected):
    labels = Labels.of([TraceInfo(id="a", label="good")], np.array([LENGTH]))
    assert outcomes(np.array([alarm]), labels).tolist() == [expected]


@pytest.mark.parametrize(
    "info", [TraceInfo(id="a"), TraceInfo(id="a", label="unsure"), TraceInfo(id="a", label="stalled")]
)
def test_a_trace_without_a_usable_label_is_in_no_rate(info):
    labels = Labels.of([info], np.array([LENGTH]))
    found = tally(np.array([4]), labels)
    assert outcomes(np.array([4]), labels).tolist() == ["none"]
    assert (found.n_stalled, found.n_good) == (0, 0)


def test_only_the_first_of_several_stalls_is_judged():
    info = TraceInfo(id="a", label="stalled", stalls=(Span(6, 8), Span(1, 3)))
    assert outcomes(np.array([6]), Labels.of([info], np.array([LENGTH]))).tolist() == ["late"]


@given(runs())
def test_outcomes_and_tally_equal_a_plain_loop(found: list[Run]):
    labels, scores, offsets = labels_of(found)
    for threshold in (0.25, 0.5, 1.0):
        alarms = first_alarms(scores, offsets, threshold)
        plain = [naive.first_alarm(own, threshold) for *_, own in found]
        assert alarms.tolist() == [-1 if t is None else t for t in plain]
        named = [naive.outcome(label, span, t) for (label, span, _), t in zip(found, plain, strict=True)]
        assert outcomes(alarms, labels).tolist() == named
        counted = tally(alarms, labels, patience=2)
        names = ("hit", "premature", "late", "miss", "false stop", "pass")
        counts = (counted.hit, counted.premature, counted.late, counted.miss, counted.false_stop, counted.passed)
        assert counts == tuple(named.count(name) for name in names)
        saved = [len(own) - 1 - t for (_, _, own), t, name in zip(found, plain, named, strict=True) if name == "hit"]
        assert counted.saved_steps == sum(saved)
        assert counted.undetectable == sum(span is not None and span[1] - span[0] < 2 for _, span, _ in found)


def test_steps_are_saved_wasted_or_lost_and_nothing_else():
    infos = [
        TraceInfo(id="hit", label="stalled", stalls=(Span(2),)),
        TraceInfo(id="miss", label="stalled", stalls=(Span(4, 7),)),
        TraceInfo(id="early", label="stalled", stalls=(Span(5),)),
        TraceInfo(id="stopped", label="good"),
        TraceInfo(id="passed", label="good"),
    ]
    found = tally(np.array([4, -1, 1, 6, -1]), Labels.of(infos, np.array([10, 10, 10, 10, 6])))
    assert (found.saved_steps, found.stalled_steps) == (5, 30)
    assert found.wasted_steps == 3 + 3  # steps 2, 3, 4 of the hit; the whole stall of the miss
    assert (found.lost_steps, found.good_steps) == (3, 16)
    assert found.false_stops_per_100 == pytest.approx(100 / 13)  # 7 steps were watched of one, 6 of the other
    assert found.delay == found.mean_delay == 2


def test_attainable_recall_leaves_out_stalls_shorter_than_the_patience():
    infos = [TraceInfo(id=str(n), label="stalled", stalls=(Span(n),)) for n in (0, 5, 8)]
    assert [tally(np.full(3, -1), Labels.of(infos, np.full(3, 9)), p).attainable for p in (1, 2, 4, 9)] == [
        1.0,
        pytest.approx(2 / 3),
        pytest.approx(2 / 3),
        pytest.approx(1 / 3),
    ]


def test_rates_over_nothing_are_nan_and_the_counts_say_why():
    found = tally(np.zeros(0, dtype=np.int64), Labels.of([], np.zeros(0, dtype=np.int64)))
    assert all(
        math.isnan(getattr(found, name)) for name in ("precision", "recall", "saved", "false_stop_rate", "delay")
    )
    assert (found.n_stalled, found.n_good) == (0, 0)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.44, 1.0])
def test_precision_at_a_prevalence_is_bayes(share):
    found = Tally(6, 1, 1, 2, 3, 27, 0, 0, 0, 0, 0, 0.0)
    alarms = share * 0.8 + (1 - share) * 0.1
    assert found.precision_at(share) == pytest.approx(share * 0.6 / alarms)


def test_precision_at_its_own_prevalence_is_the_precision():
    found = Tally(6, 1, 1, 2, 3, 27, 0, 0, 0, 0, 0, 0.0)
    assert found.precision_at(10 / 40) == pytest.approx(found.precision)


def test_delays_are_of_hits_alone():
    infos = [TraceInfo(id=str(n), label="stalled", stalls=(Span(2),)) for n in range(3)]
    assert delays_of(np.array([1, 2, 6]), Labels.of(infos, np.full(3, 9))).tolist() == [0, 4]
