"""What each mask changes on a corpus."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from driftlab.metrics.column import number
from driftlab.trace.schema import Trace
from driftlab.trace.views import MASKS, VIEWS, column

__all__ = ["MaskChange", "mask_changes"]

Texts = Sequence[str | None]
SHOWN = 80  # characters of an example


@dataclass
class MaskChange:
    """Pairs of adjacent texts of one view that one mask makes equal, against texts as they are.

    Attributes
    ----------
    mask, view : str
        What was compared how.
    pairs : int
        Adjacent texts: each step that has the view, with the step before that has it.
    equal : int
        Pairs that are equal as they are.
    merged : int
        Pairs that differ as they are and are equal under the mask.
    stalled_pairs, stalls_found : int
        All pairs, merged pairs whose later step lies in a marked stall: repetition that the mask brings out.
    good_pairs, progress_hidden : int
        All pairs, merged pairs in traces labelled good: what the mask may have hidden.
    gains_hidden : int
        Merged pairs at whose later step a signal beat its best so far: progress that the mask did hide.
    example : str
        The first merged pair of a good trace, else of any, cut where it differs.
    """

    mask: str
    view: str
    pairs: int = 0
    equal: int = 0
    merged: int = 0
    stalled_pairs: int = 0
    stalls_found: int = 0
    good_pairs: int = 0
    progress_hidden: int = 0
    gains_hidden: int = 0
    example: str = ""
    _of_good: bool = field(default=False, repr=False)

    def _add(
        self, trace: Trace, gains: Sequence[bool], raw: Sequence[str | None], masked: Sequence[str | None]
    ) -> None:
        has = [t for t, text in enumerate(raw) if text is not None]
        stalled = _in_stalls(trace)
        for earlier, later in pairwise(has):
            same = raw[earlier] == raw[later]
            merged = not same and masked[earlier] == masked[later]
            self.pairs += 1
            self.equal += same
            self.merged += merged
            self.stalled_pairs += stalled[later]
            self.stalls_found += merged and stalled[later]
            self.good_pairs += trace.label == "good"
            self.progress_hidden += merged and trace.label == "good"
            self.gains_hidden += merged and gains[later]
            if merged:
                self._show(raw[earlier] or "", raw[later] or "", good=trace.label == "good")

    def _show(self, earlier: str, later: str, *, good: bool) -> None:
        if not self.example or (good and not self._of_good):
            self.example, self._of_good = _difference(earlier, later), good


def mask_changes(
    traces: Iterable[Trace], *, masks: Sequence[str] | None = None, views: Sequence[str] = VIEWS
) -> list[MaskChange]:
    """Return one row for each mask, view: how many pairs become equal, where.

    A mask is worth having where it finds stalls and hides little: compare `stalls_found` of `stalled_pairs` with
    `progress_hidden` of `good_pairs`.

    Parameters
    ----------
    traces : iterable of Trace
        Walked once. Without labels the columns about stalls and good traces stay 0.
    masks : sequence of str, optional
        By default all that are registered.
    views : sequence of str
        By default all five.

    Returns
    -------
    list of MaskChange
        In the order of masks, then views; views that no trace has are left out.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> steps = [Step(state=f"waited {seconds}s, 3 left") for seconds in (1, 2)]
    >>> row = mask_changes([Trace(id="a", label="good", steps=steps)], masks=["volatile"])[0]
    >>> row.view, row.merged, row.progress_hidden, row.example
    ('state', 1, 1, 'waited 1s, 3 left -> waited 2s, 3 left')
    """
    rows = {(mask, view): MaskChange(mask, view) for mask in masks or MASKS for view in views}
    for trace in traces:
        gains = list(_gains(trace))
        for view in views:
            raw = column(trace.steps, view, "raw").texts
            for mask in masks or MASKS:
                rows[mask, view]._add(trace, gains, raw, column(trace.steps, view, mask).texts)
    return [row for row in rows.values() if row.pairs]


def _in_stalls(trace: Trace) -> list[bool]:
    inside = [False] * len(trace.steps)
    for span in trace.stalls:
        for t in range(span.start, len(inside) if span.end is None else span.end):
            inside[t] = True
    return inside


def _gains(trace: Trace) -> Iterator[bool]:
    """Yield for each step whether a signal beat its best so far; its first value beats nothing."""
    best: dict[str, float] = {}
    for step in trace.steps:
        gained = False
        for name in step.signals or {}:
            value = number(step, name, trace)
            gained |= value > best.get(name, float("inf"))
            if not value <= best.get(name, float("-inf")):
                best[name] = value
        yield gained


def _difference(earlier: str, later: str) -> str:
    """Return both texts around the place where they part."""
    shorter = min(len(earlier), len(later))
    start = next((i for i in range(shorter) if earlier[i] != later[i]), shorter)
    begin = max(0, start - SHOWN // 4)
    return " -> ".join(text[begin : begin + SHOWN].replace("\n", "\\n") for text in (earlier, later))
