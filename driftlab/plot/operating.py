"""What stop rules do at every threshold: precision, recall, delay, saving, money against false stops."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes

from driftlab._util.errors import InputError
from driftlab._util.wording import share_text
from driftlab.detectors import Plateau, Run
from driftlab.evaluation.labels import Floats
from driftlab.evaluation.thresholds import Curve, curve
from driftlab.plot.style import (
    GREY,
    INK,
    LINES,
    PALE,
    Panels,
    each_task,
    key_below,
    tidy,
    title,
)
from driftlab.tuning.naming import best_of, cell_name, cell_names, is_steps, leader, task_name
from driftlab.tuning.objective import Price
from driftlab.tuning.sweep import LIMIT, Cell, Sweep

Rate = str | Callable[[Curve], Floats]  # an attribute of a curve, or what is made of it
HITS = 5  # a mean delay over fewer is an anecdote


def pr(sweep: Sweep, *, axes: Sequence[Axes] | None = None) -> Panels:
    """Draw precision against recall at every threshold, one panel a task, one line a metric.

    The points are outcomes of first alarms, premature ones against the rule. The ring marks the smallest
    threshold within 5 % false stops on these traces. A line ends at the threshold that hits most stalls, or
    at its ring: below it alarms only come earlier, and recall falls again.

    Parameters
    ----------
    axes : sequence of Axes, optional
        One for each task that can be ranked.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from driftlab.tuning.sweep import sweep
    >>> from driftlab.trace.schema import Step, Trace
    >>> axes = pr(sweep([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"]))
    >>> axes[0].texts[0].get_text().splitlines()
    ['nothing to detect', 'all traces: no stalled traces']
    >>> plt.close(axes[0].figure)
    """

    def draw(ax: Axes, task: str) -> None:
        _lines(ax, sweep, task, "recall", "precision")
        best = _at_limit(sweep, task, "recall")
        stalled, good = _counts(sweep, task)
        share = stalled / (stalled + good)
        ax.axhline(
            share,
            color=GREY,
            linewidth=1,
            linestyle=":",
            label=f"prevalence {share:.2f}: {stalled} stalled, {good} good",
        )
        tidy(ax, "recall (share of stalled traces hit)", "precision (share of alarms that hit)")
        ax.set(xlim=(-0.02, 1.02), ylim=(0, 1.03))
        key_below(ax)
        title(ax, _said(task, best, "hits {recall} of stalls at precision {precision}"))

    return each_task(sweep, axes, draw, height=5.0)


def amoc(sweep: Sweep, *, value: str = "delay", upto: float = 0.3, axes: Sequence[Axes] | None = None) -> Panels:
    """Draw what a rule achieves against the good traces it stops, one panel a task, one line a metric.

    Parameters
    ----------
    value : {"delay", "saved"}
        Mean steps from onset to alarm over hits (drawn where there are at least five), or the share of the
        steps of stalled traces that come after a hit.
    upto : float
        Largest false-stop rate shown.
    axes : sequence of Axes, optional
        One for each task that can be ranked.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from driftlab.tuning.sweep import sweep
    >>> from driftlab.trace.schema import Step, Trace
    >>> axes = amoc(sweep([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"]))
    >>> len(axes)
    1
    >>> plt.close(axes[0].figure)
    """
    if value not in ("delay", "saved"):
        raise InputError(f"value must be 'delay' or 'saved', got {value!r}")
    name = {"delay": "mean delay of the hits (steps)", "saved": "saved (share of the steps of stalled traces)"}[value]
    words = {
        "delay": "hits {recall} of stalls, on average {delay} after the onset",
        "saved": "saves {saved} of stalled steps",
    }[value]

    def draw(ax: Axes, task: str) -> None:
        _lines(ax, sweep, task, "false_stop_rate", "mean_delay" if value == "delay" else value)
        ax.axvline(LIMIT, color=GREY, linewidth=1, linestyle=":", label=f"{share_text(LIMIT)} of good traces stopped")
        tidy(ax, "false-stop rate (share of good traces stopped)", name)
        ax.set_xlim(-0.004, upto)
        ax.set_ylim(bottom=0)
        key_below(ax)
        title(ax, _said(task, _at_limit(sweep, task, "saved"), words))

    return each_task(sweep, axes, draw, height=4.8)


def cost(sweep: Sweep, price: Price, *, upto: float = 0.3, axes: Sequence[Axes] | None = None) -> Panels:
    """Draw what a rule earns a run at the user's prices, one panel a task, one line a metric; no rule earns 0.

    Parameters
    ----------
    price : Price
        What a false stop and a wasted step cost, and the share of runs that stall where the rule will work.
    upto : float
        Largest false-stop rate shown.
    axes : sequence of Axes, optional
        One for each task that can be ranked.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from driftlab.tuning.sweep import sweep
    >>> from driftlab.trace.schema import Step, Trace
    >>> found = sweep([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"])
    >>> axes = cost(found, Price(false_stop=10, wasted_step=1))
    >>> len(axes)
    1
    >>> plt.close(axes[0].figure)
    """

    def draw(ax: Axes, task: str) -> None:
        _lines(ax, sweep, task, "false_stop_rate", price)
        _to_what_is_earned(ax, upto)
        ax.axhline(0, color=INK, linewidth=1, linestyle=":", label="no rule at all")
        tidy(ax, "false-stop rate (share of good traces stopped)", "earned a run")
        key_below(ax)
        title(ax, _earned(sweep, task, price))

    return each_task(sweep, axes, draw, height=4.8)


def _to_what_is_earned(ax: Axes, upto: float) -> None:
    """Cut off what is lost far from the best threshold: it would leave no room for what is earned at it."""
    points = np.concatenate([np.asarray(line.get_xydata()) for line in ax.lines])
    points = points[points[:, 0] <= upto]
    top = max(0.0, float(points[:, 1].max()))
    low = max(float(points[:, 1].min()), -2 * top) if top > 0 else float(points[:, 1].min())
    right, room = float(points[points[:, 1] >= low, 0].max()), 0.05 * (top - low) or 1.0
    ax.set(xlim=(-0.02 * right - 0.001, 1.05 * right + 0.001), ylim=(low - room, top + room))


def _earned(sweep: Sweep, task: str, price: Price) -> str:
    cells = [cell for cell in best_of(sweep, task) if not is_steps(cell) and len(cell.curve.thresholds)]
    best = max(cells, key=lambda cell: float(price(cell.curve).max()), default=None)
    most = -math.inf if best is None else float(price(best.curve).max())
    if best is None or most <= 0:
        return f"{task_name(task)}: at {price} no threshold earns anything: do not stop by these metrics"
    name = f"{cell_name(best)} {best.accumulator}"
    return f"{task_name(task)}: at {price} {name} earns at most {most:.2f} a run, on these traces"


def _lines(ax: Axes, sweep: Sweep, task: str, x: str, y: Rate) -> None:
    """One line a metric, then the controls in grey; a ring where each keeps the limit."""
    cells = best_of(sweep, task)
    pairs = [
        (n, c) for n, c in zip(cell_names(cells), cells, strict=True) if not is_steps(c) and not np.isnan(c.ranked.auc)
    ]
    ordered = sorted(pairs, key=lambda pair: -pair[1].ranked.auc)[: len(LINES)]
    for (name, cell), (colour, dashes) in zip(ordered, LINES, strict=False):
        _line(ax, cell.curve, x, y, color=colour, linestyle=dashes, linewidth=1.9, label=f"{name}, {cell.accumulator}")
    for cell in filter(is_steps, cells):
        _line(ax, cell.curve, x, y, color=GREY, linestyle="-", linewidth=2.2, label="steps: counting them (control)")
    best = leader(cells)
    accumulator = best.detector.accumulator if best is not None and isinstance(best.detector, Plateau) else Run(1)
    evaluation = sweep.evaluations[task]
    for place, noise in enumerate(evaluation.noise(accumulator)[:4]):
        found = curve(noise, evaluation.measurements.offsets, evaluation.labels)
        text = "placebo: four draws of noise (control)" if not place else None
        _line(ax, found, x, y, ring=False, color=PALE, linestyle="-", linewidth=0.9, label=text, zorder=0)


def _line(ax: Axes, found: Curve, x: str, y: Rate, *, ring: bool = True, **style: object) -> None:
    keep = found.thresholds >= _end(found) if x == "recall" else np.ones(len(found.hit), dtype=bool)
    across, up = np.asarray(getattr(found, x)), np.asarray(getattr(found, y) if isinstance(y, str) else y(found))
    up = np.where(found.hit >= HITS, up, np.nan) if y == "mean_delay" else up
    ax.plot(across[keep], up[keep], **style)  # type: ignore[arg-type]
    place = np.flatnonzero(found.thresholds == found.at_limit(LIMIT))
    if ring and len(place):
        ax.plot(
            across[place],
            up[place],
            "o",
            markerfacecolor="white",
            markeredgecolor=style["color"],
            markersize=6,
            zorder=4,
        )


def _end(found: Curve) -> float:
    """Where a line of precision ends: at the most hits or at the ring, whichever threshold is lower."""
    most = found.thresholds[np.argmax(found.hit)] if len(found.hit) else 0.0
    return float(np.fmin(most, found.at_limit(LIMIT)))


def _at_limit(sweep: Sweep, task: str, value: str) -> tuple[str, Cell, int] | None:
    """Among the metrics' best cells, the one with most of `value` within the limit, and the place on its curve."""
    cells = best_of(sweep, task)
    found = []
    for name, cell in zip(cell_names(cells), cells, strict=True):
        place = np.flatnonzero(cell.curve.thresholds == cell.curve.at_limit(LIMIT))
        if len(place) and not is_steps(cell) and not np.isnan(cell.ranked.auc):
            rates: Floats = getattr(cell.curve, value)
            found.append((float(rates[place[0]]), name, cell, int(place[0])))
    best = max(found, key=lambda each: each[0], default=None)
    return None if best is None or not best[0] > 0 else best[1:]


def _said(task: str, best: tuple[str, Cell, int] | None, words: str) -> str:
    if best is None:
        return f"{task_name(task)}: no metric catches a stall within {share_text(LIMIT)} false stops"
    name, cell, place = best
    found = cell.curve
    numbers = {rate: share_text(float(getattr(found, rate)[place])) for rate in ("recall", "saved")}
    precision, delay = float(found.precision[place]), float(found.mean_delay[place])
    text = words.format(precision=f"{precision:.2f}", delay=f"{delay:.1f} steps", **numbers)
    return f"{task_name(task)}: {name} {text}, within {share_text(LIMIT)} false stops on these traces"


def _counts(sweep: Sweep, task: str) -> tuple[int, int]:
    labels = sweep.evaluations[task].labels
    return int(labels.stalled.sum()), int(labels.good.sum())


__all__ = ["amoc", "cost", "pr"]
