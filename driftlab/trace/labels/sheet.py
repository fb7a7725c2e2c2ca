"""Labels to a spreadsheet, back again."""

import csv
import hashlib
import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import msgspec

from driftlab._util.errors import InputError
from driftlab._util.files import replacing
from driftlab.trace.labels.store import LABELS, LabelEntry, LabelStore
from driftlab.trace.schema import Span, Trace

__all__ = ["Conflict", "read_sheet", "write_sheet"]

COLUMNS = (
    "id",
    "annotator",
    "label",
    "start",
    "end",
    "kind",
    "note",
    "label_source",
    "task",
    "problem",
    "steps",
    "version",
)
_FORMULA = ("=", "+", "-", "@", "\t")  # what a spreadsheet would run


@dataclass(frozen=True)
class Conflict:
    """A row that was not taken over, and why.

    Examples
    --------
    >>> print(Conflict(3, "run-1", "ann", "label 'god' is none of good, stalled, unsure"))
    row 3, trace 'run-1', annotator 'ann': label 'god' is none of good, stalled, unsure
    """

    row: int
    id: str
    annotator: str
    reason: str

    def __str__(self) -> str:
        return f"row {self.row}, trace {self.id!r}, annotator {self.annotator!r}: {self.reason}"


def write_sheet(
    store: LabelStore, path: str | os.PathLike[str], traces: Iterable[Trace] = (), *, annotator: str = ""
) -> None:
    """Write one row a span: the labels of the store, and an empty row for each trace that `annotator` has not labelled.

    Parameters
    ----------
    store : LabelStore
    path : path
        A .csv file; opens in any spreadsheet.
    traces : iterable of Trace
        Give task, problem, length as context.
    annotator : str
        Whose empty rows to add.

    Examples
    --------
    >>> import tempfile
    >>> store = LabelStore(Path(tempfile.mkdtemp()) / "labels.jsonl")
    >>> store.set("run-1", "stalled", [Span(6, None, "repeat")])
    >>> sheet = store.path.with_name("labels.csv")
    >>> write_sheet(store, sheet)
    >>> sheet.read_text(encoding="utf-8-sig").splitlines()[1].startswith("run-1,,stalled,6,,repeat")
    True
    """
    known = {trace.id: trace for trace in traces}
    rows = [row for entry in store for row in _rows(entry, known.get(entry.id))]
    rows += [
        _context(trace) | {"id": id, "annotator": annotator}
        for id, trace in known.items()
        if store.get(id, annotator) is None
    ]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, restval="")
    writer.writeheader()
    writer.writerows({key: _safe(value) for key, value in row.items()} for row in rows)
    with replacing(path) as temporary:
        # Spreadsheets tell UTF-8 by its byte-order mark.
        temporary.write_bytes(text.getvalue().encode("utf-8-sig"))


def read_sheet(store: LabelStore, path: str | os.PathLike[str], traces: Iterable[Trace] = ()) -> list[Conflict]:
    """Take the labels of a sheet into the store; return what was not taken over.

    Rows of one trace and annotator are one entry with several spans. A row is a conflict when it cannot be read,
    contradicts another row, does not fit the trace, or when the store changed since the sheet was written and
    says something else. Nothing is saved: call ``store.save()``.

    Raises
    ------
    InputError
        When the file is no such sheet.

    Examples
    --------
    >>> import tempfile
    >>> store = LabelStore(Path(tempfile.mkdtemp()) / "labels.jsonl")
    >>> sheet = store.path.with_name("labels.csv")
    >>> _ = sheet.write_text("id,annotator,label,start,end\\nrun-1,ann,stalled,2,4\\nrun-1,ann,stalled,7,\\n")
    >>> read_sheet(store, sheet), [span.start for span in store.get("run-1", "ann").stalls]
    ([], [2, 7])
    """
    lengths = {trace.id: len(trace.steps) for trace in traces}
    groups: dict[tuple[str, str], list[tuple[int, dict[str, str]]]] = {}
    for number, row in _read(Path(path)):
        if row["id"] and (row.get("label") or row.get("start") or row.get("note")):
            groups.setdefault((row["id"], row.get("annotator", "")), []).append((number, row))
    conflicts = []
    for (id, annotator), rows in groups.items():
        try:
            entry = _entry(id, annotator, rows, lengths.get(id))
            _check_version(store.get(id, annotator), entry, rows[0][1].get("version", ""))
        except InputError as error:
            conflicts.append(Conflict(rows[0][0], id, annotator, str(error)))
            continue
        store.add(entry)
    return conflicts


