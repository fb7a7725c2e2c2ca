"""Operating points, risk by step, tokens and seconds."""

import math

import numpy as np
import pytest
from studies import COLUMN, drawn, study

from driftlab._util.errors import InputError
from driftlab.detectors import Plateau, Run, first_alarms
from driftlab.evaluation.cost import cost
from driftlab.evaluation.labels import Labels
from driftlab.evaluation.operating_point import operating_point, per_100, risk
from driftlab.evaluation.stats import proportion
from driftlab.metrics.columns.spent import UNITS, Spent
from driftlab.metrics.measurements import measure
from driftlab.trace.schema import Span, Step, Trace, TraceInfo

PLATEAU = Plateau(COLUMN, Run(2))


def test_a_point_quotes_wilson_where_traces_are_independent():
    measured = drawn(0, 30, 50)
    found = operating_point(measured, PLATEAU.scores(measured), PLATEAU, 0.6)
    hits, stops = round(found["recall"] * 30), round(found["false_stop_rate"] * 50)
    assert (found["recall_low"], found["recall_high"]) == pytest.approx(proportion(hits, 30))
    assert (found["false_stop_rate_low"], found["false_stop_rate_high"]) == pytest.approx(proportion(stops, 50))
    assert found["prevalence"] == 30 / 80
    assert found["precision_at"] == pytest.approx(found["precision"])


def test_runs_of_one_problem_widen_its_intervals():
    rows = [[0.9] * 5] * 20 + [[0.1] * 5] * 20
    alone = study([], rows)
    alike = study([], rows, problem=[str(n // 10) for n in range(40)])
    wide, narrow = (operating_point(each, PLATEAU.scores(each), PLATEAU, 0.5) for each in (alike, alone))
    assert wide["false_stop_rate"] == narrow["false_stop_rate"] == 0.5
    assert wide["false_stop_rate_high"] > narrow["false_stop_rate_high"] + 0.1


def test_never_stopping_saves_and_wrongs_nothing():
    measured = drawn(0, 5, 5)
    found = operating_point(measured, PLATEAU.scores(measured), PLATEAU, math.inf)
    assert (found["recall"], found["saved"], found["false_stop_rate"], found["miss"]) == (0.0, 0.0, 0.0, 5)
    assert math.isnan(found["precision"])
    assert found["wasted_steps"] == 45


def test_one_class_only_leaves_its_rates_undefined():
    measured = study([], [[0.5] * 4] * 3)
    found = operating_point(measured, PLATEAU.scores(measured), PLATEAU, 0.9)
    assert all(math.isnan(found[name]) for name in ("recall", "recall_low", "saved", "attainable", "delay", "delay_90"))
    assert (found["n_stalled"], found["n_good"]) == (0, 3)


@pytest.mark.parametrize(("count", "steps", "low", "high"), [(0, 300, 0.0, 100 * 3.689 / 300), (2, 400, 0.0606, 1.806)])
def test_false_stops_per_100_steps_have_the_exact_poisson_interval(count, steps, low, high):
    found = list(per_100(count, steps).values())
    assert found == [100 * count / steps, pytest.approx(low, abs=1e-3), pytest.approx(high, abs=1e-3)]


def test_nothing_watched_is_undefined():
    assert all(math.isnan(value) for value in per_100(0, 0).values())


def by_hand(alarms, lengths):
    """Kaplan-Meier by its definition: a run that ended is at risk through its last step."""
    survived, out = 1.0, []
    for t in sorted({a for a in alarms if a >= 0}):
        at_risk = sum((a if a >= 0 else n - 1) >= t for a, n in zip(alarms, lengths, strict=True))
        survived *= 1 - sum(a == t for a in alarms) / at_risk
        out.append([t, at_risk, 1 - survived])
    return out


def test_the_risk_by_step_equals_its_definition():
    random = np.random.default_rng(0)
    lengths = random.integers(1, 15, 60)
    alarms = np.where(random.random(60) < 0.4, random.integers(0, 15, 60) % lengths, -1)
    labels = Labels.of([TraceInfo(id=str(n), label="good") for n in range(60)], lengths)
    table = risk(alarms, labels)
    np.testing.assert_allclose(
        table[["step", "at_risk", "risk"]].to_numpy(), by_hand(alarms.tolist(), lengths.tolist())
    )
    assert ((table.low <= table.risk) & (table.risk <= table.high)).all()


def test_the_risk_without_a_false_stop_is_an_empty_table():
    labels = Labels.of([TraceInfo(id="a", label="good")], np.array([3]))
    assert list(risk(np.array([-1]), labels).columns) == ["step", "at_risk", "risk", "low", "high"]
    assert len(risk(np.array([-1]), labels)) == 0


def test_tokens_and_seconds_are_billed_as_steps_are():
    def run(name, label, stalls, costs):
        steps = [Step(state="x", tokens=n, seconds=None if n is None else n / 10) for n in costs]
        return Trace(id=name, label=label, stalls=stalls, steps=steps)

    runs = [
        run("hit", "stalled", [Span(1)], [1, 2, 4, 8]),
        run("miss", "stalled", [Span(2, 3)], [16, 32, 64, None]),
        run("stopped", "good", [], [128, 256]),
    ]
    measured = measure(runs, map(Spent, UNITS))
    labels = Labels.of(measured.infos, measured.lengths)
    found = cost(np.array([2, -1, 0]), labels, measured, "tokens")
    assert (found.saved, found.wasted, found.lost) == (8, 2 + 4 + 64, 256)
    assert (found.stalled, found.good, found.untold) == (15 + 112, 384, 1)
    assert cost(np.array([2, -1, 0]), labels, measured, "seconds").saved == pytest.approx(0.8)


def test_what_no_step_tells_is_not_billed():
    runs = [Trace(id="a", label="good", steps=[Step(state="x")])]
    measured = measure(runs, ["exact", *map(Spent, UNITS)])
    assert cost(np.array([0]), Labels.of(measured.infos, measured.lengths), measured, "tokens") is None
    plateau = Plateau("exact", Run(1))
    assert "saved_tokens" not in operating_point(measured, plateau.scores(measured), plateau, 0.5)


def test_only_tokens_and_seconds_are_spent():
    with pytest.raises(InputError, match="unknown unit 'euros'"):
        Spent("euros")


def test_the_point_agrees_with_its_alarms():
    measured = drawn(4, 20, 20)
    scores = PLATEAU.scores(measured)
    found = operating_point(measured, scores, PLATEAU, 0.5)
    assert found["miss"] == (first_alarms(scores, measured.offsets, 0.5)[:20] < 0).sum()
