"""ROC curves of a sweep, one panel a task."""

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from driftlab._util.errors import InputError
from driftlab._util.wording import interval_text
from driftlab.detectors import Accumulator, Plateau
from driftlab.evaluation.bands import placebo_band, roc_band
from driftlab.plot.style import (
    GREY,
    LINES,
    PALE,
    Panels,
    each_task,
    key_below,
    split_tasks,
    tidy,
    title,
)
from driftlab.tuning.naming import auc_text, best_of, cell_names, is_steps, leader, of_metric, task_name
from driftlab.tuning.sweep import Cell, Sweep

Named = list[tuple[str, Cell]]
MOST = 12  # curves in a panel; more cannot be told apart


def roc(
    sweep: Sweep,
    by: str = "metric",
    col: str = "task",
    *,
    metric: str | None = None,
    bands: bool = True,
    axes: Sequence[Axes] | None = None,
) -> Panels:
    """Draw ROC curves at equal age: one panel a task, one curve a metric or an accumulator.

    Parameters
    ----------
    sweep : Sweep
    by : {"metric", "accumulator"}
        One curve for each metric (its best accumulator), or for each accumulator of one metric.
    col : {"task"}
        What the panels stand for.
    metric : str, optional
        With ``by="accumulator"``: which one, by name or spec. Default: the best of each task.
    bands : bool
        Pointwise 95 % band of the leading curve, from the bootstrap over problems.
    axes : sequence of Axes, optional
        One for each task that can be ranked; the others are named in a caption.

    Returns
    -------
    (n_panels,) array of Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from driftlab.tuning.sweep import sweep
    >>> from driftlab.trace.schema import Step, Trace
    >>> axes = roc(sweep([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"]))
    >>> axes[0].texts[0].get_text().splitlines()
    ['nothing to rank', 'all traces: no stalled traces']
    >>> plt.close(axes[0].figure)
    """
    if by not in ("metric", "accumulator") or col != "task":
        raise InputError(f"by must be 'metric' or 'accumulator' and col 'task', got by={by!r}, col={col!r}")
    tasks, _ = split_tasks(sweep)
    shown = {task: best_of(sweep, task) if by == "metric" else of_metric(sweep, task, metric) for task in tasks}
    ordered = by == "accumulator"
    lines = max((min(len(cells), MOST) for cells in shown.values()), default=0) + 4

    def draw(ax: Axes, task: str) -> None:
        _panel(ax, sweep, task, shown[task], bands=bands, ordered=ordered)

    height = 4.2 + 0.165 * (lines / 2 if ordered else lines)
    return each_task(sweep, axes, draw, height=height, nothing="nothing to rank")


def _panel(ax: Axes, sweep: Sweep, task: str, cells: Sequence[Cell], *, bands: bool, ordered: bool) -> None:
    evaluation, first = sweep.evaluations[task], leader(cells)
    named = _curves(cells)
    colours = _shades(len(named)) if ordered else LINES
    if bands and first is not None:
        band = roc_band(evaluation, first.scores)
        place = next(i for i, (_, cell) in enumerate(named) if cell.detector == first.detector)
        ax.fill_between(band.grid, band.low, band.high, color=colours[place][0], alpha=0.16, linewidth=0)
    for (name, cell), (colour, dashes) in zip(named, colours, strict=False):
        share, recall = evaluation.ranking.roc(cell.scores, evaluation.measurements.offsets)
        ax.plot(
            share,
            recall,
            color=colour,
            linestyle=dashes,
            linewidth=1.9,
            label=f"{name}  {cell.ranked.auc:.2f}" if ordered else f"{name}  {auc_text(cell)}",
        )
    _controls(ax, sweep, task, first)
    tidy(ax, "share of good traces that score as high", "share of stalled traces")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    _key(ax, cells, len(named), ordered=ordered)
    title(ax, _finding(sweep, task, first, ordered=ordered))


def _key(ax: Axes, cells: Sequence[Cell], drawn: int, *, ordered: bool) -> None:
    """The legend, with a line for what has no curve."""
    left = sum(not is_steps(cell) and not np.isnan(cell.ranked.auc) for cell in cells) - drawn
    handles, texts = ax.get_legend_handles_labels()
    for text in [f"and {left} lower ones"] * (left > 0) + _unranked(cells, ordered=ordered):
        handles, texts = [*handles, Line2D([], [], linestyle="none")], [*texts, text]
    key_below(ax, columns=2 if ordered else 1, handles=handles, labels=texts)


def _curves(cells: Sequence[Cell]) -> Named:
    """The cells that are drawn, best first, with the names they have in the legend."""
    pairs = zip(cell_names(cells), cells, strict=True)
    ranked = [(f"{name}, {c.accumulator}", c) for name, c in pairs if not is_steps(c) and not np.isnan(c.ranked.auc)]
    short = len({name.rpartition(", ")[0] for name, _ in ranked}) == 1 and len(ranked) > 1
    best = ranked if short else sorted(ranked, key=lambda pair: -pair[1].ranked.auc)[: len(LINES)]
    return [(c.accumulator if short else name.removesuffix(", "), c) for name, c in best]


def _controls(ax: Axes, sweep: Sweep, task: str, first: Cell | None) -> None:
    evaluation = sweep.evaluations[task]
    accumulator: Accumulator | None = (
        first.detector.accumulator if first and isinstance(first.detector, Plateau) else None
    )
    noise = placebo_band(evaluation, accumulator)
    placebo = evaluation.placebo(first.detector if first is not None else Plateau())
    ax.fill_between(
        noise.grid,
        noise.low,
        noise.high,
        color=PALE,
        alpha=0.7,
        linewidth=0,
        zorder=0,
        label=f"placebo (noise)  {placebo.auc:.2f}",
    )
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, zorder=1, label="steps (control)  0.50")
    setup = evaluation.setup()
    said = (
        "setup alone  – (there is one)"
        if np.isnan(setup.auc)
        else f"setup alone  {interval_text(setup.auc, *setup.interval())}"
    )
    ax.plot([], [], linestyle="none", label=said)


def _unranked(cells: Sequence[Cell], *, ordered: bool) -> list[str]:
    """Say which settings have no curve, and why, one line a reason."""
    names = [cell.accumulator for cell in cells] if ordered else cell_names(cells)
    reasons: dict[str, list[str]] = {}
    for name, cell in zip(names, cells, strict=True):
        if np.isnan(cell.ranked.auc):
            reasons.setdefault(cell.verdict.partition(":")[0], []).append(name)
    return [f"{', '.join(found)}: {why}" for why, found in reasons.items()]


def _finding(sweep: Sweep, task: str, first: Cell | None, *, ordered: bool) -> str:
    if first is None:
        return f"{task_name(task)}: no metric may be judged by these labels"
    name = f"{cell_names([first])[0]}, {first.accumulator}" if ordered else cell_names([first])[0]
    if not first.verdict.startswith("beats"):
        return f"{task_name(task)}: nothing tells stalls from good work ({name} is {first.verdict})"
    caveat = first.verdict.partition("; ")[2]
    return f"{task_name(task)}: {name} tells stalls best, AUC {auc_text(first)}; {caveat}"


def _shades(count: int) -> list[tuple[Any, Any]]:
    """Ordered colours for ordered settings, light to dark, so that grey keeps the order."""
    colours = matplotlib.colormaps["cividis"](np.linspace(0.9, 0, max(count, 1)))
    dashes = [LINES[place % len(LINES)][1] for place in range(count)]
    return list(zip(colours, dashes, strict=False))


__all__ = ["roc"]
