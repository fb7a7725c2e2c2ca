"""Plain JSON Lines or CSV: one step a line, one column a field."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from driftlab._util.errors import InputError
from driftlab._util.spec import unknown
from driftlab.importers.parts.base import Importer, stem
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.values import args_of, dumped
from driftlab.trace.schema import Step, Trace, TraceInfo, convert

__all__ = ["PLAIN", "plain_with"]

# Names that people give the columns, the first that a file has wins; the schema's own name comes first.
ALIASES: dict[str, tuple[str, ...]] = {
    "id": ("id", "trace_id", "run_id", "session_id", "conversation_id", "trajectory_id", "episode_id"),
    "order": ("step", "t", "turn", "step_index", "step_id", "index", "iteration"),
    "state": ("state", "message", "text"),
    "thought": ("thought", "reasoning"),
    "tool": ("tool", "tool_name", "action", "function"),
    "args": ("args", "arguments", "tool_args", "tool_input", "parameters"),
    "output": ("output", "observation", "result", "tool_output", "response"),
    "node": ("node", "agent_name"),
    "event": ("event",),
    "tokens": ("tokens",),
    "seconds": ("seconds", "duration", "execution_time"),
    "error": ("error", "is_error"),
    "signals": ("signals",),
    "extra": ("extra",),
    **{name: (name,) for name in TraceInfo.__struct_fields__ if name not in ("id", "extra", "stalls", "signal_specs")},
}
_OF_TRACE = tuple(name for name in TraceInfo.__struct_fields__ if name in ALIASES and name not in ("id", "extra"))
_TEXTS = ("state", "thought", "output", "tool", "node", "event")
_MARKS = ("tool", "output", "state", "thought", "args")
_OPEN = 1024  # traces whose lines may be interleaved
_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
csv.field_size_limit(32 << 20)


def _sniff(source: Source) -> bool:
    if source.kind == "text":
        first = source.head.decode("utf-8", "replace").splitlines()[:1]
        names = next(csv.reader(first, delimiter=_delimiter(first[0])), [])
        return len(names) > 1 and _fits(dict.fromkeys(names))
    found = [value for value in source.peek if isinstance(value, dict)]
    return (
        source.kind in ("json", "jsonl")
        and bool(found)
        and _fits(dict.fromkeys(key for value in found for key in value))
    )


def _fits(row: Mapping[str, Any]) -> bool:
    """Whether the columns are those of steps: one of the schema's own names, or what was called and what came back."""
    called, returned = (any(name in row for name in ALIASES[field]) for field in ("tool", "output"))
    return any(name in row for name in _MARKS) or (called and returned)


def plain_with(columns: Mapping[str, str] | None) -> Importer:
    """Return the importer for a map from fields to the columns that hold them.

    Raises
    ------
    InputError
        When a field is unknown.

    Examples
    --------
    >>> plain_with({"tool": "command"}).mapping["tool"]
    "column 'command'"
    """
    for name in columns or {}:
        if name not in ALIASES:
            raise unknown("field", name, ALIASES)
    chosen = dict(columns or {})
    mapping = {**PLAIN.mapping, **{name: f"column {column!r}" for name, column in chosen.items()}}
    return replace(PLAIN, mapping=mapping, read=lambda sources: _read(sources, chosen))


def _read(sources: Sequence[Source], columns: Mapping[str, str]) -> Iterator[Trace]:
    for source in sources:
        table, runs = _Table(source, columns), dict[str, _Run]()
        for line, row in _records(source):
            plan = table.plan(row)
            name = stem(source) if plan.id is None or row[plan.id] is None else str(row[plan.id])
            # The run read last stays open longest.
            run = runs[name] = runs.pop(name) if name in runs else _Run(name, table)
            run.take(line, row, plan)
            if len(runs) > _OPEN:
                yield from _finished(runs.pop(next(iter(runs))), source)
        for run in runs.values():
            yield from _finished(run, source)


def _finished(run: "_Run", source: Source) -> Iterator[Trace]:
    try:
        yield run.trace()
    except InputError as error:
        source.problem(f"the run that starts here cannot be kept: {error}", run.line)


