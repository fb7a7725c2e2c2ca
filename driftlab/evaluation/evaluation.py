"""How well a score ranks stalled above good traces of one task."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab._util.errors import InputError
from driftlab.detectors import Accumulator, Detector, Plateau, Run, StepCount, score
from driftlab.evaluation.auc import Auc, verdict
from driftlab.evaluation.bootstrap import Bootstrap
from driftlab.evaluation.labels import Floats, Labels
from driftlab.evaluation.ranking import Maxima, Ranking
from driftlab.evaluation.stats import LEVEL, Design, cluster_weights
from driftlab.evaluation.strata import KEEP_GOOD, equal_age, horizon, landmark, matched, stall_rates, whole_trace
from driftlab.evaluation.thresholds import Curve, curve
from driftlab.metrics.measurements import Measurements
from driftlab.metrics.noise import Noise
from driftlab.trace.schema import TraceInfo

__all__ = ["NOBODY", "PLACEBO_DRAWS", "Auc", "Evaluation", "Judgement", "verdict"]

PLACEBO_DRAWS = 16  # one draw of noise can be lucky; the control is their mean
NOBODY = Ranking(())


@dataclass(frozen=True, eq=False)
class Judgement:
    """What one score is worth on one task.

    Attributes
    ----------
    ranked, within : Auc
        At equal age; at equal age among traces of one setup.
    auc_trace : float
        Over whole traces, where length alone ranks well.
    curve : Curve
        Outcomes at every threshold.
    verdict : str
        In words.
    """

    ranked: Auc
    within: Auc
    auc_trace: float
    curve: Curve
    verdict: str


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One task's traces, ready to rank any score on them.

    Parameters
    ----------
    measurements : Measurements
        Of one task.
    draws : int
        Bootstrap draws, shared by all scores so that differences are paired.
    seed : int
        Of the bootstrap and of the setup control's folds.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> only_good = measure([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"])
    >>> Evaluation(only_good).undefined
    'undefined: no stalled traces'
    """

    measurements: Measurements
    draws: int = 1000
    seed: int = 0
    # Many cells share an accumulator and a ranking: what depends on those alone is worked out once.
    _placebos: dict[Accumulator, Auc] = field(default_factory=dict, init=False)
    _resampled: dict[Ranking, Bootstrap] = field(default_factory=dict, init=False)
    _facts: dict[Ranking, tuple[tuple[int, int], Design, Design]] = field(default_factory=dict, init=False)

    @cached_property
    def labels(self) -> Labels:
        """Labels of the traces."""
        return Labels.of(self.measurements.infos, self.measurements.lengths)

    @cached_property
    def horizon(self) -> int | None:
        """Steps that are compared (law 15); None when too few traces are left for any."""
        return horizon(self.labels)

    @cached_property
    def ranking(self) -> Ranking:
        """Stalls at equal age (law 15)."""
        return NOBODY if self.horizon is None else equal_age(self.labels, self.horizon)

    @cached_property
    def whole(self) -> Ranking:
        """Maxima over whole traces, which length alone decides."""
        return whole_trace(self.labels)

    @cached_property
    def length_matched(self) -> Ranking:
        """Whole traces that differ by at most 2 steps."""
        return matched(self.labels)

    @cached_property
    def landmark(self) -> Ranking:
        """The first H steps of the traces that run so long."""
        return NOBODY if self.horizon is None else landmark(self.labels, self.horizon)

    @cached_property
    def within_problem(self) -> Ranking:
        """Equal age among runs of one problem, each pair once."""
        return replace(self.ranking.within(self.groups), by_pair=True)

    @cached_property
    def within_setup(self) -> Ranking:
        """Equal age among runs of one setup; empty where there is one only."""
        return NOBODY if self.setups < 2 else self.ranking.within([info.setup for info in self.measurements.infos])

    @cached_property
    def within_fold(self) -> Ranking:
        """Equal age within folds of problems, where the setup's stall rate is learned on the others."""
        return NOBODY if self.setups < 2 else self.ranking.within(self._rates[1])

    @cached_property
    def setups(self) -> int:
        """Different setups among labelled traces."""
        return len({info.setup for info in self._labelled})

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many traces of each label, problems, agents, setups among the labelled ones."""
        infos, made = self.measurements.infos, self._labelled
        return {
            "stalled": int(self.labels.stalled.sum()),
            "good": int(self.labels.good.sum()),
            "unsure": sum(info.label == "unsure" for info in infos),
            "unlabelled": len(infos) - len(made) - sum(info.label == "unsure" for info in infos),
            "problems": len({info.group for info in made}),
            "agents": len({info.agent for info in made} - {None}),
            "setups": self.setups,
        }

    @cached_property
    def weights(self) -> NDArray[Any]:
        """How often each trace occurs in each bootstrap draw."""
        return cluster_weights(self.groups, self.draws, self.seed)

    @cached_property
    def groups(self) -> list[tuple[str, str]]:
        """The problem of each trace."""
        return [info.group for info in self.measurements.infos]

    @cached_property
    def undefined(self) -> str:
        """Why no score can be ranked here; empty when it can."""
        for word, mask in (("stalled", self.labels.stalled), ("good", self.labels.good)):
            if not mask.any():
                return f"undefined: no {word} traces"
        if self.horizon is None:
            good = int(self.labels.good.sum())
            short = f"{good} good traces, {KEEP_GOOD} needed" if good < KEEP_GOOD else "too few run equally long"
            return f"undefined: {short}"
        return ""

    def judge(self, detector: Detector, scores: Floats) -> Judgement:
        """Rank a detector's scores, count their outcomes at every threshold and say what that is worth.

        Under a horizon shorter than the detector's patience nobody is ranked: it could not alarm in time.
        """
        reachable = self.horizon is None or detector.patience <= self.horizon
        nobody = None if reachable else NOBODY
        ranked = self.steps() if detector == StepCount() else self.rank(scores, nobody)
        within = self.rank(scores, self.within_setup if reachable else nobody)
        offsets = self.measurements.offsets
        counts = curve(scores, offsets, self.labels)
        return Judgement(
            ranked, within, self.whole.auc(scores, offsets), counts, self.verdict(detector, ranked, within)
        )

    def verdict(self, detector: Detector, ranked: Auc, within: Auc, level: float = LEVEL) -> str:
        """Say in words what a ranking is worth, by intervals at a level: nearer 1 where it is the best of several."""
        if self.undefined:
            return self.undefined
        horizon = self.horizon or 0
        if detector.patience > horizon:
            return f"unreachable: patience {detector.patience} > horizon {horizon}"
        if detector == StepCount():
            return "control: the step counter"
        return verdict(ranked, within, [("steps", self.steps()), ("placebo", self.placebo(detector))], level)

    def rank(self, scores: Floats, ranking: Ranking | None = None) -> Auc:
        """Rank one score, by default over stalls at equal age.

        Raises
        ------
        InputError
            When there is no trace, not one score a step, or a score that is no number.
        """
        _check(scores, self.measurements)
        ranking = self.ranking if ranking is None else ranking
        compared = ranking.compared(scores, self.measurements.offsets)
        return self._ranked(ranking, float(ranking.areas(compared)[0]), partial(self._areas, ranking, compared))

    def placebo(self, detector: Detector) -> Auc:
        """Rank noise through the same accumulator: the mean of `PLACEBO_DRAWS` draws of it."""
        accumulator = _accumulator(detector)
        if accumulator not in self._placebos:
            compared = self.ranking.compared(self.noise(accumulator), self.measurements.offsets)
            areas = self.ranking.areas(compared)
            ranked = self._ranked(self.ranking, float(np.mean(areas)), partial(self._areas, self.ranking, compared))
            self._placebos[accumulator] = replace(ranked, noises=areas)
        return self._placebos[accumulator]

    def noise_areas(self, detector: Detector, ranking: Ranking) -> Floats:
        """Return the area of each draw of noise under any ranking; one `nan` without any pair."""
        return ranking.areas(ranking.compared(self.noise(_accumulator(detector)), self.measurements.offsets))

    def noise(self, accumulator: Accumulator) -> Floats:
        """Return the scores of every draw of noise through one accumulator, (n_noises, n_steps_in_all)."""
        plateau = Plateau(Noise(), accumulator)
        return score(self._noises, [plateau])[plateau].reshape(PLACEBO_DRAWS, -1)

    def steps(self) -> Auc:
        """Rank the step counter: 0.5 by construction wherever traces of equal age are compared."""
        # At equal age every trace that is compared has the same count, so all pairs are ties.
        auc = 0.5 if self.ranking.strata else math.nan
        return replace(self._ranked(self.ranking, auc, np.full(self.draws, auc)), constant=True)

    def setup(self) -> Auc:
        """Rank the stall rate of each trace's setup, learned on other problems; areas within folds.

        `nan` where there is one setup only.
        """
        return self.rank(np.repeat(self._rates[0], self.measurements.lengths), self.within_fold)

    @cached_property
    def _labelled(self) -> list[TraceInfo]:
        made = self.labels.stalled | self.labels.good
        return [info for info, use in zip(self.measurements.infos, made, strict=True) if use]

    @cached_property
    def _rates(self) -> tuple[Floats, list[Hashable]]:
        return stall_rates(self.measurements.infos, self.labels, self.seed)

    def _ranked(self, ranking: Ranking, auc: float, drawn: Floats | Callable[[], Floats]) -> Auc:
        if ranking not in self._facts:
            # Problems, not traces, on each side decide whether the bootstrap may be trusted (`Auc.few`).
            sides = [len({self.groups[i] for i in side}) for side in (ranking.stalled, ranking.good)]
            designs = ranking.design(range(len(self.groups))), ranking.design(self.groups)
            self._facts[ranking] = ((sides[0], sides[1]), *designs)
        problems, traces_tell, problems_tell = self._facts[ranking]
        return Auc(auc, drawn, ranking.n_stalled, len(ranking.good), problems, traces_tell, problems_tell)

    def _areas(self, ranking: Ranking, compared: Sequence[Maxima]) -> Floats:
        """Areas in every draw. Only the rankings that every score goes through stay looked up."""
        if ranking in (self.ranking, self.within_setup) and ranking not in self._resampled:
            self._resampled[ranking] = Bootstrap(ranking, self.weights)
        resampled = self._resampled.get(ranking) or Bootstrap(ranking, self.weights)
        return resampled.areas(compared)

    @cached_property
    def _noises(self) -> Measurements:
        """Every trace once a draw of noise: one walk over the steps scores all draws."""
        infos, lengths = self.measurements.infos, self.measurements.lengths
        # What the metric `noise` is, from one generator: its hash a step would cost more than all the rest.
        drawn = np.random.default_rng(self.seed).random((PLACEBO_DRAWS, int(lengths.sum())))
        drawn[:, self.measurements.offsets[:-1][lengths > 0]] = 1.0
        offsets = np.concatenate([[0], np.cumsum(np.tile(lengths, PLACEBO_DRAWS))]).astype(np.int64)
        return Measurements(infos * PLACEBO_DRAWS, offsets, {Noise(): drawn.ravel()})


def _accumulator(detector: Detector) -> Accumulator:
    accumulator = getattr(detector, "accumulator", None)
    return accumulator if isinstance(accumulator, Accumulator) else Run(detector.patience)


def _check(scores: Floats, measurements: Measurements) -> None:
    total = int(measurements.offsets[-1])
    if not measurements.infos:
        raise InputError("there is no trace to rank; give labelled runs")
    if len(scores) != total:
        raise InputError(f"got {len(scores)} scores for {total} steps; a score has one number a step")
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        place = int(np.searchsorted(measurements.offsets, bad[0], side="right")) - 1
        where = f"trace {measurements.infos[place].id!r}, step {bad[0] - measurements.offsets[place]}"
        raise InputError(f"{where}: the score is {scores[bad[0]]}, not a finite number")
