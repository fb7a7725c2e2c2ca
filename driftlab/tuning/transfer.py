"""What a rule tuned on some traces does on others: left-out tasks, agents, setups, sources."""

import math
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from driftlab._util.checks import measuring
from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab._util.spec import choice, share
from driftlab.detectors import Detector, score
from driftlab.evaluation.operating_point import operating_point
from driftlab.evaluation.tally import Labels
from driftlab.metrics.measurements import Measurements
from driftlab.trace.schema import Trace
from driftlab.tuning.cells import DECAY, PATIENCE, choosable
from driftlab.tuning.objective import Objective, choices, ordered
from driftlab.tuning.sweep import LIMIT

__all__ = ["RATES", "SHARED", "TOO_GOOD", "UNTUNED", "transfer"]

TOO_GOOD = "tuned here: too good"
UNTUNED = "nothing was tuned: stalled or good traces are missing there"
SHARED = "tuned on runs of the same problems: too good"
BY = ("task", "agent", "setup", "source")
RATES = (
    "recall", "recall_low", "recall_high", "saved", "precision",
    "false_stop_rate", "false_stop_rate_low", "false_stop_rate_high",
)  # fmt: skip


def transfer(
    traces: Iterable[Trace] | Measurements,
    by: str,
    metrics: Iterable[str] | None = None,
    *,
    left_out: bool = False,
    max_false_stop: float | None = LIMIT,
    objective: str | Objective = "saved",
    patience: Iterable[int] = PATIENCE,
    decay: Iterable[float] = DECAY,
    detectors: Iterable[str | Detector] = (),
    cache: str | os.PathLike[str] | None = None,
    n_jobs: int | None = 1,
    progress: bool = False,
) -> Any:
    """Tune a rule on each value of a field, try it on every value: the diagonal is too good, the rest is transfer.

    Parameters
    ----------
    traces : corpus, iterable of Trace, or Measurements
    by : {"task", "agent", "setup", "source"}
    metrics : iterable of str, optional
        As in `dl.sweep`.
    left_out : bool
        Tune on all values but one instead, and try on the one left out. Problems that occur on both sides then
        tune nothing, unless all do: a note says so.
    max_false_stop : float or None
        Limit on the traces the rule is tuned on; None sets none.
    objective : str
        What it is tuned for; see `objective.OBJECTIVES`.
    patience, decay, detectors : iterable
        What is tried, as in `dl.sweep`.
    cache, n_jobs, progress
        As in `dl.measure`.

    Returns
    -------
    pandas.DataFrame
        Columns: tuned_on, tried_on, note, detector, threshold, n_stalled, n_good, recall, recall_low, recall_high,
        saved, precision, false_stop_rate, false_stop_rate_low, false_stop_rate_high.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, Step
    >>> stuck, fine = [Step(state="x")] * 4, [Step(state=s) for s in "xyz"]
    >>> loops = [Trace(id=f"l{a}", agent=a, label="stalled", stalls=[Span(1)], steps=stuck) for a in "ab"]
    >>> work = [Trace(id=f"w{a}", agent=a, label="good", steps=fine) for a in "ab"]
    >>> transfer(loops + work, "agent", ["exact"])[["tuned_on", "tried_on", "recall"]].values.tolist()
    [['a', 'a', 1.0], ['a', 'b', 1.0], ['b', 'a', 1.0], ['b', 'b', 1.0]]
    >>> transfer(loops + work, "agent", ["exact"], left_out=True)[["tuned_on", "tried_on", "recall"]].values.tolist()
    [['all but a', 'a', 1.0], ['all but b', 'b', 1.0]]
    """
    choice("by", by, BY)
    measuring(n_jobs, progress)
    if max_false_stop is not None:
        share("max_false_stop", max_false_stop)
    measured, wanted = choosable(
        traces,
        metrics,
        patience=patience,
        decay=decay,
        detectors=detectors,
        cache=cache,
        n_jobs=n_jobs,
        progress=progress,
    )
    return _rows(measured, wanted, by, left_out, (max_false_stop, objective))


def _rows(
    measured: Measurements, wanted: list[Detector], by: str, out: bool, how: tuple[float | None, str | Objective]
) -> Any:
    kinds = np.array([getattr(info, by) or "(none)" for info in measured.infos], dtype=object)
    names = sorted(set(kinds))
    if not names:
        raise InputError("there are no traces: nothing can be tuned or tried")
    labels, scores = Labels.of(measured.infos, measured.lengths), score(measured, wanted)
    sides = [_tuning(measured, labels, kinds == name, out) for name in names]
    tuning = np.stack([inside for inside, _ in sides])
    chosen, rows = choices(scores, measured.offsets, labels, tuning, objective=how[1], limit=how[0]), []
    for number, tuned_on in enumerate(names):
        best = ordered(chosen, number)[0]
        for name in [tuned_on] if out else names:
            note = sides[number][1] if out else TOO_GOOD if name == tuned_on else ""
            at = {"tuned_on": f"all but {tuned_on}" if out else tuned_on, "tried_on": name, "note": note}
            row = at | _row(measured, scores, best, kinds == name)
            # Without both classes nothing was chosen; rates of that would be those of a guess.
            both = labels.stalled[tuning[number]].any() and labels.good[tuning[number]].any()
            rows.append(row if both else row | dict.fromkeys(RATES, math.nan) | {"note": UNTUNED})
    return need("pandas", "study").DataFrame(rows)


def _tuning(measured: Measurements, labels: Labels, inside_kind: Any, out: bool) -> tuple[Any, str]:
    """Which traces tune, and what to say of it; problems of the traces left out tune nothing where others remain."""
    if not out:
        return inside_kind, ""
    # Runs of one problem by several agents share their words: tuned on one, a rule knows the others.
    held = {info.group for info, inside in zip(measured.infos, inside_kind, strict=True) if inside}
    apart = ~inside_kind & np.array([info.group not in held for info in measured.infos], dtype=bool)
    if labels.stalled[apart].any() and labels.good[apart].any():
        return apart, ""
    return ~inside_kind, SHARED


def _row(measured: Measurements, scores: dict[Detector, Any], best: dict[str, Any], inside: Any) -> dict[str, Any]:
    rows = np.flatnonzero(inside)
    part, steps = measured.take(rows), np.repeat(inside, measured.lengths)
    detector, threshold = best["detector"], best["threshold"]
    point = operating_point(part, scores[detector][steps], detector, threshold)
    row = {"detector": repr(detector), "threshold": threshold}
    return row | {name: point[name] for name in ("n_stalled", "n_good", *RATES)}
