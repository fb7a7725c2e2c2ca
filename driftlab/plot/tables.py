"""Numbers on coloured fields: metric by task, patience by threshold."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from driftlab._util.errors import InputError
from driftlab._util.wording import share_text
from driftlab.detectors import Plateau, Run
from driftlab.evaluation.bands import values_at
from driftlab.evaluation.labels import Floats
from driftlab.plot.style import GREY, INK, SMALL, figure_of, message, single, tidy, title
from driftlab.rules.policy import StopRule
from driftlab.tuning.naming import (
    best_of,
    cell_name,
    cell_names,
    cell_spec,
    is_steps,
    of_metric,
    one_task,
    task_name,
    why_not,
)
from driftlab.tuning.sweep import LIMIT, Cell, Sweep

__all__ = ["heatmap", "overview"]

VALUES = {
    "precision": "precision (share of alarms that hit)",
    "recall": "recall (share of stalled traces hit)",
    "saved": "saved (share of the steps of stalled traces)",
    "false_stop_rate": "false-stop rate (share of good traces)",
    "auc": "AUC at equal age",
}
COLUMNS = np.arange(1, 21) / 20


def overview(sweep: Sweep, *, ax: Axes | None = None) -> Axes:
    """Draw the area of every metric on every task as one table of numbers, controls below the line.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from driftlab.tuning.sweep import sweep
    >>> from driftlab.trace.schema import Step, Trace
    >>> ax = overview(sweep([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"]))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['exact (state)', 'steps', 'placebo', 'setup']
    >>> plt.close(ax.figure)
    """
    cells = sweep.best_cells()
    named = {cell_spec(cell): name for cell, name in zip(cells, cell_names(cells), strict=True) if not is_steps(cell)}
    rows = [*named.values(), "steps", "placebo", "setup"]
    values, bold = np.full((len(rows), len(sweep.tasks)), np.nan), set()
    for cell in cells:
        place = rows.index(named.get(cell_spec(cell), "steps")), sweep.tasks.index(cell.task)
        values[place] = cell.ranked.auc
        bold |= {place} if cell.verdict.startswith("beats") else set()
    for column, evaluation in enumerate(sweep.evaluations.values()):
        values[-2:, column] = evaluation.placebo(Plateau(accumulator=Run(1))).auc, evaluation.setup().auc
    ax = single(ax, width=max(5.0, min(9.0, 2.6 + 1.3 * len(sweep.tasks))), height=1.3 + 0.3 * len(rows))
    _numbers(ax, values, bold, [task_name(task) for task in sweep.tasks], rows)
    ax.axhline(len(rows) - 3.5, color=INK, linewidth=1.2)
    title(ax, _counts(sweep, bold, ~np.isnan(values[:-3])), beside=0.4 + 0.075 * max(map(len, rows)))
    return ax


def _counts(sweep: Sweep, bold: set[tuple[int, int]], there: NDArray[np.bool_]) -> str:
    """How many metrics beat the controls, a task at a time; which tasks could not be ranked."""
    ranked = [place for place, task in enumerate(sweep.tasks) if not why_not(sweep, task)]
    metrics = there.sum(axis=0)
    counts = [f"{sum(c == n for _, c in bold)} of {metrics[n]} on {task_name(sweep.tasks[n])}" for n in ranked]
    absent = [task_name(task) for task in sweep.tasks if why_not(sweep, task)]
    parts = [f"Better than steps and placebo (bold): {', '.join(counts)}"] if counts else []
    parts += [f"{', '.join(absent)} cannot be ranked"] if absent else []
    return "; ".join(parts) or "no traces"


def heatmap(
    sweep: Sweep,
    *,
    task: str | None = None,
    metric: str | None = None,
    value: str = "saved",
    rule: StopRule | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one rate over patience and threshold, or the area over patience and metric.

    Right of the stepped line at most 5 % of the good traces are stopped. Hatched: no score gets there
    (no trace reaches the threshold; with "auc", patience beyond the horizon).

    Parameters
    ----------
    task : str, optional
        Needed where there are several.
    metric : str, optional
        By name or spec; default: the one that ranks best. Not read with "auc".
    value : {"precision", "recall", "saved", "false_stop_rate", "auc"}
    rule : StopRule, optional
        Marked where its accumulator and threshold lie, if it reads the metric.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from driftlab.tuning.sweep import sweep
    >>> from driftlab.trace.schema import Step, Trace
    >>> found = sweep([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"])
    >>> heatmap(found, value="recall").texts[0].get_text()
    'all traces: no stalled traces'
    >>> plt.close("all")
    """
    if value not in VALUES:
        raise InputError(f"value must be one of {', '.join(VALUES)}, got {value!r}")
    name = one_task(sweep, task)
    why = _nothing(sweep, name, value)
    if why:
        return message(ax, f"{task_name(name)}: {why}")
    ax = single(ax, width=7.2, height=4.4)
    if value == "auc":
        return _areas(ax, sweep, name)
    cells = of_metric(sweep, name, metric)
    return _rates(ax, sweep, cells, value, rule) if cells else message(ax, f"{task_name(name)}: no plateau was swept")


def _rates(ax: Axes, sweep: Sweep, cells: list[Cell], value: str, rule: StopRule | None) -> Axes:
    values = np.stack([values_at(cell.curve, value, COLUMNS) for cell in cells])
    silent = np.stack([cell.curve.thresholds.max(initial=0.0) < COLUMNS for cell in cells])
    image = ax.imshow(
        np.where(silent, np.nan, values), cmap="cividis", vmin=0, vmax=_top(values), aspect="auto", origin="lower"
    )
    bar = figure_of(ax).colorbar(image, ax=ax, pad=0.02)
    bar.ax.tick_params(labelsize=SMALL)
    bar.set_label(VALUES[value], fontsize=SMALL)
    _hatch(ax, silent | np.isnan(values))
    ax.set_xticks(range(1, len(COLUMNS), 2), [f"{x:.1f}" for x in COLUMNS[1::2]])
    ax.set_yticks(range(len(cells)), [cell.accumulator for cell in cells])
    tidy(ax, "threshold (alarm at a score at least this high)", "accumulator")
    _limit_line(ax, cells)
    marked = rule is not None and _mark(ax, cells, rule)
    keys = [Patch(facecolor="white", edgecolor=GREY, hatch="////", label="no score gets there")]
    if marked:
        keys.append(Patch(facecolor="none", edgecolor="#d55e00", linewidth=2, label="the chosen rule"))
    handles, _ = ax.get_legend_handles_labels()
    ax.legend(
        handles=[*handles, *keys], loc="upper left", bbox_to_anchor=(0, -0.14), ncols=3, fontsize=SMALL, frameon=False
    )
    title(ax, _finding(cells, value))
    return ax


def _areas(ax: Axes, sweep: Sweep, task: str) -> Axes:
    best = [cell for cell in best_of(sweep, task) if isinstance(cell.detector, Plateau)]
    own = {cell.detector: cell for cell in sweep.cells if cell.task == task and isinstance(cell.detector, Plateau)}
    rows = list(dict.fromkeys(cell.detector.accumulator for cell in own.values() if isinstance(cell.detector, Plateau)))
    values = np.full((len(rows), len(best)), np.nan)
    for column, cell in enumerate(best):
        found = of_metric(sweep, task, cell_spec(cell))
        for each in found:
            values[[repr(r) for r in rows].index(each.accumulator), column] = each.ranked.auc
    tried = int(np.isfinite(values).sum())
    row, column = divmod(int(np.nanargmax(values)), len(best)) if tried else (0, 0)
    _numbers(ax, values, {(row, column)} if tried else set(), cell_names(best), [repr(each) for each in rows])
    area = f"AUC {values[row, column]:.2f}, the best of {tried} tried"
    top = f"{cell_names(best)[column]} ranks best with {rows[row]!r}, {area}"
    title(ax, f"{task_name(task)}: {top if tried else 'no metric may be judged by these labels'}")
    return ax


def _numbers(ax: Axes, values: Floats, bold: set[tuple[int, int]], columns: list[str], rows: list[str]) -> None:
    ax.imshow(values, cmap="Blues", vmin=0.4, vmax=1.1, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        text = "–" if np.isnan(value) else f"{value:.2f}"
        weight = "bold" if (row, column) in bold else "normal"
        ax.text(
            column,
            row,
            text,
            ha="center",
            va="center",
            fontsize=SMALL + 0.5,
            color="white" if value > 0.82 else INK,
            weight=weight,
        )
    _hatch(ax, np.isnan(values))
    ax.set_xticks(range(len(columns)), columns, rotation=20 if len(columns) > 4 else 0, parse_math=False)
    ax.set_yticks(range(len(rows)), rows, parse_math=False)
    tidy(ax)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def _hatch(ax: Axes, where: NDArray[np.bool_]) -> None:
    for row, column in np.argwhere(where):
        ax.add_patch(
            Rectangle(
                (column - 0.5, row - 0.5), 1, 1, facecolor="white", edgecolor="#c4c4c4", hatch="////", linewidth=0
            )
        )


def _limit_line(ax: Axes, cells: list[Cell]) -> None:
    """A stair: right of it the false-stop rate on these traces is within the limit."""
    edges = [float(np.searchsorted(COLUMNS, cell.curve.at_limit(LIMIT))) - 0.5 for cell in cells]
    if not all(np.isfinite(cell.curve.at_limit(LIMIT)) or cell.curve.n_good for cell in cells):
        return
    x, y = np.repeat(edges, 2), np.repeat(np.arange(len(cells) + 1) - 0.5, 2)[1:-1]
    ax.plot(x, y, color="white", linewidth=3.2, solid_joinstyle="miter")
    ax.plot(
        x,
        y,
        color=INK,
        linewidth=1.6,
        solid_joinstyle="miter",
        label=f"right of it: at most {share_text(LIMIT)} false stops",
    )


def _mark(ax: Axes, cells: list[Cell], rule: StopRule) -> bool:
    rows = [place for place, cell in enumerate(cells) if cell.detector == rule.detector]
    column = int(np.searchsorted(COLUMNS, rule.threshold))
    if not rows or column >= len(COLUMNS):
        return False
    ax.add_patch(
        Rectangle((column - 0.5, rows[0] - 0.5), 1, 1, facecolor="none", edgecolor="#d55e00", linewidth=2.4, zorder=5)
    )
    return True


def _top(values: Floats) -> float:
    found = float(np.nanmax(values, initial=0.0))
    return found if found > 0 else 1.0


def _nothing(sweep: Sweep, task: str, value: str) -> str:
    evaluation = sweep.evaluations[task]
    if value == "auc":
        return evaluation.undefined.removeprefix("undefined: ")
    missing = evaluation.labels.good if value == "false_stop_rate" else evaluation.labels.stalled
    return "" if missing.any() else f"no {'good' if value == 'false_stop_rate' else 'stalled'} traces"


def _finding(cells: list[Cell], value: str) -> str:
    """The best setting within the limit on these traces, in words."""
    start = f"{task_name(cells[0].task)}, {cell_name(cells[0])}: "
    if cells[0].verdict.startswith("circular"):
        return start + cells[0].verdict
    rates = [(getattr(c.curve, value), c) for c in cells]
    if value == "false_stop_rate":
        within = [c for c in cells if np.isfinite(c.curve.at_limit(LIMIT))]
        return start + f"{len(within)} of {len(cells)} settings have a threshold within {share_text(LIMIT)} false stops"
    found = [
        (float(np.nanmax(np.where(c.curve.false_stop_rate <= LIMIT, r, np.nan), initial=0.0)), c.accumulator)
        for r, c in rates
    ]
    best, accumulator = max(found, key=lambda pair: pair[0])
    if not best > 0:
        return start + f"no setting catches a stall within {share_text(LIMIT)} false stops"
    return start + f"{value} reaches {share_text(best)} within {share_text(LIMIT)} false stops, with {accumulator}"
