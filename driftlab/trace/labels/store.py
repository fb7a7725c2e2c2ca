"""Labels kept beside the traces, so that importing again loses none."""

import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab._util.files import replacing
from driftlab._util.spec import choice
from driftlab.trace.schema import Label, Span, Trace

__all__ = ["LABELS", "LabelEntry", "LabelStore"]

LABELS = ("good", "stalled", "unsure")


class LabelEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What one annotator says about one trace.

    `steps` is the length of the trace when it was labelled. In a trace that grew since, open stalls end where the
    trace ended then; a label that fits no longer is reported, and stays in the store.

    Examples
    --------
    >>> LabelEntry(id="run-1", annotator="ann", label="stalled", stalls=(Span(3),)).stalls[0].start
    3
    """

    id: str
    annotator: str = ""
    label: Label
    stalls: tuple[Span, ...] = ()
    label_source: str = "human"
    note: str | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        if not self.id:
            raise InputError("a label needs the id of a trace")
        if self.label == "good" and self.stalls:
            raise InputError(f"trace {self.id!r} is labelled good but has a stall at step {self.stalls[0].start}")


class LabelStore:
    """Labels by trace and annotator, in one file that is written whole or not at all.

    Parameters
    ----------
    path : path
        ``labels.jsonl``; need not exist yet.

    Raises
    ------
    InputError
        When the file cannot be read, naming the line.

    Examples
    --------
    >>> import tempfile
    >>> store = LabelStore(Path(tempfile.mkdtemp()) / "labels.jsonl")
    >>> store.set("run-1", "stalled", [Span(6)], annotator="ann")
    >>> store.set("run-1", "good", annotator="bo")
    >>> store.save()
    >>> again = LabelStore(store.path)
    >>> again.get("run-1", "ann").label, again.annotators, len(again)
    ('stalled', ['ann', 'bo'], 2)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._entries: dict[tuple[str, str], LabelEntry] = {}
        if self.path.exists():
            self._entries = {(entry.id, entry.annotator): entry for entry in _read(self.path)}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[LabelEntry]:
        return iter(self._entries.values())

    @property
    def annotators(self) -> list[str]:
        """Everybody who labelled something, in alphabetical order."""
        return sorted({annotator for _, annotator in self._entries})

    def get(self, id: str, annotator: str = "") -> LabelEntry | None:
        """Return what an annotator says about a trace, None when nothing."""
        return self._entries.get((id, annotator))

    def set(self, id: str, label: str, stalls: Iterable[Span] = (), *, annotator: str = "", **fields: Any) -> None:
        """Keep a label in memory; `save` writes it.

        Parameters
        ----------
        id : str
            Of the trace.
        label : {"good", "stalled", "unsure"}
        stalls : iterable of Span
        annotator : str
            Each annotator has labels of their own.
        **fields
            label_source, note, steps.
        """
        choice("label", label, LABELS)
        self.add(LabelEntry(id=id, annotator=annotator, label=label, stalls=tuple(stalls), **fields))  # type: ignore[arg-type]

    def add(self, entry: LabelEntry) -> None:
        """Keep an entry in memory, instead of the annotator's earlier one."""
        self._entries[(entry.id, entry.annotator)] = entry

    def remove(self, id: str, annotator: str = "") -> None:
        """Forget what an annotator said about a trace."""
        self._entries.pop((id, annotator), None)

    def save(self) -> None:
        """Write all labels, sorted by trace and annotator."""
        with replacing(self.path) as temporary:
            lines = (msgspec.json.encode(self._entries[key]) + b"\n" for key in sorted(self._entries))
            temporary.write_bytes(b"".join(lines))

    def apply(self, traces: Iterable[Trace], annotator: str | None = None) -> list[Trace]:
        """Return the traces with their labels; traces without one stay as they are.

        Parameters
        ----------
        traces : iterable of Trace
        annotator : str, optional
            Whose labels to take. By default everybody's: where annotators disagree about the label the trace
            becomes unsure; where they agree the first annotator's spans are taken.

        Warns
        -----
        DriftlabWarning
            When a label does not fit its trace any more (it is left out), or annotators disagree.
        """
        misfits, split, out = [], [], []
        for trace in traces:
            entries = self._of(trace.id, annotator)
            if not entries:
                out.append(trace)
                continue
            if len({entry.label for entry in entries}) > 1:
                split.append(trace.id)
                out.append(trace.replace(label="unsure", stalls=(), label_source="disagreement"))
                continue
            try:
                out.append(_labelled(trace, entries[0]))
            except InputError:
                misfits.append(trace.id)
                out.append(trace)
        _warn(misfits, "have labels that do not fit their steps any more; label them again")
        _warn(split, "are labelled differently by different annotators and became unsure; name one annotator")
        return out

    def _of(self, id: str, annotator: str | None) -> list[LabelEntry]:
        names = self.annotators if annotator is None else [annotator]
        return [entry for name in names if (entry := self.get(id, name)) is not None]


def _read(path: Path) -> Iterator[LabelEntry]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield msgspec.json.decode(line, type=LabelEntry)
        except (msgspec.MsgspecError, InputError, UnicodeError) as error:
            raise InputError(f"{path}:{number}: is no label: {error}") from error


def _labelled(trace: Trace, entry: LabelEntry) -> Trace:
    known, length = entry.steps, len(trace.steps)
    stalls = entry.stalls
    if known is not None and known != length:
        # A run that grew keeps its stalls, open ends close where it ended then; that it is good holds no longer.
        if known > length or not stalls:
            raise InputError(f"trace {trace.id!r} had {known} steps when it was labelled and has {length} now")
        stalls = tuple(Span(s.start, known if s.end is None else s.end, s.kind, s.extra) for s in stalls)
    return trace.replace(label=entry.label, stalls=stalls, label_source=entry.label_source)


def _warn(ids: list[str], what: str) -> None:
    if ids:
        warnings.warn(f"{len(ids)} traces {what}; the first is {ids[0]!r}", DriftlabWarning, stacklevel=3)
