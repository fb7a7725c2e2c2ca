"""Distributions: of scores at equal age, of delays, of steps saved or lost."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from driftlab._util.wording import counted, share_text
from driftlab.evaluation.bands import Extremes, extremes
from driftlab.evaluation.labels import Ints, Labels, outcomes
from driftlab.evaluation.tally import Tally, tally
from driftlab.metrics.measurements import Measurements
from driftlab.plot.style import (
    GOOD,
    GREY,
    INK,
    SMALL,
    STALLED,
    Panels,
    key_below,
    message,
    message_panel,
    panels,
    single,
    tidy,
    title,
)
from driftlab.rules.policy import StopRule
from driftlab.tuning.naming import cell_name, task_name
from driftlab.tuning.sweep import LIMIT, Cell, Sweep

__all__ = ["scores", "waste"]


def scores(sweep: Sweep, cell: Cell, *, threshold: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw the largest scores of stalled and of good traces over the steps that are compared.

    Parameters
    ----------
    cell : Cell
        One of `sweep.cells`.
    threshold : float, optional
        Drawn in; default: the smallest within 5 % false stops on these traces.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from driftlab.tuning.sweep import sweep
    >>> from driftlab.trace.schema import Step, Trace
    >>> found = sweep([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"])
    >>> ax = scores(found, found.cells[0])
    >>> ax.texts[0].get_text()
    'all traces: no stalled traces'
    >>> plt.close(ax.figure)
    """
    evaluation = sweep.evaluations[cell.task]
    found = extremes(evaluation.ranking, cell.scores, evaluation.measurements.offsets)
    ax = single(ax, width=6.4, height=3.8)
    if not len(found.stalled) or np.isnan(cell.ranked.auc):
        return message(
            ax, f"{task_name(cell.task)}: {evaluation.undefined.removeprefix('undefined: ') or cell.verdict}"
        )
    line = cell.curve.at_limit(LIMIT) if threshold is None else threshold
    _histograms(ax, found)
    if line <= 1:
        ax.axvline(line, color=INK, linestyle="--", linewidth=1.4, label=f"threshold {line:.3g}")
    tidy(ax, f"largest score over {counted(evaluation.horizon or 0, 'step')} (1 = nothing new)", "share of traces")
    ax.set_xlim(0, 1)
    key_below(ax, columns=3)
    stalled, good = found.shares(line)
    reached = f"{share_text(stalled)} of stalled, {share_text(good)} of good traces reach {line:.2f} at equal age"
    said = reached if line <= 1 else f"no score keeps false stops within {share_text(LIMIT)}"
    title(ax, f"{task_name(cell.task)}, {cell_name(cell)} {cell.accumulator}: {said}")
    return ax


def waste(rule: StopRule, measured: Measurements, *, axes: Sequence[Axes] | None = None) -> Panels:
    """Draw the delays of a rule's hits, and where the steps of stalled and good traces go.

    Parameters
    ----------
    rule : StopRule
    measured : Measurements
        Labelled traces with the columns the rule needs, such as ``sweep.evaluations[task].measurements``.
    axes : sequence of two Axes, optional

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Span, Step, Trace
    >>> loop = Trace(id="a", label="stalled", stalls=[Span(1)], steps=[Step(state="x")] * 5)
    >>> axes = waste(StopRule("plateau(exact, run(2))", 1.0), measure([loop], ["exact"]))
    >>> axes[1].get_title(loc="left")
    'saves 40% of stalled steps; no good traces'
    >>> plt.close(axes[0].figure)
    """
    labels = Labels.of(measured.infos, measured.lengths)
    if not (labels.stalled.any() or labels.good.any()):
        return message_panel(axes, "no labelled traces: nothing is saved or lost")
    alarms = rule.alarms(measured)
    found = panels(2, axes, height=3.4)
    _delays(found[0], alarms, labels)
    _steps(found[1], alarms, labels, tally(alarms, labels, rule.detector.patience))
    return found


def _histograms(ax: Axes, found: Extremes) -> None:
    bins = np.linspace(0, 1, 26)
    kinds = (("stalled, from the onset", found.stalled, np.ones(len(found.stalled)), STALLED, "///"),)
    for name, values, weight, colour, hatch in (*kinds, ("good, the same steps", found.good, found.weight, GOOD, "")):
        _, _, bars = ax.hist(values, bins=list(bins), weights=weight / weight.sum(), histtype="stepfilled", label=name)
        for patch in bars:  # type: ignore[union-attr]
            patch.set(facecolor=to_rgba(colour, 0.25), edgecolor=colour, hatch=hatch, linewidth=1.5)  # type: ignore[union-attr]


