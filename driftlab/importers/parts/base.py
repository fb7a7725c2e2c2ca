"""What an importer is."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from driftlab.importers.parts.source import Source
from driftlab.trace.schema import Step, Trace

__all__ = ["Importer", "at", "dicts", "lasted", "number_at", "per_record", "stem", "text_at", "when", "whole_at"]

Sniff = Callable[[Source], bool]
Read = Callable[[Sequence[Source]], Iterator[Trace]]
Link = Callable[[Source], Iterable[Hashable]]


@dataclass(frozen=True)
class Importer:
    """One foreign format: how to recognise it, how to read it.

    Parameters
    ----------
    name : str
        The word people type after ``--format``.
    title : str
        What writes it, in one line.
    sniff : callable
        From a source to whether the file is of this format; looks at content only, leaves no note.
    read : callable
        From the sources of one group to traces. What it cannot read it notes in the source's health report.
    mapping : mapping of str to str
        Field of the trace to what it is taken from; recorded in every trace's `extra`.
    link : callable, optional
        Keys of a file: files that share one are read together, as one group.

    Examples
    --------
    >>> importer = Importer("none", "nothing", lambda source: False, lambda sources: iter(()), {"output": "nowhere"})
    >>> importer.trace("a", [Step(tool="ls")], mood="fine").extra
    {'mapping': {'output': 'nowhere'}, 'mood': 'fine'}
    """

    name: str
    title: str
    sniff: Sniff
    read: Read
    mapping: Mapping[str, str] = field(default_factory=dict)
    link: Link | None = None

    def trace(
        self, name: object, steps: Iterable[Step], info: Mapping[str, Any] | None = None, /, **extra: Any
    ) -> Trace:
        """Return a trace that says where it comes from.

        Parameters
        ----------
        name : object
            Its id.
        steps : iterable of Step
        info : mapping, optional
            Fields of the trace: task, problem, agent, setup, outcome, signal_specs, label.
        **extra
            What the schema has no field for; None is left out.
        """
        known = {key: value for key, value in (info or {}).items() if value is not None}
        more = {key: value for key, value in extra.items() if value is not None}
        return Trace(
            id=str(name), steps=tuple(steps), source=self.name, extra={"mapping": dict(self.mapping), **more}, **known
        )


def per_record(
    is_trace: Callable[[Any], bool], to_trace: Callable[[Source, Any, str], Trace], what: str
) -> tuple[Sniff, Read]:
    """Return how to recognise and to read files in which every record is one run.

    Parameters
    ----------
    is_trace : callable
        From a record to whether it is a run of the format.
    to_trace : callable
        From a source, a record and a name for it (the file's, with the line where it holds several) to a trace.
    what : str
        Said of a record that is none: ``"holds no <what>"``.
    """

    def sniff(source: Source) -> bool:
        return any(is_trace(value) for value in source.peek)

    def read(sources: Sequence[Source]) -> Iterator[Trace]:
        for source in sources:
            for line, value in source.values():
                if is_trace(value):
                    yield to_trace(source, value, stem(source) if source.kind == "json" else f"{stem(source)}:{line}")
                else:
                    source.problem(f"holds no {what}", line)

    return sniff, read


def stem(source: Source) -> str:
    """Return the name of a file without its folders or suffixes.

    Examples
    --------
    >>> import pathlib
    >>> from driftlab.importers.parts.health import HealthReport
    >>> stem(Source(pathlib.Path("runs/a.traj.json.gz"), HealthReport()))
    'a'
    """
    name = source.path.name
    for suffix in (".gz", ".json", ".jsonl", ".traj", ".trajectory", ".eval", ".csv", ".tsv", ".sqlite", ".db"):
        name = name.removesuffix(suffix)
    return name or source.path.name


def text_at(value: Any, *path: str) -> str | None:
    """Return the text at a path of nested objects, None when there is none.

    Examples
    --------
    >>> text_at({"a": {"b": "x"}}, "a", "b"), text_at({"a": 1}, "a", "b")
    ('x', None)
    """
    found = at(value, *path)
    return found if isinstance(found, str) and found else None


def at(value: Any, *path: str) -> Any:
    """Return what stands at a path of nested objects, None when there is nothing.

    Examples
    --------
    >>> at({"a": {"b": 3}}, "a", "b")
    3
    """
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def whole_at(value: Any, *path: str) -> int | None:
    """Return the count at a path of nested objects, None when there is none.

    Examples
    --------
    >>> whole_at({"tokens": 7}, "tokens"), whole_at({"tokens": "many"}, "tokens")
    (7, None)
    """
    found = at(value, *path)
    fits = isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found < 1 << 53
    return int(found) if fits else None


def number_at(value: Any, *path: str) -> float | None:
    """Return the number at a path of nested objects, None when there is none.

    Examples
    --------
    >>> number_at({"a": {"b": 3}}, "a", "b"), number_at({"a": True}, "a")
    (3.0, None)
    """
    found = at(value, *path)
    fits = isinstance(found, int | float) and not isinstance(found, bool) and abs(found) < 1e300
    return float(found) if fits else None


def dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, an empty list for anything else.

    Examples
    --------
    >>> dicts([{"a": 1}, 2]), dicts(None)
    ([{'a': 1}], [])
    """
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict)]


def when(value: Any) -> float | None:
    """Return a moment in seconds since 1970: ISO text, or a number of seconds, milliseconds or nanoseconds.

    Examples
    --------
    >>> when("1970-01-01T00:01:00Z"), when(1_778_167_054_000_000_000), when("soon")
    (60.0, 1778167054.0, None)
    """
    if isinstance(value, str):
        if value.isdecimal():
            return when(int(value)) if len(value) < 25 else None
        try:
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e21:
        return None
    # Seconds, milliseconds, microseconds, nanoseconds of this century differ by three digits each.
    return float(value) / next((scale for limit, scale in ((1e11, 1), (1e14, 1e3), (1e17, 1e6)) if value < limit), 1e9)


def lasted(start: Any, end: Any) -> float | None:
    """Return the seconds between two moments, None when either is unknown or time runs backwards.

    Examples
    --------
    >>> lasted("2031-04-09T08:00:02Z", "2031-04-09T08:00:03.5Z")
    1.5
    """
    first, last = when(start), when(end)
    return round(last - first, 6) if first is not None and last is not None and last >= first else None
