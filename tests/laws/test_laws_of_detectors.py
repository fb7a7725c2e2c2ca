"""Laws 6 to 9 and 12 over everything registered, and broken detectors that must fail them."""

import dataclasses
import pickle

import naive_detectors
import numpy as np
import pytest
import runs
from culprits import hold
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import SAMPLES, SPECS

from driftlab.detectors import DETECTORS, Detector, Plateau, Run, detector, evidence_at, score
from driftlab.metrics.measurements import measure
from driftlab.monitor.monitor import Monitor
from driftlab.rules.policy import StopRule

ids = repr
seeds, lengths = st.integers(0, 10**6), st.integers(0, 60)
some = settings(max_examples=40, deadline=None)


def law_scores(sample, trace):
    """Law 6: one float a step, finite, in [0, 1], none before `fewest` allows it."""
    scores = sample.scores(measure([trace], sample.needs))
    assert scores.shape == (len(trace.steps),)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()
    assert ((scores >= 0) & (scores <= 1)).all()
    assert sample.patience >= 1
    for threshold in np.unique(scores[scores > 0]):
        assert np.argmax(scores >= threshold) + 1 >= sample.fewest(float(threshold))


def law_causal(sample, trace):
    """Law 7: the scores of a prefix are the prefix of the scores, exactly."""
    whole = sample.scores(measure([trace], sample.needs))
    for cut in {0, 1, len(trace.steps) // 2, max(0, len(trace.steps) - 1)}:
        part = trace.replace(steps=trace.steps[:cut])
        assert sample.scores(measure([part], sample.needs)).tolist() == whole[:cut].tolist()


def law_bounded(sample, trace):
    """Law 8: the state is arrays whose shapes never change."""
    measured = measure([trace], sample.needs)
    state = sample.start(1)
    before = {name: (values.shape, values.dtype) for name, values in state.items()}
    for t in range(len(trace.steps)):
        sample.advance(state, {i: measured.deltas(i)[t : t + 1] for i in sample.needs})
        assert {name: (values.shape, values.dtype) for name, values in state.items()} == before


def law_value(sample, trace):
    """Law 9: a value: equal, hashable, picklable, its spec parses back; scoring changes nothing in it."""
    before = dataclasses.asdict(sample)
    measured = measure([trace], sample.needs)
    first, second = sample.scores(measured), sample.scores(measured)
    assert first.tolist() == second.tolist()
    assert dataclasses.asdict(sample) == before
    twin = pickle.loads(pickle.dumps(sample))
    assert twin == sample
    assert hash(twin) == hash(sample)
    assert twin.scores(measured).tolist() == first.tolist()
    for text in (repr(sample), sample.full()):
        assert detector(text) == sample


def law_elementwise(sample, trace):
    """Law 9: what else is scored does not matter."""
    others = [runs.run(7, 30), trace, runs.run(8, 5)]
    together = measure(others, sample.needs)
    scores = sample.scores(together)[together.offsets[1] : together.offsets[2]]
    assert scores.tolist() == sample.scores(measure([trace], sample.needs)).tolist()


def law_online(sample, trace):
    """Law 12: the monitor gives the same scores, bit for bit, the same alarm."""
    scores = sample.scores(measure([trace], sample.needs))
    monitor = Monitor(StopRule(sample, 0.7), trace_id=trace.id, signals=trace.signal_specs)
    online = [monitor.update(step).scores[0] for step in trace.steps]
    assert online == scores.tolist()
    fired = np.flatnonzero(scores >= 0.7)
    assert monitor.alarm == (int(fired[0]) if len(fired) else None)


def law_evidence(sample, trace):
    """Evidence is plain values: steps up to the alarm, in order; words."""
    measured = measure([trace], sample.needs)
    for t in np.flatnonzero(sample.scores(measured) >= 0.5).tolist():
        found = evidence_at(sample, measured, 0, t)
        assert all(type(step) is int for step in found.steps)
        assert list(found.steps) == sorted(set(found.steps))
        assert 0 <= found.since <= found.steps[-1] <= t
        assert found.words
        assert found.lag is None or found.lag >= 2


LAWS = [law_scores, law_causal, law_bounded, law_value, law_elementwise, law_online, law_evidence]


def test_every_registered_detector_is_sampled():
    assert {each.name for each in SAMPLES} - {"learned", "within"} == set(DETECTORS)
    assert set(naive_detectors.TWINS) == set(DETECTORS)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_laws(law):
    @some
    @given(seeds, lengths)
    def holds(seed, length):
        hold(law, SAMPLES, runs.run(seed, length))

    holds()


def law_twin(sample, trace):
    """Slow and obvious gives the same."""
    measured = measure([trace], sample.needs)
    columns = [measured.deltas(i).tolist() for i in sample.needs]
    assert sample.scores(measured).tolist() == pytest.approx(naive_detectors.scores(sample, columns), abs=1e-12)


def law_twin_within(sample, trace):
    """Slow and obvious gives the same where roles hide steps and resets start again."""
    measured = measure([trace], sample.needs)
    resets = measured.deltas(sample.needs[0]).tolist()
    columns = [measured.deltas(shown).tolist() for _, shown in sample._columns]
    expected = naive_detectors.within_scores(sample.detector, columns, resets)
    assert sample.scores(measured).tolist() == pytest.approx(expected, abs=1e-12)


@some
@given(seed=seeds, length=lengths)
def test_twins(seed, length):
    hold(law_twin, SAMPLES[: len(SPECS)], runs.run(seed, length))


@some
@given(seed=seeds, length=lengths)
def test_twins_within_a_context(seed, length):
    # Calls before a progress reset stay known to tool_entropy; the twin would call them new.
    subjects = [each for each in SAMPLES[len(SPECS) : 2 * len(SPECS)] if each.detector.name != "tool_entropy"]
    hold(law_twin_within, subjects, runs.run(seed, length))


@some
@given(seed=seeds, length=st.integers(1, 40), patience=st.integers(1, 6))
def test_repeating_the_last_step_never_lowers_a_plateau(seed, length, patience):
    trace = runs.run(seed, length)
    longer = trace.replace(steps=(*trace.steps, trace.steps[-1]))
    for accumulator in (f"run({patience})", "ewma(0.6)"):
        sample = detector(f"plateau(levenshtein, {accumulator})")
        scores = sample.scores(measure([longer], sample.needs))
        assert scores[-1] >= scores[-2]


@pytest.mark.parametrize("spec", [s for s in SPECS if "plan" not in s and "levenshtein" not in s], ids=ids)
@some
@given(seed=seeds, length=lengths)
def test_renaming_changes_nothing(spec, seed, length):
    sample = detector(spec)
    one = runs.run(seed, length)
    before, after = (sample.scores(measure([trace], sample.needs)).tolist() for trace in (one, runs.renamed(one)))
    assert before == after


def test_many_detectors_in_one_walk_equal_each_alone():
    traces = [runs.run(seed, length) for seed, length in ((1, 40), (2, 0), (3, 7), (4, 40))]
    measured = measure(traces, [i for each in SAMPLES for i in each.needs])
    together = score(measured, SAMPLES)
    for each in SAMPLES:
        assert together[each].tolist() == each.scores(measured).tolist()


class Peeking(Plateau):
    """Divides by the largest score of the run."""

    def scores(self, measurements):
        found = super().scores(measurements)
        return found / max(found.max(initial=0), 0.5)


class Undefined(Plateau):
    def advance(self, state, now):
        scores = super().advance(state, now)
        return np.where(scores == 0, np.nan, scores)


class TooHigh(Plateau):
    def advance(self, state, now):
        return 2 * super().advance(state, now)


class Mutable(Plateau):
    def advance(self, state, now):
        object.__setattr__(self, "accumulator", Run(self.accumulator.patience + 1))
        return super().advance(state, now)


class Hoarding(Plateau):
    def advance(self, state, now):
        state["all"] = np.concatenate([state.get("all", np.zeros(0)), now[self.metric]])
        return super().advance(state, now)


class Comparing(Plateau):
    """Looks at the other traces of the batch."""

    def advance(self, state, now):
        scores = super().advance(state, now)
        return np.full(len(scores), scores.mean())


class Impatient(Plateau):
    def fewest(self, threshold):
        return 40.0


class Forgetful(Plateau):
    """Counts for itself instead of in the state, so that one run reaches into the next."""

    _steps = 0

    def advance(self, state, now):
        Forgetful._steps += 1
        return super().advance(state, now) * (Forgetful._steps % 2)


class Mumbling(Plateau):
    def evidence(self, columns, t):
        return dataclasses.replace(super().evidence(columns, t), steps=(t + 1,))


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (Peeking, law_causal),
        (Undefined, law_scores),
        (TooHigh, law_scores),
        (Impatient, law_scores),
        (Mutable, law_value),
        (Forgetful, law_value),
        (Hoarding, law_bounded),
        (Comparing, law_elementwise),
        (Peeking, law_online),
        (Mumbling, law_evidence),
    ],
)
def test_broken_detectors_fail(broken, law):
    traces = [runs.run(seed, 40) for seed in range(20)]
    sample = broken("levenshtein", Run(2))
    for trace in traces:
        law(Plateau("levenshtein", Run(2)), trace)
    assert any(breaks(law, sample, trace) for trace in traces)


def breaks(law, sample, trace):
    try:
        law(sample, trace)
    except (AssertionError, KeyError, ValueError):
        return True
    return False


def test_a_detector_is_a_detector():
    assert all(isinstance(each, Detector) for each in SAMPLES)