def _delays(ax: Axes, alarms: Ints, labels: Labels) -> None:
    hits = outcomes(alarms, labels) == "hit"
    delays, n = (alarms - labels.onset)[hits], int(labels.stalled.sum())
    if not len(delays):
        said = f"none of {n} stalls is hit" if n else "no stalled traces"
        message(ax, said)
        return
    ax.hist(delays, bins=list(np.arange(delays.max() + 2) - 0.5), color=STALLED, edgecolor="white", linewidth=0.5)
    middle = float(np.median(delays))
    ax.axvline(middle, color=INK, linestyle="--", linewidth=1.3, label=f"median {middle:g}")
    tidy(ax, "delay: steps from the onset to the alarm", "hits")
    for axis, bins in ((ax.xaxis, 8), (ax.yaxis, 6)):
        axis.set_major_locator(MaxNLocator(nbins=bins, integer=True))
    key_below(ax)
    title(ax, f"{len(delays)} of {n} stalls hit, half of the hits within {middle:g} steps of the onset")


def _steps(ax: Axes, alarms: Ints, labels: Labels, found: Tally) -> None:
    """Two bars of 100 %: what becomes of the steps of stalled and of good traces."""
    rows = {
        "stalled": _fates(alarms, labels),
        "good": {"run": found.good_steps - found.lost_steps, "lost to a false stop": found.lost_steps},
    }
    for place, (kind, parts) in enumerate(rows.items()):
        _bar(ax, place, parts, f"no {kind} traces")
    names = [f"stalled\n{counted(found.n_stalled, 'trace')}", f"good\n{counted(found.n_good, 'trace')}"]
    ax.set_yticks([0, 1], names)
    tidy(ax, "share of steps")
    ax.set(xlim=(0, 1), ylim=(1.6, -0.6))
    saves = f"saves {share_text(found.saved)} of stalled steps" if found.n_stalled else "no stalled traces"
    lost = found.lost_steps / found.good_steps if found.good_steps else float("nan")
    title(ax, f"{saves}; {f'loses {share_text(lost)} of good steps' if found.n_good else 'no good traces'}")
    _key(ax)


_COLOURS = {
    "before the onset": ("#d4d4d4", ""),
    "run": ("#d4d4d4", ""),
    "stalled, not stopped": ("#e69f00", "\\\\\\"),
    "saved": ("#009e73", ""),
    "lost to a premature alarm": ("#d55e00", "///"),
    "lost to a false stop": ("#d55e00", "///"),
}


def _fates(alarms: Ints, labels: Labels) -> dict[str, int]:
    named, rows = outcomes(alarms, labels), labels.stalled
    lengths, after = labels.lengths, labels.lengths - 1 - alarms
    saved = int(after[named == "hit"].sum())
    early = int(after[named == "premature"].sum())
    before = int(np.minimum(labels.onset, np.where(named == "premature", alarms + 1, labels.onset))[rows].sum())
    rest = int(lengths[rows].sum()) - saved - early - before
    return {
        "before the onset": before,
        "stalled, not stopped": rest,
        "saved": saved,
        "lost to a premature alarm": early,
    }


def _bar(ax: Axes, place: int, parts: dict[str, int], absent: str) -> None:
    total, left = sum(parts.values()), 0.0
    if not total:
        ax.text(0.5, place, absent, ha="center", va="center", fontsize=SMALL, color=GREY)
        return
    for name, steps in parts.items():
        colour, hatch = _COLOURS[name]
        ax.barh(
            place, steps / total, left=left, height=0.55, color=colour, hatch=hatch, edgecolor="white", linewidth=0.6
        )
        if steps / total > 0.07:
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2, "alpha": 0.85}
            ax.text(
                left + steps / total / 2,
                place,
                share_text(steps / total),
                ha="center",
                va="center",
                fontsize=SMALL,
                bbox=box,
            )
        left += steps / total


def _key(ax: Axes) -> None:
    names = {"run": "work", "stalled, not stopped": "stalled, not stopped", "saved": "saved"}
    names["lost to a false stop"] = "lost to a premature alarm or false stop"
    keys = [
        Patch(facecolor=_COLOURS[n][0], hatch=_COLOURS[n][1], edgecolor="white", label=text)
        for n, text in names.items()
    ]
    key_below(ax, columns=2, handles=keys)
