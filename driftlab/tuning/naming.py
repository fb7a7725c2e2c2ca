"""What a sweep found, by the names and in the numbers people read."""

import math
from collections.abc import Iterable, Sequence

from driftlab._util.errors import InputError
from driftlab._util.wording import interval_text
from driftlab.detectors import Plateau, StepCount
from driftlab.tuning.sweep import Cell, Sweep

__all__ = [
    "auc_text",
    "best_of",
    "cell_name",
    "cell_names",
    "cell_spec",
    "is_steps",
    "leader",
    "of_metric",
    "one_task",
    "task_name",
    "why_not",
]


def cell_name(cell: Cell) -> str:
    """Return a short name of what a cell measures, without its accumulator.

    Examples
    --------
    >>> from driftlab.tuning.sweep import sweep
    >>> from driftlab.trace.schema import Step, Trace
    >>> found = sweep([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"], patience=[1], decay=[])
    >>> [cell_name(cell) for cell in found.cells]
    ['exact (state)', 'steps']
    """
    if isinstance(cell.detector, Plateau):
        return f"{cell.metric} ({cell.view})" if cell.view else cell.metric
    return repr(cell.detector)


def cell_names(cells: Sequence[Cell]) -> list[str]:
    """Return one name a cell; where the short names of two metrics are equal, all are written out."""
    short = [cell_name(cell) for cell in cells]
    long = [cell_spec(cell) for cell in cells]
    # All or none: a list in which one name is longer reads as if that cell were of another kind.
    return short if len(set(short)) == len(set(long)) else long


def cell_spec(cell: Cell) -> str:
    """Return the metric of a cell as it is typed, or the detector where it reads no single one."""
    return repr(cell.detector.metric) if isinstance(cell.detector, Plateau) else repr(cell.detector)


def is_steps(cell: Cell) -> bool:
    """Whether the cell is the step counter, a control."""
    return cell.detector == StepCount()


def best_of(sweep: Sweep, task: str) -> list[Cell]:
    """Return a task's best cell of each metric."""
    return [cell for cell in sweep.best_cells() if cell.task == task]


def leader(cells: Iterable[Cell]) -> Cell | None:
    """Return the best ranked cell that beats the controls, else the best ranked, else None."""
    ranked = [c for c in cells if not math.isnan(c.ranked.auc) and not is_steps(c)]
    # A cell that controls explain leads only where no other does: the largest area is often the oldest run.
    beats = [c for c in ranked if c.verdict.startswith("beats")]
    return max(beats or ranked, key=lambda cell: cell.ranked.auc, default=None)


def one_task(sweep: Sweep, task: str | None) -> str:
    """Return the named task, or the only one.

    Raises
    ------
    InputError
        When the sweep has no such task, or several and none is named.
    """
    if task is None and len(sweep.tasks) == 1:
        return sweep.tasks[0]
    if task is None or task not in sweep.tasks:
        asked = "name one task" if task is None else f"the sweep has no task {task!r}"
        raise InputError(f"{asked}; tasks: {', '.join(sweep.tasks) or '(none)'}")
    return task


def of_metric(sweep: Sweep, task: str, metric: str | None) -> list[Cell]:
    """Return a task's plateau cells of one metric, in the order they were asked for.

    Parameters
    ----------
    metric : str or None
        A spec, a label such as "exact (state)", or a name; None is the metric that ranks best.

    Raises
    ------
    InputError
        When no cell has the metric, or the name fits several.
    """
    cells = [cell for cell in sweep.cells if cell.task == task and isinstance(cell.detector, Plateau)]
    specs = dict.fromkeys(cell_spec(cell) for cell in cells)
    if metric is None:
        best = leader(cell for cell in best_of(sweep, task) if cell_spec(cell) in specs)
        wanted = cell_spec(best) if best is not None else next(iter(specs), "")
        return [cell for cell in cells if cell_spec(cell) == wanted]
    # Three ways of naming it, as people copy from a table, a figure or the command line.
    named = dict.fromkeys(
        cell_spec(cell) for cell in cells if metric in (cell_spec(cell), cell_name(cell), cell.metric)
    )
    if len(named) != 1:
        known = ", ".join(named or specs) or "(none)"
        raise InputError(
            f"{'several metrics are' if named else 'no metric is'} called {metric!r}; write one of: {known}"
        )
    return [cell for cell in cells if cell_spec(cell) in named]


def auc_text(cell: Cell) -> str:
    """Return the area with its interval, as in ``0.78 [0.70, 0.84]``."""
    return interval_text(cell.ranked.auc, *cell.ranked.interval())


def task_name(task: str | None) -> str:
    """Return a task as it is shown; traces without one are "all traces"."""
    return task or "all traces"


def why_not(sweep: Sweep, task: str) -> str:
    """Say why nothing can be ranked on a task, without the word before it; empty when something can."""
    return sweep.evaluations[task].undefined.removeprefix("undefined: ")
