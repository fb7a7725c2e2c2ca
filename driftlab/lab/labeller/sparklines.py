"""A run at a glance, as inline SVG: deltas, signals, the marked span, the step in view."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from driftlab.metrics import Metric
from driftlab.metrics.measurements import measure
from driftlab.trace.schema import Trace

__all__ = ["Strip", "delta_strip", "signal_strips", "to_html"]

WIDE, HIGH = 10, 34  # of one step, in SVG units


@dataclass(frozen=True)
class Strip:
    """One number a step, in [0, 1]; `nan` where there is none.

    Attributes
    ----------
    name : str
    heights : tuple of float
    told : tuple of str
        What the pointer shows over each step.
    line : bool
        Drawn as a line (signals) instead of bars (deltas).
    """

    name: str
    heights: tuple[float, ...]
    told: tuple[str, ...]
    line: bool = False


def delta_strip(trace: Trace, metric: Metric) -> Strip:
    """Measure one run for its strip.

    Examples
    --------
    >>> from driftlab.metrics import metric
    >>> from driftlab.trace.schema import Step
    >>> delta_strip(Trace(id="a", steps=[Step(state="x"), Step(state="x")]), metric("exact")).heights
    (1.0, 0.0)
    """
    deltas = [float(x) for x in measure([trace], [metric]).deltas(metric)]
    told = ["no opinion" if math.isnan(x) else f"delta {x:.2f}" for x in deltas]
    return Strip(repr(metric), tuple(deltas), tuple(told))


def signal_strips(trace: Trace) -> list[Strip]:
    """Return one strip for each signal of the run, scaled from its lowest to its highest value.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> signal_strips(Trace(id="a", steps=[Step.of(passed=2), Step.of(passed=6)]))[0].heights
    (0.0, 1.0)
    """
    names = dict.fromkeys(name for step in trace.steps for name in step.signals or {})
    return [_signal(name, [(step.signals or {}).get(name) for step in trace.steps]) for name in names]


def _signal(name: str, values: Sequence[float | None]) -> Strip:
    known = [v for v in values if v is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    scale = (high - low) or 1.0
    heights = tuple(math.nan if v is None else (v - low) / scale for v in values)
    told = tuple("not measured" if v is None else f"{name} {v:g}" for v in values)
    return Strip(f"{name} ({low:g} to {high:g})", heights, told, line=True)


def to_html(strips: Sequence[Strip], *, t: int | None = None, spans: Mapping[str, tuple[int, int]] = {}) -> str:
    """Return strips as HTML, one under the other; every step carries ``data-t`` for the pointer.

    Parameters
    ----------
    strips : sequence of Strip
    t : int, optional
        The step in view.
    spans : mapping of str to (int, int)
        Half-open ranges to shade, by CSS class.

    Examples
    --------
    >>> 'data-t="1"' in to_html([Strip("delta", (1.0, 0.0), ("delta 1.00", "delta 0.00"))])
    True
    """
    return "".join(_one(strip, t, spans) for strip in strips)


def _one(strip: Strip, t: int | None, spans: Mapping[str, tuple[int, int]]) -> str:
    parts = [_box(start, end, f"span {escape(name)}") for name, (start, end) in spans.items()]
    parts += [_box(t, t + 1, "here")] if t is not None else []
    parts += [_line(strip) if strip.line else _bars(strip)]
    parts += [_box(i, i + 1, "touch", f"step {i}: {told}") for i, told in enumerate(strip.told)]
    box = f'viewBox="0 0 {max(len(strip.heights), 1) * WIDE} {HIGH}" preserveAspectRatio="none"'
    name = f'<div class="name">{escape(strip.name)}</div>'
    return f'<div class="strip">{name}<svg {box}>{"".join(parts)}</svg></div>'


def _box(start: int, end: int, kind: str, told: str = "") -> str:
    place = f'x="{start * WIDE}" y="0" width="{(end - start) * WIDE}" height="{HIGH}"'
    return f'<rect class="{kind}" data-t="{start}" {place}><title>{escape(told)}</title></rect>'


def _bars(strip: Strip) -> str:
    known = [(i, max(2.0, h * (HIGH - 2))) for i, h in enumerate(strip.heights) if not math.isnan(h)]
    places = [f'x="{i * WIDE + 1}" y="{HIGH - h:.1f}" width="{WIDE - 2}" height="{h:.1f}"' for i, h in known]
    return "".join(f'<rect class="bar" {place}/>' for place in places)


def _line(strip: Strip) -> str:
    known = [(i, h) for i, h in enumerate(strip.heights) if not math.isnan(h)]
    points = [(i * WIDE + WIDE / 2, HIGH - 3 - h * (HIGH - 6)) for i, h in known]
    path = " ".join(f"{x:g},{y:.1f}" for x, y in points)
    dots = "".join(f'<rect class="dot" x="{x - 1.5:g}" y="{y - 2:.1f}" width="3" height="4"/>' for x, y in points)
    return f'<polyline class="line" points="{path}"/>{dots}'
