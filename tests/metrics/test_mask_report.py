"""What masks find and hide."""

from driftlab.metrics.mask_report import mask_changes
from driftlab.trace.schema import SignalSpec, Span, Step, Trace


def polling(label: str | None, counts: list[int], **keys: object) -> Trace:
    steps = [
        Step(tool="poll", args={}, output=f"12:30:0{t} {count} left", signals={"left": count})
        for t, count in enumerate(counts)
    ]
    return Trace(id=f"{label}", label=label, signal_specs={"left": SignalSpec("lower")}, steps=steps, **keys)  # type: ignore[arg-type]


def test_masks_count_what_they_find_and_hide() -> None:
    good, stalled = polling("good", [3, 2, 1]), polling("stalled", [3, 3, 3], stalls=(Span(1, 2),))
    rows = {row.mask: row for row in mask_changes([good, stalled], views=["output"])}
    assert list(rows)[:5] == ["raw", "text", "terminal", "volatile", "digits"]
    assert (rows["text"].pairs, rows["text"].merged, rows["text"].equal) == (4, 0, 0)
    found = rows["volatile"]
    assert (found.merged, found.stalled_pairs, found.stalls_found) == (2, 1, 1)
    assert (found.good_pairs, found.progress_hidden, found.gains_hidden) == (2, 0, 0)
    hidden = rows["digits"]
    assert (hidden.merged, hidden.progress_hidden, hidden.gains_hidden) == (4, 2, 2)
    assert hidden.example == "12:30:00 3 left -> 12:30:01 2 left"


def test_views_that_no_trace_has_are_left_out() -> None:
    rows = mask_changes([Trace(id="a", steps=[Step(state="x"), Step(), Step(state="x")])], masks=["text"])
    assert [(row.view, row.pairs, row.equal) for row in rows] == [("state", 1, 1)]
    assert mask_changes([]) == []
