"""What masks find and hide, and where metrics are blind."""

import numpy as np
import pytest

from driftlab.lab.blind import CHANGES, blind_spots, under_every_metric
from driftlab.metrics import METRICS
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


def test_blind_spots_of_each_metric() -> None:
    rows = {row["change"]: row for row in blind_spots()}
    assert len(rows) == len(CHANGES)
    assert rows["order of keys"]["arguments"] == 0.0 < rows["order of keys"]["exact"]
    assert rows["order of a list"]["jaccard"] == 0.0 < rows["order of a list"]["arguments"]
    assert rows["the same again, longer"]["containment"] == 0.0 < rows["the same again, longer"]["levenshtein"]
    assert rows["a flag, a quote"]["exact"] == 1.0
    assert rows["the tail of a long text"]["embedding"] < 0.05
    assert all(value == 0.0 for name, value in rows["what cannot be seen"].items() if name not in ("change", "news"))


def test_one_run_under_every_metric() -> None:
    trace = polling(None, [3, 3, 2])
    found = under_every_metric(trace, view="output")
    assert {name.split("(")[0] for name in found} == set(METRICS)
    assert found["signal('left')"].tolist() == [1.0, 0.0, 1.0]
    assert found["exact(view='output')"].tolist() == [1.0, 1.0, 1.0]
    assert found["arguments"].tolist() == [1.0, 0.0, 0.0]
    assert all(deltas.shape == (3,) for deltas in found.values())
    with pytest.raises(KeyError):
        under_every_metric(trace, ["exact"])["jaccard"]
    assert np.isnan(under_every_metric(trace)["exact"]).all()