def _records(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    if source.kind == "text":
        yield from _rows(source)
        return
    for line, value in source.values():
        if isinstance(value, dict):
            yield line, value
        else:
            source.problem(f"expected an object, got {type(value).__name__}", line)


def _rows(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read CSV or TSV: the first line names the columns."""
    # A blank line inside quotes is content.
    lines = (line.decode("utf-8", "replace") for _, line in source.lines(blank=True))
    first = next(lines, "")
    # Strict: a quote that is never closed would else swallow the rest of the file.
    reader = csv.DictReader(chain([first], lines), delimiter=_delimiter(first), strict=True)
    try:
        for row in reader:
            if None in row or None in row.values():
                source.problem("has another number of cells than the first line has names", reader.line_num)
            yield reader.line_num, {k: cell for k, cell in row.items() if k is not None and cell not in (None, "")}
    except csv.Error as error:
        source.problem(f"not CSV, the rest was not read: {error}", reader.line_num)


def _delimiter(first: str) -> str:
    return max(",\t;", key=first.count)


@dataclass(frozen=True)
class _Plan:
    """Which column of a row holds what; `rest` are columns that the schema has no field for."""

    id: str | None
    order: str | None
    step: tuple[tuple[str, str], ...]
    trace: tuple[tuple[str, str], ...]
    rest: tuple[str, ...]


class _Table:
    """The columns of one file; rows may differ in theirs."""

    def __init__(self, source: Source, columns: Mapping[str, str]) -> None:
        self.source, self.columns = source, columns
        self.cells = source.kind == "text"  # every value of a sheet is text
        self._plans: dict[tuple[str, ...], _Plan] = {}

    def plan(self, row: Mapping[str, Any]) -> _Plan:
        names = tuple(row)
        found = self._plans.get(names)
        if found is None:
            if len(self._plans) >= _OPEN:
                self._plans.clear()
            found = self._plans[names] = self._new(names)
        return found

    def _new(self, names: tuple[str, ...]) -> _Plan:
        chosen = {field: column for field in ALIASES if (column := self._column(names, field)) is not None}
        step = tuple((field, column) for field, column in chosen.items() if field not in (*_OF_TRACE, "id", "order"))
        trace = tuple((field, column) for field, column in chosen.items() if field in _OF_TRACE)
        rest = tuple(name for name in names if name not in chosen.values())
        return _Plan(chosen.get("id"), chosen.get("order"), step, trace, rest)

    def _column(self, names: tuple[str, ...], field: str) -> str | None:
        wanted = (self.columns[field],) if field in self.columns else ALIASES[field]
        return next((name for name in wanted if name in names), None)


class _Run:
    """The lines of one run, in the order of the file."""

    def __init__(self, name: str, table: _Table) -> None:
        self.name, self.table = name, table
        self.line = 0
        self.steps: list[tuple[Any, Step]] = []
        self.info: dict[str, Any] = {}

    def take(self, line: int, row: Mapping[str, Any], plan: _Plan) -> None:
        self.line = self.line or line
        for field, column in plan.trace:
            if row[column] is not None:
                self.info.setdefault(field, row[column])
        fields = {field: row[column] for field, column in plan.step if row[column] is not None}
        try:
            step = convert({**_typed(fields), **self._rest(row, plan, fields)}, Step, "step")
        except InputError as error:
            self.table.source.problem(str(error), line)
            return
        self.steps.append((None if plan.order is None else row[plan.order], step))

    def _rest(self, row: Mapping[str, Any], plan: _Plan, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the other columns: numbers are signals, anything else is kept in `extra`."""
        signals, extra = dict[str, float](), dict[str, Any]()
        for name in plan.rest:
            value = _number(row[name]) if self.table.cells else row[name]
            if _is_number(value):
                signals[name] = float(value)
            elif value is not None:
                extra[name] = value
        held = (("signals", signals), ("extra", extra))
        return {key: {**_object(fields.get(key)), **new} for key, new in held if new}

    def trace(self) -> Trace:
        orders = [_number(order) for order, _ in self.steps]
        if orders and all(map(_is_number, orders)):
            places = sorted(range(len(orders)), key=lambda place: float(orders[place]))
            self.table.source.health.count("out_of_order", sum(place != n for n, place in enumerate(places)))
            self.steps = [self.steps[place] for place in places]
        mapping = {**PLAIN.mapping, **{name: f"column {column!r}" for name, column in self.table.columns.items()}}
        info = {**self.info, "outcome": _truth(self.info.get("outcome"))}
        tidy = {
            name: str(value) if isinstance(value, int | float) and name != "outcome" else value
            for name, value in info.items()
        }
        fields = {"id": self.name, "source": PLAIN.name, "extra": {"mapping": mapping}, **tidy}
        shell = convert({**fields, "steps": []}, Trace, "trace")
        return shell.replace(steps=tuple(step for _, step in self.steps))


def _typed(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a step in the types of the schema: what is text becomes text, arguments are read."""
    out = {key: value for key, value in fields.items() if value is not None}
    for name in _TEXTS:
        if name in out and not isinstance(out[name], str):
            out[name] = dumped(out[name])
    if "args" in out:
        out["args"] = args_of(out["args"])
    if isinstance(out.get("error"), str):
        out["error"] = _truth(out["error"])
    for name in ("tokens", "seconds"):
        if isinstance(out.get(name), str):
            number = _number(out[name])
            out[name] = (
                int(number) if name == "tokens" and isinstance(number, float) and number.is_integer() else number
            )
    return out


def _number(value: Any) -> Any:
    """Return a cell of a sheet as a number where it is one."""
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return number if math.isfinite(number) else value


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_number(value: Any) -> bool:
    """Whether a value can be a signal: a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _truth(value: Any) -> Any:
    return _TRUTHS.get(value.strip().lower(), value) if isinstance(value, str) else value


PLAIN = Importer(
    "plain",
    "JSON Lines, a JSON list or CSV with one step a row; columns by name or by --column",
    _sniff,
    lambda sources: _read(sources, {}),
    {field: f"column {', '.join(names)}" for field, names in ALIASES.items() if field not in _OF_TRACE}
    | {"signals": "the column signals, and every other column of numbers"},
)
