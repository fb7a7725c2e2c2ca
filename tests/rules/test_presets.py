"""The default policy: the shared cases, variants of their kinds, real good runs."""

import importlib.util
import json

import pytest
import variants
from places import ROOT, needs_shared

from driftlab._util.errors import InputError
from driftlab.evaluation.tally import Labels, outcomes
from driftlab.metrics.measurements import measure
from driftlab.rules.presets.default import PRESETS, default_policy

SEEDS = range(6)


def outcomes_of(policy, traces):
    measured = measure(policy.prepared(traces), policy.needs)
    alarms, _ = policy.alarms(measured)
    return outcomes(alarms, Labels.of(measured.infos, measured.lengths)).tolist()


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", variants.GOOD, ids=lambda kind: kind.__name__)
def test_good_variants_pass(kind, preset):
    runs = [variants.good_run(kind, seed) for seed in SEEDS]
    assert outcomes_of(default_policy(preset), runs) == ["pass"] * len(SEEDS)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", variants.STALLED, ids=lambda kind: kind.__name__)
def test_stalled_variants_are_hit(kind, preset):
    runs = [variants.stalled_run(kind, seed) for seed in SEEDS]
    assert outcomes_of(default_policy(preset), runs) == ["hit"] * len(SEEDS)


def test_a_preset_is_one_of_three():
    with pytest.raises(InputError, match="unknown preset 'save'; did you mean 'safe'"):
        default_policy("save")


def test_presets_are_ordered():
    for trace in [variants.stalled_run(kind, 1) for kind in variants.STALLED]:
        first = []
        for preset in ("eager", "default", "safe"):
            policy = default_policy(preset)
            first.append(int(policy.alarms(measure([trace], policy.needs))[0][0]))
        assert first == sorted(first)


def benchmark():
    spec = importlib.util.spec_from_file_location("benchmark_cases", ROOT / "benchmarks" / "cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_shared
def test_the_shared_pairs_are_solved():
    cases = benchmark()
    with_signals = cases.judged(default_policy(), cases.cases())
    assert len(with_signals.solved) >= cases.PAIRS_FLOOR
    assert len(with_signals.stopped) <= cases.STOPPED_LIMIT
    assert json.loads(cases.PAIRS.read_text())["pairs"]


@needs_shared
@pytest.mark.parametrize("row", range(4))
def test_real_good_runs_are_left_alone(row):
    cases = benchmark()
    found = cases.real_good(*cases.REAL[row])
    assert found.stopped <= found.limit
