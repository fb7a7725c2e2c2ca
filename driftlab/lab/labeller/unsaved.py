"""Marks on runs while they are being made, kept on disk."""

import re
from pathlib import Path

import msgspec
from msgspec import Struct

from driftlab._util.errors import InputError
from driftlab._util.files import replacing
from driftlab.trace.labels.store import LabelEntry
from driftlab.trace.schema import Label, Span, Trace

__all__ = ["Desk", "DeskFile", "Draft"]


class Draft(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Marks on one run; `start` and `last` are the first and the last step of the stall, both included.

    Examples
    --------
    >>> Draft(id="a", label="stalled", start=3, last=5).entry(9, "ann").stalls[0].end
    6
    """

    id: str
    label: Label | None = None
    start: int | None = None
    last: int | None = None
    kind: str | None = None
    note: str = ""
    t: int = 0

    @classmethod
    def of(cls, trace: Trace, entry: LabelEntry | None) -> "Draft":
        """Return the marks that a label holds; an empty draft where there is none."""
        if entry is None:
            return cls(id=trace.id)
        span = entry.stalls[0] if entry.stalls else None
        last = None if span is None or span.end is None else span.end - 1
        start, kind = (None, None) if span is None else (span.start, span.kind)
        marks = {"label": entry.label, "start": start, "last": last, "kind": kind, "note": entry.note or ""}
        return cls(id=trace.id, t=start or 0, **marks)  # type: ignore[arg-type]

    def span(self, length: int) -> Span | None:
        """Return the marked stall; one that lasts to the end of the run has no end."""
        if self.start is None:
            return None
        end = None if self.last is None or self.last >= length - 1 else self.last + 1
        return Span(self.start, end, self.kind)

    def entry(self, length: int, annotator: str) -> LabelEntry:
        """Return the label, ready to be stored."""
        if self.label is None:
            raise InputError(f"run {self.id!r} has no label yet")
        span = None if self.label == "good" else self.span(length)
        fields = {"note": self.note or None, "steps": length}
        stalls = () if span is None else (span,)
        return LabelEntry(id=self.id, annotator=annotator, label=self.label, stalls=stalls, **fields)  # type: ignore[arg-type]


class Desk(Struct, frozen=True, kw_only=True):
    """What lies open: the run in view, and marks on runs that have no label yet.

    Examples
    --------
    >>> Desk(current="a", drafts={"a": Draft(id="a", start=3)}).drafts["a"].start
    3
    """

    current: str
    drafts: dict[str, Draft]


class DeskFile:
    """The desk of one annotator, beside the labels.

    Parameters
    ----------
    labels : path
        The label store's file.
    annotator : str

    Examples
    --------
    >>> import tempfile
    >>> file = DeskFile(Path(tempfile.mkdtemp()) / "labels.jsonl", "ann")
    >>> file.save(Desk(current="a", drafts={}))
    >>> file.load().current, file.path.name
    ('a', 'labels.desk-ann.json')
    """

    def __init__(self, labels: Path, annotator: str) -> None:
        name = re.sub(r"\W+", "_", annotator) or "me"
        self.path = labels.with_name(f"{labels.stem}.desk-{name}.json")

    def load(self) -> Desk | None:
        """Return the desk; None when there is none, or none that can be read."""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Desk)
        except (OSError, msgspec.MsgspecError):
            return None

    def save(self, desk: Desk) -> None:
        """Write the desk, whole or not at all."""
        with replacing(self.path) as temporary:
            temporary.write_bytes(msgspec.json.encode(desk))
