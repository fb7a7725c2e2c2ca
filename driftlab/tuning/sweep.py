"""Detectors by patience by threshold, one tidy table."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from driftlab._util.checks import measuring, seeded
from driftlab._util.extras import need
from driftlab._util.spec import whole
from driftlab.detectors import Detector, Plateau, first_alarms, needed
from driftlab.evaluation.controls import LOUD, control_rows, controls
from driftlab.evaluation.evaluation import Evaluation
from driftlab.evaluation.operating_point import operating_point, risk
from driftlab.evaluation.stats import LEVEL
from driftlab.metrics import Metric
from driftlab.metrics.columns.spent import UNITS, Spent
from driftlab.metrics.measurements import Measurements, measure
from driftlab.trace.schema import Trace
from driftlab.tuning.cells import DECAY, PATIENCE, Cell, cells_of, grid
from driftlab.tuning.plan import plan

LIMIT = 0.05
COUNTS = ("n_stalled", "n_good", "undetectable", "prevalence")


@dataclass(frozen=True, eq=False)
class Sweep:
    """Every detector on every task, at every threshold.

    Attributes
    ----------
    cells : tuple of Cell
    evaluations : dict of str to Evaluation
        By task.
    notes : tuple of str
        What was hidden, left out or assumed, in words.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, Step
    >>> loops = [Trace(id=f"l{n}", label="stalled", stalls=[Span(1)], steps=[Step(state="x")] * 4) for n in range(30)]
    >>> work = [Trace(id=f"w{n}", label="good", steps=[Step(state=s) for s in "abcd"]) for n in range(30)]
    >>> found = sweep(loops + work, ["exact"], patience=[1], decay=[], draws=50)
    >>> found.best()[["metric", "auc"]].round(1).values.tolist()
    [['exact', 1.0], ['steps', 0.5], ['placebo', 0.5], ['setup', nan]]
    """

    cells: tuple[Cell, ...]
    evaluations: dict[str, Evaluation]
    notes: tuple[str, ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        """The kinds of work in alphabetical order, first those on which scores can be ranked."""
        return tuple(self.evaluations)

    def table(self, rows: int | None = 10, *, max_false_stop: float = LIMIT) -> Any:
        """Return one row a cell, best first, the verdict in words first.

        Parameters
        ----------
        rows : int or None
            How many; None is all.
        max_false_stop : float
            Precision, recall and the like are quoted at the threshold that saves most among those whose
            false-stop rate *on these traces* is within it. `dl.calibrate` finds one that holds for new ones.

        Returns
        -------
        pandas.DataFrame
            Columns: verdict, task, detector, metric, view, accumulator, auc, auc_low, auc_high, horizon,
            n_stalled, n_good (compared), within_setup, auc_trace, threshold, precision, recall, saved,
            false_stop_rate, premature, late, delay, undetectable. Undefined numbers are `nan`.
        """
        every = [cell.row(self.evaluations[cell.task], max_false_stop) for cell in self.cells]
        return _frame(every, rows)

    def best(self, *, max_false_stop: float = LIMIT) -> Any:
        """Return one row a metric and task: its best accumulator by AUC, then the controls.

        The verdict allows for the choice: its intervals are at level ``1 - 0.05 / tried``.

        Returns
        -------
        pandas.DataFrame
            The columns of `table` and `tried`.
        """
        rows = [
            cell.row(self.evaluations[cell.task], max_false_stop) | {"tried": cell.tried} for cell in self.best_cells()
        ]
        rows += [row for task in self.tasks for row in control_rows(task, self.evaluations[task])]
        rows.sort(key=lambda row: self.tasks.index(row["task"]))
        return need("pandas", "study").DataFrame(rows)

    def best_cells(self) -> tuple[Cell, ...]:
        """Return the best cell of each task, metric and view, in the order they were asked for."""
        return self._best_cells

    @cached_property
    def _best_cells(self) -> tuple[Cell, ...]:
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in self.cells:
            name = repr(cell.detector.metric) if isinstance(cell.detector, Plateau) else repr(cell.detector)
            groups.setdefault((cell.task, name), []).append(cell)
        return tuple(self._best(group) for group in groups.values())

    def controls(self, cells: Iterable[Cell] | None = None, *, level: float = LEVEL) -> Any:
        """Return one row a cell (by default the best ones) beside every control.

        Returns
        -------
        pandas.DataFrame
            Columns: verdict, task, metric, view, accumulator; n_* of the task (stalled, good, unsure, unlabelled,
            problems, agents, setups); and those of `controls.controls`.
        """
        return self._each(cells, lambda cell, evaluation: controls(evaluation, cell.scores, cell.detector, level=level))

    def points(
        self, cells: Iterable[Cell] | None = None, *, max_false_stop: float = LIMIT, prevalence: float | None = None
    ) -> Any:
        """Return one row a cell (by default the best ones) of what it does at the threshold that keeps a limit here.

        Returns
        -------
        pandas.DataFrame
            Columns: verdict, task, metric, view, accumulator; n_* of the task; and those of `operating_point`.
        """

        def row(cell: Cell, evaluation: Evaluation) -> dict[str, Any]:
            cut = cell.curve.at_limit(max_false_stop)
            point = operating_point(evaluation.measurements, cell.scores, cell.detector, cut, prevalence=prevalence)
            # Without good traces no threshold keeps a limit: only what needs none is known.
            known = point if not np.isnan(cut) else {name: point[name] for name in COUNTS}
            return dict.fromkeys(point, float("nan")) | known

        return self._each(cells, row)

    def risk(self, cell: Cell, *, max_false_stop: float = LIMIT) -> Any:
        """Return the cumulative risk of a false stop by step, at the threshold that keeps a limit here.

        Returns
        -------
        pandas.DataFrame
            The columns of `operating_point.risk`.
        """
        evaluation, cut = self.evaluations[cell.task], cell.curve.at_limit(max_false_stop)
        alarms = first_alarms(cell.scores, evaluation.measurements.offsets, float("inf") if np.isnan(cut) else cut)
        return risk(alarms, evaluation.labels)

    def thresholds(self, cell: Cell) -> Any:
        """Return one row a threshold of a cell: outcome counts and rates.

        Returns
        -------
        pandas.DataFrame
            Columns: threshold, hit, premature, late, miss, false_stop, precision, recall, saved,
            false_stop_rate, mean_delay.
        """
        c = cell.curve
        columns = {"threshold": c.thresholds, "hit": c.hit, "premature": c.premature, "late": c.late}
        columns |= {"miss": c.n_stalled - c.hit - c.premature - c.late, "false_stop": c.false_stop}
        columns |= {"precision": c.precision, "recall": c.recall, "saved": c.saved}
        columns |= {"false_stop_rate": c.false_stop_rate, "mean_delay": c.mean_delay}
        return need("pandas", "study").DataFrame(columns)

    def _each(self, cells: Iterable[Cell] | None, row: Callable[[Cell, Evaluation], dict[str, Any]]) -> Any:
        rows = []
        with _one_thread():
            for cell in self.best_cells() if cells is None else cells:
                evaluation = self.evaluations[cell.task]
                name = {key: getattr(cell, key) for key in ("verdict", "task", "metric", "view", "accumulator")}
                counts = {f"n_{kind}": count for kind, count in evaluation.counts.items()}
                rows.append(name | counts | ({} if cell.blank else row(cell, evaluation)))
        return need("pandas", "study").DataFrame(rows)

    def _best(self, group: Sequence[Cell]) -> Cell:
        ranked = [cell for cell in group if not np.isnan(cell.ranked.auc)]
        if not ranked:
            return group[0]
        best = max(ranked, key=lambda cell: cell.ranked.auc)
        # Bonferroni over the accumulators that were tried: the best of eleven looks good by luck alone.
        level = 1 - (1 - LEVEL) / len(ranked)
        if len(ranked) == 1:  # nothing was chosen: the verdict stands
            return best
        words = self.evaluations[best.task].verdict(best.detector, best.ranked, best.within, level)
        return replace(best, verdict=words, tried=len(ranked))


def sweep(
    traces: Iterable[Trace] | Measurements,
    metrics: Iterable[str | Metric] | None = None,
    *,
    patience: Iterable[int] = PATIENCE,
    decay: Iterable[float] = DECAY,
    detectors: Iterable[str | Detector] = (),
    draws: int = 1000,
    seed: int = 0,
    cache: str | os.PathLike[str] | None = None,
    n_jobs: int | None = 1,
    progress: bool = False,
) -> Sweep:
    """Rank and tally every metric under every accumulator, at every threshold, in one measuring pass.

    Parameters
    ----------
    traces : corpus, iterable of Trace, or Measurements
        Labelled runs. A signal that made a label is hidden from every detector, with a note.
    metrics : iterable of str or Metric, optional
        By default exact, difflib, levenshtein, embedding (where it is installed) and each signal; of the
        state where the traces have one, else of the call.
    patience : iterable of int
        Settings of the accumulator ``run``.
    decay : iterable of float
        Settings of the accumulator ``ewma``.
    detectors : iterable of str or Detector
        More rows, beside the step counter, which is always there.
    draws : int
        Bootstrap draws, shared by all rows so that differences are paired.
    seed : int
        Of the bootstrap.
    cache : path, optional
        Folder that keeps measured numbers between runs, as in `dl.measure`.
    n_jobs : int or None
        Processes for the comparisons; -1 is all cores.
    progress : bool
        Show progress bars.

    Returns
    -------
    Sweep

    Raises
    ------
    InputError
        When an option is of the wrong type or out of range.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, Step
    >>> loop = Trace(id="loop", label="stalled", stalls=[Span(1)], steps=[Step(state="x")] * 4)
    >>> work = Trace(id="work", label="good", steps=[Step(state=s) for s in "abcd"])
    >>> found = sweep([loop, work], ["exact"], patience=[1], decay=[])
    >>> found.table()["verdict"].tolist()
    ['undefined: 1 good traces, 20 needed', 'undefined: 1 good traces, 20 needed']
    """
    draws, seed = whole("draws", draws, 1), seeded(seed)
    measuring(n_jobs, progress)
    asked = plan(traces, metrics)
    wanted = grid(asked, patience=patience, decay=decay, detectors=detectors)
    if isinstance(traces, Measurements):
        measured = traces
    else:
        columns = (*needed(wanted), *map(Spent, UNITS))
        measured = measure(asked.traces, columns, cache=cache, n_jobs=n_jobs, progress=progress)
    tasks = sorted({info.task or "" for info in measured.infos})
    # A task at a time: ranking runs of different work against each other would measure the work.
    each = {task: Evaluation(_of_task(measured, task), draws, seed) for task in tasks}
    evaluations = dict(sorted(each.items(), key=lambda pair: bool(pair[1].undefined)))
    shown = need("tqdm.auto", "study").tqdm(evaluations, desc="ranking", unit="task") if progress else evaluations
    with _one_thread():
        cells = [cell for task in shown for cell in cells_of(task, evaluations[task], wanted, asked)]
    return Sweep(tuple(cells), evaluations, (*asked.notes, *_warnings(evaluations)))


def _one_thread() -> Any:
    """Matrices are small here: threads of the linear algebra wait for each other longer than they work."""
    return need("threadpoolctl", "study").threadpool_limits(1, user_api="blas")


def _of_task(measured: Measurements, task: str) -> Measurements:
    return measured.take([i for i, info in enumerate(measured.infos) if (info.task or "") == task])


def _warnings(evaluations: dict[str, Evaluation]) -> Iterable[str]:
    if not evaluations:
        yield "there are no traces: nothing can be ranked"
    for task, evaluation in evaluations.items():
        infos, told = evaluation.measurements.infos, evaluation.labels.stalled
        if unmarked := sum(info.label == "stalled" for info in infos) - int(told.sum()):
            yield f"task {task!r}: {unmarked} stalled traces have no marked stall and are in no rate"
        setup = evaluation.setup().auc
        if setup > LOUD:
            yield f"task {task!r}: setup alone ranks at {setup:.2f}; read within_setup, not auc"


def _frame(rows: list[dict[str, Any]], count: int | None) -> Any:
    table = need("pandas", "study").DataFrame(rows)
    if table.empty:
        return table
    table = table.sort_values("auc", ascending=False, kind="stable", na_position="last", ignore_index=True)
    return table if count is None else table.head(count)


__all__ = ["LIMIT", "Cell", "Sweep", "grid", "sweep"]
