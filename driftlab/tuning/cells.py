"""One detector on one task: its ranking, its outcomes, what that is worth in words."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftlab._util.checks import several
from driftlab._util.spec import between, whole
from driftlab.detectors import Detector, Ewma, Plateau, Run, StepCount, detector, first_alarms, needed, score
from driftlab.evaluation.evaluation import NOBODY, Evaluation, Judgement
from driftlab.evaluation.labels import Floats
from driftlab.evaluation.tally import tally
from driftlab.evaluation.thresholds import curve
from driftlab.metrics import Metric
from driftlab.metrics.column import Symbol
from driftlab.metrics.measurements import Measurements, measure
from driftlab.trace.schema import Trace
from driftlab.tuning.plan import Plan, plan

__all__ = ["DECAY", "PATIENCE", "Cell", "cells_of", "choosable", "grid"]

PATIENCE = range(1, 9)
DECAY = (0.6, 0.8, 0.9)
COUNTED = ("precision", "recall", "saved", "false_stop_rate", "premature", "late", "delay", "undetectable")


@dataclass(frozen=True, eq=False)
class Cell(Judgement):
    """One detector on one task: a judgement, and of what.

    Attributes
    ----------
    task : str
        Empty for traces without a task.
    detector : Detector
    scores : (n_steps_in_all,) array
        Over the task's traces.
    tried : int
        Accumulators of the same metric on the same task that this cell was the best of.
    """

    task: str
    detector: Detector
    scores: Floats
    tried: int = 1

    @property
    def metric(self) -> str:
        """Name of the metric, or of the detector where it reads no single one."""
        return self.detector.metric.name if isinstance(self.detector, Plateau) else self.detector.name

    @property
    def view(self) -> str:
        """View of the metric, the signal's name, or empty."""
        metric = self.detector.metric if isinstance(self.detector, Plateau) else None
        return getattr(metric, "view", getattr(metric, "signal", ""))

    @property
    def blank(self) -> bool:
        """Whether the row has no numbers: it would be circular, or the metric is absent from the task."""
        return self.verdict.startswith(("circular", "absent"))

    @property
    def accumulator(self) -> str:
        """How the deltas became one score, as it is typed; empty where there is no accumulator."""
        return repr(self.detector.accumulator) if isinstance(self.detector, Plateau) else ""

    def row(self, evaluation: Evaluation, max_false_stop: float) -> dict[str, Any]:
        """Return the cell as a row of `Sweep.table`: how it ranks, what it does at the threshold that keeps a limit."""
        threshold = self.curve.at_limit(max_false_stop)
        low, high = self.ranked.interval()
        row: dict[str, Any] = {"verdict": self.verdict, "task": self.task, "detector": self.detector.name}
        row |= {"metric": self.metric, "view": self.view, "accumulator": self.accumulator, "auc": self.ranked.auc}
        row |= {"auc_low": low, "auc_high": high, "horizon": evaluation.horizon, "n_stalled": self.ranked.n_stalled}
        row |= {"n_good": self.ranked.n_good, "within_setup": self.within.auc, "auc_trace": self.auc_trace}
        if np.isnan(threshold) or self.blank:
            return row | dict.fromkeys(("threshold", *COUNTED), float("nan"))
        alarms = first_alarms(self.scores, evaluation.measurements.offsets, threshold)
        counts = tally(alarms, evaluation.labels, self.detector.patience)
        return row | {"threshold": threshold} | {name: getattr(counts, name) for name in COUNTED}


def grid(
    asked: Plan,
    *,
    patience: Iterable[int] = PATIENCE,
    decay: Iterable[float] = DECAY,
    detectors: Iterable[str | Detector] = (),
) -> list[Detector]:
    """Return every metric under every accumulator, the named detectors, the step counter."""
    runs = [whole("patience", steps, 1) for steps in several("patience", patience, "[1, 2, 3]")]
    fading = several("decay", decay, "[0.6, 0.9]")
    for rate in fading:
        between("decay", rate, 0, 1, also=0, words=", or 0 to forget at once")
    named = [detector(spec) for spec in several("detectors", detectors, "['same_call(3)']")]
    accumulators = [*map(Run, runs), *map(Ewma, fading)]
    plateaus = [Plateau(metric, accumulator) for metric in asked.metrics for accumulator in accumulators]
    return list(dict.fromkeys([*plateaus, *named, StepCount()]))


def choosable(
    traces: Iterable[Trace] | Measurements,
    metrics: Iterable[str | Metric] | None,
    *,
    patience: Iterable[int] = PATIENCE,
    decay: Iterable[float] = DECAY,
    detectors: Iterable[str | Detector] = (),
    cache: str | os.PathLike[str] | None = None,
    n_jobs: int | None = 1,
    progress: bool = False,
) -> tuple[Measurements, list[Detector]]:
    """Return the detectors a rule may be chosen from, without those that made the labels, and their numbers.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> measured, wanted = choosable([Trace(id="a", steps=[Step(state="x")])], ["exact"], patience=[1], decay=[])
    >>> wanted, measured.lengths.tolist()
    ([plateau(exact, run(1)), steps], [1])
    """
    asked = plan(traces, metrics)
    wanted = grid(asked, patience=patience, decay=decay, detectors=detectors)
    wanted = [detector for detector in wanted if not asked.circular(detector)]
    if isinstance(traces, Measurements):
        return traces, wanted
    return measure(asked.traces, needed(wanted), cache=cache, n_jobs=n_jobs, progress=progress), wanted


def cells_of(task: str, evaluation: Evaluation, wanted: Sequence[Detector], asked: Plan) -> Iterable[Cell]:
    """Yield one cell a detector; one that made the labels has no numbers.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.tuning.plan import plan
    >>> from driftlab.trace.schema import Step, Trace
    >>> runs = [Trace(id="a", label="good", steps=[Step(state="x")])]
    >>> evaluation = Evaluation(measure(runs, StepCount().needs))
    >>> [cell.verdict for cell in cells_of("", evaluation, [StepCount()], plan(runs, []))]
    ['undefined: no stalled traces']
    """
    blank = {wished: asked.circular(wished) or _absent(evaluation, wished) for wished in wanted}
    scores = score(evaluation.measurements, [wished for wished in wanted if not blank[wished]])
    for wished, why in blank.items():
        yield _hidden(task, evaluation, wished, why) if why else _judged(task, evaluation, wished, scores[wished])


def _judged(task: str, evaluation: Evaluation, detector: Detector, scores: Floats) -> Cell:
    return Cell(**vars(evaluation.judge(detector, scores)), task=task, detector=detector, scores=scores)


def _absent(evaluation: Evaluation, detector: Detector) -> str:
    """Say that no step of the task has anything the detector reads; empty when one has."""
    measured = evaluation.measurements
    # Of other inputs silence may be what they found: no call was made again.
    spoken = not all(isinstance(each, Metric | Symbol) for each in detector.needs)
    spoken = spoken or any(measured.missing(each) < len(measured.infos) for each in detector.needs)
    return "" if spoken or not detector.needs or not measured.offsets[-1] else "absent from this task"


def _hidden(task: str, evaluation: Evaluation, detector: Detector, why: str) -> Cell:
    """A row without numbers: the detector made the labels it would be judged by, or has nothing to judge."""
    # Zeros, not nan: the curve of a row without numbers must still be a curve, with no alarm in it.
    silent = np.zeros(int(evaluation.measurements.offsets[-1]))
    nothing = evaluation.rank(silent, NOBODY)
    empty = curve(silent, evaluation.measurements.offsets, evaluation.labels)
    return Cell(nothing, nothing, float("nan"), empty, why, task, detector, silent)
