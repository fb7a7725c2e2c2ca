"""One run, step by step."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from driftlab._util.errors import InputError
from driftlab._util.wording import counted
from driftlab.detectors import detector, first_alarms
from driftlab.evaluation.labels import Labels, outcomes
from driftlab.metrics import Metric, Pairwise, metric
from driftlab.metrics.column import Column
from driftlab.metrics.measurements import measure
from driftlab.plot.style import GREY, INK, LINES, PALE, SMALL, STALLED, Panels, figure_of, plain, single, tidy, title
from driftlab.plot.style import panels as stacked
from driftlab.rules.policy import StopRule
from driftlab.trace.schema import Trace
from driftlab.trace.views import column

__all__ = ["similarity", "strip"]

LONGEST = 400  # steps of a run whose pairs are all compared


def strip(
    trace: Trace, rule: StopRule, metrics: Iterable[str | Metric] = (), *, axes: Sequence[Axes] | None = None
) -> Panels:
    """Draw deltas, score, alarm, marked stall and signals of one run, step by step.

    Parameters
    ----------
    trace : Trace
    rule : StopRule
        Whose score, threshold and alarm are drawn; its own deltas come first.
    metrics : iterable of str or Metric
        More deltas.
    axes : sequence of Axes, optional
        Two, or three when the run has signals.

    Returns
    -------
    (2 or 3,) array of Axes
        Deltas; score; signals.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from driftlab.trace.schema import Span, Step
    >>> loop = Trace(id="run-1", label="stalled", stalls=[Span(1)], steps=[Step(state="x")] * 5)
    >>> axes = strip(loop, StopRule("plateau(exact, run(2))", 1.0))
    >>> axes[0].get_title(loc="left")
    'run-1: hit at step 2, 1 step after the onset'
    >>> plt.close(axes[0].figure)
    """
    shown = list(dict.fromkeys([*rule.detector.needs, *map(metric, metrics)]))
    measured = measure([trace], shown)
    scores = detector(rule.detector).scores(measured)
    alarm = int(first_alarms(scores, measured.offsets, rule.threshold)[0])
    signals = sorted({name for step in trace.steps for name in step.signals or {}})
    found = _lanes(2 + bool(signals), axes)
    _deltas(found[0], [each for each in shown if isinstance(each, Metric)], measured.columns)
    _score(found[1], scores, rule, alarm)
    if signals:
        _signals(found[2], trace, signals)
    for place, ax in enumerate(found):
        _span(ax, trace, "" if place else "marked stall")
        ax.set_xlim(-0.6, max(len(trace.steps) - 0.4, 0.6))
        ax.xaxis.set_major_locator(MaxNLocator(nbins=20, integer=True))
        if len(ax.get_legend_handles_labels()[1]):
            plain(ax.legend(loc="center left", bbox_to_anchor=(1.005, 0.5), fontsize=SMALL, frameon=False))
    found[-1].set_xlabel("step", fontsize=SMALL + 0.5)
    title(found[0], f"{trace.id}: {_outcome(trace, alarm, np.diff(measured.offsets))}")
    return found


def similarity(trace: Trace, of: str | Metric = "levenshtein(view='call')", *, ax: Axes | None = None) -> Axes:
    """Draw how alike every two steps of one run are.

    Parameters
    ----------
    of : str or Pairwise
        A metric that compares two texts; its view says which.

    Raises
    ------
    InputError
        When the metric compares no two texts, or the run is longer than 400 steps.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from driftlab.trace.schema import Step
    >>> ax = similarity(Trace(id="run-1", steps=[Step(state=s) for s in "aba"]), "exact")
    >>> ax.get_title(loc="left")
    'run-1: 1 of 3 steps repeats an earlier one, by exact (state)'
    >>> plt.close(ax.figure)
    """
    found = metric(of)
    if not isinstance(found, Pairwise):
        raise InputError(f"similarity needs a metric that compares two texts, got {found!r}; use for example 'exact'")
    if len(trace.steps) > LONGEST:
        raise InputError(
            f"trace {trace.id!r} has {len(trace.steps)} steps, similarity compares at most {LONGEST}; cut it first"
        )
    matrix = _matrix(trace, found)
    ax = single(ax, width=5.6, height=5.0)
    ax.set_facecolor(PALE)
    image = ax.imshow(matrix, cmap="cividis", vmin=0, vmax=1, origin="upper")
    bar = figure_of(ax).colorbar(image, ax=ax, pad=0.02, shrink=0.85)
    bar.ax.tick_params(labelsize=SMALL)
    bar.set_label("similarity (1 = equal; grey: nothing to compare)", fontsize=SMALL)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=12, integer=True))
    tidy(ax, "step", "step")
    _frames(ax, trace)
    title(ax, _repeats(trace, found, matrix))
    return ax


def _frames(ax: Axes, trace: Trace) -> None:
    """A square around each marked stall."""
    for span in trace.stalls:
        end = len(trace.steps) if span.end is None else span.end
        corners = [span.start - 0.5, end - 0.5]
        ax.plot(
            [*corners, *corners[::-1], corners[0]],
            [corners[0], *corners, *corners[::-1]],
            color=STALLED,
            linewidth=1.6,
            label="marked stall",
        )


def _matrix(trace: Trace, found: Pairwise) -> NDArray[np.float64]:
    """Similarity of every two steps, `nan` where one lacks the view; each distinct pair compared once."""
    seen = column(trace.steps, found.view, found.mask)
    symbols = seen.symbols
    texts = [text for text in dict.fromkeys(seen.texts) if text is not None]
    known = len(texts)
    pairs = [(i, j) for i in range(known) for j in range(i + 1, known)]
    alike = np.eye(known)
    if pairs:
        deltas = found.deltas([(texts[i], texts[j]) for i, j in pairs])
        rows, columns = np.array(pairs).T
        alike[rows, columns] = alike[columns, rows] = 1 - deltas
    whole = np.full((len(symbols), len(symbols)), np.nan)
    spoken = np.flatnonzero(symbols >= 0)
    whole[np.ix_(spoken, spoken)] = alike[np.ix_(symbols[spoken], symbols[spoken])]
    return whole


def _repeats(trace: Trace, found: Pairwise, matrix: NDArray[np.float64]) -> str:
    spoken = np.flatnonzero(~np.isnan(np.diag(matrix)))
    name = f"{found.name} ({found.view})"
    if not len(spoken):
        return f"{trace.id}: no step has the view {found.view}"
    earlier = np.tril(np.nan_to_num(matrix), -1)
    count = int((earlier.max(axis=1) == 1.0).sum())
    verb = "repeats" if count == 1 else "repeat"
    return f"{trace.id}: {count} of {counted(len(spoken), 'step')} {verb} an earlier one, by {name}"


def _lanes(count: int, axes: Sequence[Axes] | None) -> Panels:
    found = stacked(count, axes, height=1.25, columns=1)
    if axes is None:
        figure_of(found[0]).set_size_inches(9.0, 0.9 + 1.15 * count)
        for ax in found[:-1]:
            ax.sharex(found[-1])
            ax.xaxis.set_visible(False)  # the steps are counted once, at the bottom
    return found


def _deltas(ax: Axes, shown: Sequence[Column], columns: Mapping[Column, NDArray[Any]]) -> None:
    for each, (colour, dashes) in zip(shown, LINES, strict=False):
        text = f"{each.name} ({getattr(each, 'view', '') or getattr(each, 'signal', '')})"
        known = np.flatnonzero(~np.isnan(columns[each]))
        ax.plot(
            known,
            columns[each][known],
            color=colour,
            linestyle=dashes,
            linewidth=1.3,
            marker="o",
            markersize=3,
            label=text,
        )
    tidy(ax, y="delta")
    ax.set(ylim=(-0.06, 1.06), yticks=(0, 0.5, 1))
    if not shown:
        middle: dict[str, Any] = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "the rule reads no deltas", fontsize=SMALL, color=GREY, **middle)


def _score(ax: Axes, scores: NDArray[np.float64], rule: StopRule, alarm: int) -> None:
    ax.step(np.arange(len(scores)), scores, where="mid", color=INK, linewidth=1.5, label="score")
    if rule.threshold <= 1:
        ax.axhline(rule.threshold, color=GREY, linestyle="--", linewidth=1.2, label=f"threshold {rule.threshold:.3g}")
    if alarm >= 0:
        ax.plot(
            [alarm],
            [scores[alarm]],
            marker="v",
            markersize=9,
            color=STALLED,
            markeredgecolor=INK,
            linestyle="none",
            label="alarm",
        )
    tidy(ax, y="score")
    ax.set(ylim=(-0.06, 1.12), yticks=(0, 0.5, 1))


def _signals(ax: Axes, trace: Trace, signals: Sequence[str]) -> None:
    for name, (colour, dashes) in zip(signals, LINES, strict=False):
        values = [np.nan if (v := (step.signals or {}).get(name)) is None else v for step in trace.steps]
        known = np.flatnonzero(~np.isnan(values))
        ax.plot(
            known,
            np.array(values)[known],
            color=colour,
            linestyle=dashes,
            linewidth=1.3,
            marker="s",
            markersize=3,
            label=name,
        )
    tidy(ax, y="signal")
    ax.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
    low, high = ax.get_ylim()
    if high - low < 0.2:  # a constant signal: a scale of thousandths would look like news
        ax.set_ylim((low + high) / 2 - 0.5, (low + high) / 2 + 0.5)


def _span(ax: Axes, trace: Trace, name: str) -> None:
    for place, span in enumerate(trace.stalls):
        end = len(trace.steps) if span.end is None else span.end
        text = name if name and not place else None
        ax.axvspan(span.start - 0.5, end - 0.5, color=STALLED, alpha=0.13, linewidth=0, label=text)


def _outcome(trace: Trace, alarm: int, lengths: NDArray[np.int64]) -> str:
    named = str(outcomes(np.array([alarm]), Labels.of([trace.info], lengths))[0])
    if named == "none":
        return f"alarm at step {alarm} of an unlabelled run" if alarm >= 0 else "no alarm on an unlabelled run"
    if trace.onset is None:
        return f"{named} at step {alarm} of {len(trace.steps)}" if alarm >= 0 else "passes, no alarm on a good run"
    if alarm < 0:
        return f"missed, no alarm on a run that stalls at step {trace.onset}"
    apart = alarm - trace.onset
    return f"{named} at step {alarm}, {counted(abs(apart), 'step')} {'after' if apart >= 0 else 'before'} the onset"