def _rows(entry: LabelEntry, trace: Trace | None) -> list[dict[str, object]]:
    shared = _context(trace) | {
        "id": entry.id,
        "annotator": entry.annotator,
        "label": entry.label,
        "note": entry.note or "",
    }
    shared |= {"label_source": entry.label_source, "version": _version(entry)}
    shared["steps"] = shared.get("steps") or entry.steps or ""
    spans = [{"start": s.start, "end": "" if s.end is None else s.end, "kind": s.kind or ""} for s in entry.stalls]
    return [shared | span for span in spans] or [shared]


def _context(trace: Trace | None) -> dict[str, object]:
    return (
        {} if trace is None else {"task": trace.task or "", "problem": trace.problem or "", "steps": len(trace.steps)}
    )


def _read(path: Path) -> list[tuple[int, dict[str, str]]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}; save the sheet as CSV in UTF-8") from error
    first = text.split("\n", 1)[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    if not {"id", "label"} <= set(reader.fieldnames or ()):
        raise InputError(
            f"{path}: the first line must name the columns, at least id and label; got {reader.fieldnames}"
        )
    return [(reader.line_num, {k: _plain(v or "") for k, v in row.items() if isinstance(k, str)}) for row in reader]


def _entry(id: str, annotator: str, rows: list[tuple[int, dict[str, str]]], length: int | None) -> LabelEntry:
    labels = {row.get("label", "").strip().lower() for _, row in rows}
    if len(labels) > 1:
        raise InputError(f"the rows of one trace disagree: {', '.join(sorted(labels))}")
    label = labels.pop()
    if label not in LABELS:
        raise InputError(f"label {label!r} is none of {', '.join(LABELS)}")
    spans = sorted((_span(row) for _, row in rows if row.get("start", "").strip()), key=lambda span: span.start)
    for first, second in pairwise(spans):
        if first.end is None or first.end > second.start:
            raise InputError(f"stalls at steps {first.start} and {second.start} overlap")
    last = max((span.start + 1 if span.end is None else span.end for span in spans), default=0)
    if length is not None and last > length:
        raise InputError(f"a stall reaches step {last - 1}, but the trace has {length} steps (counted from 0)")
    row = rows[0][1]
    note, source = row.get("note") or None, row.get("label_source") or "human"
    known = length if length is not None else _whole(row.get("steps", "")) if row.get("steps") else None
    return LabelEntry(
        id=id, annotator=annotator, label=label, stalls=tuple(spans), note=note, label_source=source, steps=known  # type: ignore[arg-type]
    )  # fmt: skip


def _span(row: dict[str, str]) -> Span:
    end = row.get("end", "").strip()
    return Span(_whole(row["start"]), _whole(end) if end else None, row.get("kind") or None)


def _whole(text: str) -> int:
    # Spreadsheets like to write 6 as 6.0.
    try:
        value = float(text.replace(",", "."))
    except ValueError as error:
        raise InputError(f"{text!r} is no step number") from error
    if not value.is_integer() or value < 0:
        raise InputError(f"{text!r} is no step number")
    return int(value)


def _check_version(held: LabelEntry | None, entry: LabelEntry, version: str) -> None:
    if held is None or _content(held) == _content(entry) or version == _version(held):
        return
    raise InputError(
        f"the store says {_said(held)}, changed since the sheet was written; the sheet says {_said(entry)}"
    )


def _said(entry: LabelEntry) -> str:
    spans = ", ".join(f"[{span.start}, {'end' if span.end is None else span.end})" for span in entry.stalls)
    return f"{entry.label} {spans}".strip()


def _content(entry: LabelEntry) -> bytes:
    return msgspec.json.encode((entry.label, entry.stalls, entry.note, entry.label_source))


def _version(entry: LabelEntry) -> str:
    return hashlib.sha256(_content(entry)).hexdigest()[:8]


def _safe(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _plain(text: str) -> str:
    return text[1:] if text[:1] == "'" and text[1:].startswith(_FORMULA) else text
