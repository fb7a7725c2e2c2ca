"""What all figures share: colours that survive grey, panels, captions."""

import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import TightLayoutEngine
from matplotlib.legend import Legend
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from driftlab._util.errors import InputError
from driftlab.tuning.naming import task_name, why_not
from driftlab.tuning.sweep import Sweep

__all__ = [
    "LINES",
    "Panels",
    "caption",
    "each_task",
    "figure_of",
    "fitted",
    "key_below",
    "message",
    "message_panel",
    "panels",
    "plain",
    "single",
    "split_tasks",
    "tidy",
    "title",
]

Panels = NDArray[np.object_]

INK, GREY, PALE = "#222222", "#707070", "#d4d4d4"
STALLED, GOOD, ALARM = "#d55e00", "#0072b2", "#222222"
# Okabe and Ito's colours without the yellow, each with its own dashes so that a grey print still tells them apart.
LINES: tuple[tuple[Any, Any], ...] = (
    ("#0072b2", "-"),
    ("#d55e00", (0, (5, 1.5))),
    ("#009e73", (0, (5, 1.5, 1, 1.5))),
    ("#cc79a7", (0, (2, 1))),
    ("#e69f00", (0, (8, 2))),
    ("#56b4e9", (0, (5, 1, 1, 1, 1, 1))),
    ("#222222", (0, (1, 1))),
)
WIDTH, SMALL, TITLE = 9.0, 8, 9.5  # inches of a figure; points of text


def panels(count: int, axes: Sequence[Axes] | None = None, *, height: float = 4.0, columns: int = 2) -> Panels:
    """Return `count` axes in rows of `columns`, or check the ones that were given.

    Raises
    ------
    InputError
        When another number of axes was given.
    """
    if axes is not None:
        given = np.array(axes, dtype=object).ravel()
        if len(given) != count:
            raise InputError(f"this figure has {count} panels, got {len(given)} axes")
        return given
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = plt.figure(figsize=(WIDTH if columns > 1 else 6.4, height * rows), layout=fitted())
    made = [figure.add_subplot(rows, columns, place + 1) for place in range(count)]
    return np.array(made, dtype=object)


def single(ax: Axes | None, *, width: float = WIDTH, height: float = 4.0) -> Axes:
    """Return the given axes, or those of a new figure."""
    return ax if ax is not None else plt.figure(figsize=(width, height), layout=fitted()).add_subplot()


def fitted() -> TightLayoutEngine:
    """Return a layout that measures once what stands around the axes; "constrained" measures all of it twice."""
    # Its rectangle, the whole figure, would be a reason to measure again.
    return TightLayoutEngine(pad=0.4, w_pad=1.2, h_pad=0.8, rect=None)  # type: ignore[arg-type]


def title(ax: Axes, text: str, *, beside: float = 0.9) -> None:
    """Write the finding above the axes, in as many lines as it needs; `beside` inches are taken by labels."""
    grid = ax.get_subplotspec()
    # Topmost: a colorbar splits the cell that the axes had.
    columns = grid.get_topmost_subplotspec().get_gridspec().ncols if grid is not None else 1
    inches = figure_of(ax).get_size_inches()[0] / columns - beside
    room = max(30, int(inches * 72 / (TITLE * 0.52)))
    # An interval is not broken over two lines.
    whole = re.sub(r"\[[^]]*\]", lambda found: found[0].replace(" ", "\u00a0"), text).replace(" [", "\u00a0[")
    # A height that is given spares matplotlib the search for one, which measures every tick again.
    ax.set_title("\n".join(textwrap.wrap(whole, room)), loc="left", y=1, fontsize=TITLE, color=INK, parse_math=False)


def figure_of(ax: Axes) -> Figure:
    """Return the figure that the axes are in."""
    return cast(Figure, ax.get_figure(root=True))


def tidy(ax: Axes, x: str = "", y: str = "") -> None:
    """Name the axes, take away what carries nothing."""
    ax.set_xlabel(x, fontsize=SMALL + 0.5)
    ax.set_ylabel(y, fontsize=SMALL + 0.5)
    ax.tick_params(labelsize=SMALL)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[:].set_in_layout(False)  # they end where the axes do; measuring them measures every tick again


def key_below(ax: Axes, *, columns: int = 1, **text: Any) -> None:
    """Put the legend under the axes, where it covers nothing."""
    # In points, not in shares of the axes: the labels above it do not grow with the axes.
    below = ax.transAxes + ScaledTranslation(0, -36 / 72, figure_of(ax).dpi_scale_trans)
    place: dict[str, Any] = {
        "loc": "upper left",
        "bbox_to_anchor": (0, 0),
        "bbox_transform": below,
        "borderaxespad": 0.0,
    }
    plain(ax.legend(**place, columnspacing=1.2, ncols=columns, fontsize=SMALL, frameon=False, handlelength=3.2, **text))


def plain(legend: Legend) -> None:
    """Take names as they are: a dollar in one is no formula."""
    for text in legend.get_texts():
        text.set_parse_math(False)


def message(ax: Axes | None, text: str) -> Axes:
    """Say in an empty panel, or in a small new figure, why there is nothing to see."""
    ax = single(ax, width=6.4, height=1.2)
    ax.set_axis_off()
    wrapped = "\n".join(textwrap.fill(line, 70) for line in text.splitlines())
    ax.text(
        0.5, 0.5, wrapped, ha="center", va="center", transform=ax.transAxes, fontsize=TITLE, color=INK, parse_math=False
    )
    return ax


def message_panel(axes: Sequence[Axes] | None, text: str) -> Panels:
    """Return one panel that says why nothing can be drawn."""
    found = panels(1, axes, height=1.2)
    message(found[0], text)
    return found


def each_task(
    sweep: Sweep,
    axes: Sequence[Axes] | None,
    draw: Callable[[Axes, str], None],
    *,
    height: float,
    nothing: str = "nothing to detect",
) -> Panels:
    """Draw one panel a task that can be ranked, the others in a caption; `nothing` heads the reasons where none can."""
    tasks, absent = split_tasks(sweep)
    if not tasks:
        return message_panel(axes, f"{nothing}\n{absent}")
    found = panels(len(tasks), axes, height=height)
    for ax, task in zip(found, tasks, strict=True):
        draw(ax, task)
    caption(found, absent, own=axes is None)
    return found


def split_tasks(sweep: Sweep) -> tuple[list[str], str]:
    """Return the tasks that can be ranked, and one line for each of the others that says why not."""
    reasons = {task: why_not(sweep, task) for task in sweep.tasks}
    absent = [f"{task_name(task)}: {why}" for task, why in reasons.items() if why]
    return [task for task, why in reasons.items() if not why], "\n".join(absent)


def caption(axes: Panels, absent: str, *, own: bool) -> None:
    """Name below a figure made here the tasks it leaves out; axes that were given stay as they are."""
    if absent and own:
        line = "not drawn – " + "; ".join(absent.splitlines())
        figure = figure_of(axes[0])
        width, height = figure.get_size_inches()
        said = textwrap.fill(line, int(width * 72 / (SMALL * 0.5)))
        figure.supxlabel(said, fontsize=SMALL, color=GREY, x=0.01, y=0.04 / height, ha="left", parse_math=False)
