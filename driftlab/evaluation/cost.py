"""What steps cost besides their number: tokens, seconds."""

from dataclasses import dataclass

import numpy as np

from driftlab.evaluation.labels import Floats, Ints, Labels, outcomes, ratio
from driftlab.metrics.columns.spent import Spent
from driftlab.metrics.measurements import Measurements

__all__ = ["Cost", "cost"]


@dataclass(frozen=True)
class Cost:
    """What a rule saves and loses in one unit.

    Attributes
    ----------
    saved, wasted, lost : float
        After hits; inside stalls up to the alarm, or to the stall's end without one; after false stops.
    stalled, good : float
        All of stalled traces; all of good ones.
    untold : int
        Steps of labelled traces that do not say what they used; they count as nothing.

    Examples
    --------
    >>> Cost(saved=25.0, wasted=10.0, lost=0.0, stalled=100.0, good=80.0, untold=0).share
    0.25
    """

    saved: float
    wasted: float
    lost: float
    stalled: float
    good: float
    untold: int

    @property
    def share(self) -> float:
        """Saved over all of stalled traces."""
        return float(ratio(self.saved, self.stalled))


def cost(alarms: Ints, labels: Labels, measured: Measurements, unit: str) -> Cost | None:
    """Add up what first alarms save and lose; None where no step tells the unit.

    Examples
    --------
    >>> import numpy as np
    >>> from driftlab.metrics.columns.spent import Spent
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Span, Step, Trace
    >>> loop = Trace(id="a", label="stalled", stalls=[Span(1)], steps=[Step(tokens=n) for n in (8, 4, 2, 1)])
    >>> measured = measure([loop], [Spent("tokens")])
    >>> found = cost(np.array([2]), Labels.of([loop], np.array([4])), measured, "tokens")
    >>> found.saved, found.wasted, found.stalled
    (1.0, 6.0, 15.0)
    """
    raw: Floats = measured.columns.get(Spent(unit), np.zeros(0))
    if np.isnan(raw).all():  # not measured, or no step tells it: 0 spent would be a claim
        return None
    named, starts = outcomes(alarms, labels), measured.offsets[:-1]
    total = np.concatenate([[0.0], np.cumsum(np.nan_to_num(raw))])

    def between(first: Ints, last: Ints, rows: "np.typing.NDArray[np.bool_]") -> float:
        return float((total[starts + last] - total[starts + first])[rows].sum())

    # The step that raised the alarm has been paid for: saved and lost begin with the step after it.
    hits, ran_on = named == "hit", np.isin(named, ["miss", "late"])
    labelled = np.repeat(labels.stalled | labels.good, labels.lengths)
    none, stop = np.zeros_like(alarms), np.clip(alarms + 1, 0, labels.lengths)
    wasted = between(labels.onset, stop, hits) + between(labels.onset, labels.end, ran_on)
    return Cost(
        saved=between(stop, labels.lengths, hits),
        wasted=wasted,
        lost=between(stop, labels.lengths, named == "false stop"),
        stalled=between(none, labels.lengths, labels.stalled),
        good=between(none, labels.lengths, labels.good),
        untold=int((np.isnan(raw) & labelled).sum()),
    )
