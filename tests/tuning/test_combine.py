"""A combination of detectors learned from traces."""

import numpy as np
import pytest
import variants

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab.detectors import Learned, detector
from driftlab.metrics.measurements import measure
from driftlab.rules.policy import StopRule
from driftlab.tuning.combine import PARTS, PROBLEMS, combine

FEW = ("stuck", "redo(3)", "plateau(novelty(mask='volatile'), run(1))")


def corpus(seeds):
    kinds = [variants.noisy_cycle, variants.noisy_error, variants.exploring, variants.three_step_batch]
    make = {True: variants.stalled_run, False: variants.good_run}
    runs = [make[kind in variants.STALLED](kind, seed) for kind in kinds for seed in seeds]
    return [run.replace(problem=run.id, source="made-up") for run in runs]


def learned():
    with pytest.warns(DriftlabWarning, match="learned on made-up"):
        return combine(corpus(range(30)), FEW)


def test_it_tells_new_runs_apart_and_is_plain_numbers(tmp_path):
    found = learned()
    assert isinstance(found, Learned)
    assert all(type(weight) is float for weight in (*found.now, *found.faded, found.bias))
    assert detector(found.full()) == found
    rule = StopRule(found, 0.5)
    rule.save(tmp_path / "rule.toml")
    assert StopRule.load(tmp_path / "rule.toml") == rule
    new = corpus(range(100, 110))
    scores = found.scores(measured := measure(new, found.needs))
    peaks = np.maximum.reduceat(scores, measured.offsets[:-1])
    stalled = np.array([run.label == "stalled" for run in new])
    assert (peaks[stalled][:, None] > peaks[~stalled]).mean() > 0.9


def test_it_is_deterministic():
    assert learned() == learned()


def test_too_few_problems_are_refused():
    with pytest.raises(InputError, match=f"labelled traces of {PROBLEMS} problems, got 8; use 'stuck'"):
        combine(corpus(range(2)), FEW)
    same = [run.replace(problem="one", task="code") for run in corpus(range(30))]
    with pytest.raises(InputError, match="got 1;"):
        combine(same, FEW)


def test_one_class_is_refused():
    with pytest.raises(InputError, match="nothing to tell apart"):
        combine([run for run in corpus(range(60)) if run.label == "good"], FEW)


def test_a_hidden_signal_may_not_be_read():
    with pytest.raises(InputError, match="reads a signal that is hidden"):
        combine(corpus(range(30)), (*FEW, "flat(3)"), hidden=["p"])


def test_the_shipped_parts_are_detectors_that_read_no_signal():
    assert len(PARTS) == 20
    assert all(getattr(column, "signal", None) is None for part in PARTS for column in detector(part).needs)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"now": ()}, "two weights for each"),
        ({"bias": float("nan")}, "finite"),
        ({"decay": 1.0}, "decay must be in"),
        ({"parts": (), "now": (), "faded": ()}, "needs parts"),
    ],
)
def test_what_it_does_not_allow(keys, message):
    with pytest.raises(InputError, match=message):
        Learned(**{"parts": (detector("stuck"),), "now": (1.0,), "faded": (1.0,), "bias": 0.0} | keys)
