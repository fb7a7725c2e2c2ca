"""Labels set by people: in a notebook, by plain calls, and shown without a kernel."""

import os
from collections.abc import Iterable
from typing import Any

from driftlab._util.spec import choice
from driftlab.trace.labels.store import LabelEntry, LabelStore
from driftlab.trace.schema import Span, Trace

__all__ = ["label"]


def label(
    trace: Trace,
    value: str,
    stalls: Iterable[Span] = (),
    *,
    store: str | os.PathLike[str] = "labels.jsonl",
    annotator: str = "",
    note: str | None = None,
) -> Trace:
    """Label one run and store it: what the labeller does, as a plain call.

    Parameters
    ----------
    trace : Trace
    value : {"good", "stalled", "unsure"}
    stalls : iterable of Span
        Half-open: ``Span(6, 9)`` is steps 6, 7, 8; ``Span(6)`` lasts to the end of the run.
    store : path
        File of labels; the annotator's earlier label of the run is replaced.
    annotator : str
    note : str, optional

    Returns
    -------
    Trace
        With its label.

    Raises
    ------
    InputError
        When the value is none of the three, a stall lies outside the run, or a good run has one.

    Examples
    --------
    >>> import tempfile
    >>> from driftlab.trace.schema import Step
    >>> run = Trace(id="run-1", steps=[Step(state="x")] * 5)
    >>> labelled = label(run, "stalled", [Span(1)], store=tempfile.mkdtemp() + "/labels.jsonl", annotator="ann")
    >>> labelled.label, labelled.onset, labelled.label_source
    ('stalled', 1, 'human')
    """
    choice("label", value, ("good", "stalled", "unsure"))
    labelled = trace.replace(label=value, stalls=tuple(stalls), label_source="human")
    kept = LabelStore(store)
    fields: dict[str, Any] = {"annotator": annotator, "note": note, "steps": len(trace.steps)}
    kept.add(LabelEntry(id=trace.id, label=labelled.label or "unsure", stalls=labelled.stalls, **fields))
    kept.save()
    return labelled
