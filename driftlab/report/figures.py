"""The report's figures as PNG bytes, the same for the same numbers."""

import io
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from PIL import Image

from driftlab import plot
from driftlab.plot.style import figure_of
from driftlab.report.document import Figure
from driftlab.report.mistakes import Mistake
from driftlab.rules.policy import StopRule
from driftlab.trace.schema import Trace
from driftlab.tuning.naming import best_of, leader, why_not
from driftlab.tuning.objective import Price
from driftlab.tuning.sweep import Sweep

__all__ = ["Album", "drawing", "file_name", "of_mistakes", "of_task", "overall", "png"]

DPI = 110


class Album:
    """Pictures by name, each with a text that says what it shows."""

    def __init__(self) -> None:
        self.pictures: dict[str, bytes] = {}

    def add(self, name: str, axes: Any) -> Figure:
        """Keep the figure of some axes as PNG, close it, return what shows it in a document."""
        found = list(np.array(axes, dtype=object).ravel())
        said = [ax.get_title(loc="left") or "".join(text.get_text() for text in ax.texts[:1]) for ax in found]
        self.pictures[name] = png(figure_of(found[0]))
        plt.close(figure_of(found[0]))
        return Figure(name, " ".join("; ".join(text for text in said if text).split()) or name)


def png(whole: Canvas) -> bytes:
    """Return a figure as PNG. It is drawn once (`savefig` draws twice where there is a layout), without alpha."""
    whole.set_dpi(DPI)
    canvas: Any = FigureCanvasAgg(whole)
    canvas.draw()
    buffer = io.BytesIO()
    pixels = Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba(), "raw", "RGBA", 0, 1)
    # Level 3 takes three quarters of the time; without alpha the files are still smaller than they were.
    pixels.convert("RGB").save(buffer, "png", dpi=(DPI, DPI), compress_level=3)
    return buffer.getvalue()


@contextmanager
def drawing() -> Iterator[Album]:
    """Draw with matplotlib's own defaults, whatever style is in force; nothing stays behind."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        # A name in a script that the built-in face lacks is drawn as boxes; the tables have it right.
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*missing")
        yield Album()


def overall(album: Album, sweep: Sweep, price: Price | None = None) -> dict[str, Figure]:
    """Draw what spans all tasks; where none can be ranked only a table and a line that says so."""
    if not sweep.tasks:
        return {}
    found = {"overview": album.add("overview", plot.overview(sweep)), "roc": album.add("roc", plot.roc(sweep))}
    if all(why_not(sweep, task) for task in sweep.tasks):
        return found
    money = {} if price is None else {"cost": album.add("cost", plot.cost(sweep, price))}
    return (
        found
        | money
        | {
            "pr": album.add("pr", plot.pr(sweep)),
            "amoc": album.add("amoc", plot.amoc(sweep)),
            "saved": album.add("saved", plot.amoc(sweep, value="saved")),
        }
    )


def of_task(album: Album, sweep: Sweep, task: str, rules: Mapping[str, StopRule]) -> list[Figure]:
    """Draw settings, scores and waste of the metric that leads on a task; nothing where none can be ranked."""
    best = leader(best_of(sweep, task))
    if why_not(sweep, task) or best is None:
        return []
    rule = rules.get(task)
    name = file_name(sweep.tasks, task)
    own = [c for c in sweep.cells if rule is not None and c.task == task and c.detector == rule.detector]
    shown = own[0] if own else best
    metric = repr(shown.detector.needs[0]) if shown.accumulator else None
    found = [
        album.add(f"heatmap_{kind}_{name}", plot.heatmap(sweep, task=task, metric=metric, value=kind, rule=rule))
        for kind in ("saved", "false_stop_rate")
    ]
    line = rule.threshold if rule is not None and own else None
    found.append(album.add(f"scores_{name}", plot.scores(sweep, shown, threshold=line)))
    if rule is not None and not rule.watch_only and own:
        found.append(album.add(f"waste_{name}", plot.waste(rule, sweep.evaluations[task].measurements)))
    return found


def of_mistakes(album: Album, picked: Sequence[Mistake], traces: Mapping[str, Trace]) -> list[Figure]:
    """Draw each run step by step."""
    return [album.add(f"error_{n:02d}", plot.strip(traces[m.trace_id], m.rule)) for n, m in enumerate(picked, 1)]


def file_name(tasks: Iterable[str], task: str) -> str:
    """Return a name for files: the task's place and what of its name any file system takes.

    Examples
    --------
    >>> file_name(["Web / shop", "sql"], "Web / shop"), file_name([""], "")
    ('1_web_shop', '1_all')
    """
    plain = re.sub(r"[^a-z0-9]+", "_", task.lower()).strip("_")[:40]
    return f"{list(tasks).index(task) + 1}_{plain or 'all'}"
