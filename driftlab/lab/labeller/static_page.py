"""Steps of a run side by side in a page that needs no kernel."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from driftlab._util.errors import InputError
from driftlab.lab.labeller.html import STYLE
from driftlab.lab.labeller.sparklines import delta_strip, signal_strips, to_html
from driftlab.lab.labeller.step_html import Reader
from driftlab.metrics import Metric, metric
from driftlab.trace.schema import Trace

__all__ = ["Page", "show"]

FIRST, WIDE = 12, 110  # steps shown when none are named; characters of a row in plain text


@dataclass(frozen=True)
class Page:
    """HTML that a notebook shows as it is; `str` is the same in plain text.

    Attributes
    ----------
    html : str
    text : str
    """

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __str__(self) -> str:
        return self.text


def show(
    trace: Trace,
    steps: Iterable[int] | None = None,
    *,
    metrics: Iterable[str | Metric] = (),
    labels: bool = False,
    most: int = 12,
) -> Page:
    """Show steps of a run: what is new stands out, what was seen before is dimmed.

    Parameters
    ----------
    trace : Trace
    steps : iterable of int, optional
        Which ones, from 0; by default the first 12. An empty list shows the strips alone.
    metrics : iterable of str or Metric
        Deltas to draw over the whole run.
    labels : bool
        Shade the marked stalls; off, so that you can make up your own mind.
    most : int
        Lines of a text that are shown.

    Raises
    ------
    InputError
        When the run has no such step.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> print(show(Trace(id="run-1", steps=[Step(tool="ls", output="a"), Step(tool="ls", output="a")])))
    run-1, 2 steps
      0  2 new lines   ls -> a
      1  nothing new   ls -> a
    """
    count = len(trace.steps)
    wanted = list(range(min(FIRST, count)) if steps is None else steps)
    wrong = [t for t in wanted if not 0 <= t < count]
    if wrong:
        raise InputError(f"run {trace.id!r} has {count} steps, counted from 0; there is no step {wrong[0]}")
    reader = Reader(trace)
    strips = [*(delta_strip(trace, metric(each)) for each in metrics), *signal_strips(trace)]
    shown = to_html(strips, spans=_spans(trace) if labels else {}) + "".join(reader.html(t, most=most) for t in wanted)
    html = f'<style>{STYLE}</style><div class="driftlab-label">{_head(trace, labels)}{shown}</div>'
    rows = "".join(f"\n{_row(reader, t)}" for t in wanted)
    return Page(html, f"{trace.id}, {count} steps{rows}")


def _spans(trace: Trace) -> dict[str, tuple[int, int]]:
    count = len(trace.steps)
    return {f"s{i}": (s.start, count if s.end is None else s.end) for i, s in enumerate(trace.stalls)}


def _head(trace: Trace, labels: bool) -> str:
    about = [f"task {trace.task}" if trace.task else "", f"{len(trace.steps)} steps", _label(trace) if labels else ""]
    told = "".join(f"<span>{escape(each)}</span>" for each in about if each)
    return f'<div class="head"><b>{escape(trace.id)}</b>{told}</div>'


def _label(trace: Trace) -> str:
    marked = "" if trace.onset is None else f" from step {trace.onset}"
    return f"labelled {trace.label}{marked}" if trace.label else "not labelled"


def _row(reader: Reader, t: int) -> str:
    own, news = reader.texts[t], reader.news(t)
    told = f"{news} new line{'s' * (news != 1)}" if news else "nothing new"
    said = [" ".join(own[name].split())[:60] for name in ("action", "output", "state", "thought") if own.get(name)]
    return f"{t:>3}  {told:<13} {' -> '.join(said[:2])}"[:WIDE].rstrip()
