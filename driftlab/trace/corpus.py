"""Many traces: read, write, filter, split."""

import gzip
import os
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast, overload

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab._util.files import replacing
from driftlab.trace import parquet
from driftlab.trace.messages import short
from driftlab.trace.schema import Direction, SignalSpec, Trace, decode, encode
from driftlab.trace.split import problems
from driftlab.trace.summary import Summary, shared_specs, summarise

__all__ = ["SUFFIXES", "Corpus", "read", "stream", "write"]

OnError = Literal["raise", "skip"]
SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet")


@dataclass(frozen=True, eq=False)
class Corpus(Sequence[Trace]):
    """An ordered set of traces with different ids.

    Parameters
    ----------
    traces : sequence of Trace

    Raises
    ------
    InputError
        When two traces have one id.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> corpus = Corpus([Trace(id=str(n), problem=str(n // 2), label="good", steps=[Step()]) for n in range(8)])
    >>> len(corpus.filter(label="good")), [len(part) for part in corpus.split_by_problem(seed=0)]
    (8, [4, 4])
    """

    traces: tuple[Trace, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "traces", tuple(self.traces))
        counts = Counter(trace.id for trace in self.traces)
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
            message = f"{len(twice)} ids occur more than once, the first is {twice[0]!r}; give every trace its own id"
            raise InputError(message)

    def __len__(self) -> int:
        return len(self.traces)

    def __iter__(self) -> Iterator[Trace]:
        return iter(self.traces)

    @overload
    def __getitem__(self, index: int) -> Trace: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Trace]: ...
    def __getitem__(self, index: int | slice) -> Trace | Sequence[Trace]:
        return self.traces[index]

    def __repr__(self) -> str:
        return f"<Corpus of {len(self)} traces, {sum(len(trace.steps) for trace in self)} steps>"

    def filter(self, keep: Callable[[Trace], bool] | None = None, **equal: Any) -> "Corpus":
        """Return the traces for which `keep` is true, whose fields equal the keywords.

        Examples
        --------
        >>> Corpus([Trace(id="a", task="sql", steps=[])]).filter(lambda trace: len(trace.steps) > 3, task="sql")
        <Corpus of 0 traces, 0 steps>
        """
        strange = [name for name in equal if name not in Trace.__struct_fields__]
        if strange:
            raise InputError(f"a trace has no field {strange[0]!r}; it has: {', '.join(Trace.__struct_fields__)}")
        alike = (t for t in self if all(getattr(t, name) == value for name, value in equal.items()))
        return Corpus(tuple(trace for trace in alike if keep is None or keep(trace)))

    def split_by_problem(self, seed: int = 0, share: float = 0.5) -> tuple["Corpus", "Corpus"]:
        """Cut the corpus in two so that no problem is on both sides.

        Problems of each task are shuffled with `seed`; about `share` of them go to the first part.
        A trace without a problem counts as a problem of its own.

        Raises
        ------
        InputError
            When `share` is not between 0 and 1.
        """
        first = problems((trace.group for trace in self), share, seed)
        return self.filter(lambda trace: trace.group in first), self.filter(lambda trace: trace.group not in first)

    def signal_specs(self) -> dict[str, SignalSpec]:
        """Return what the traces declare of their signals; a goal only where all of them have the same.

        Examples
        --------
        >>> specs = [{"passed": SignalSpec("higher", goal)} for goal in (3, 4)]
        >>> Corpus([Trace(id=str(n), steps=[], signal_specs=s) for n, s in enumerate(specs)]).signal_specs()
        {'passed': SignalSpec(direction='higher', goal=None)}
        """
        return shared_specs(self)

    def summary(self) -> Summary:
        """Count what the corpus holds."""
        return summarise(self)

    def to_datasets(self) -> Any:
        """Return a Hugging Face ``Dataset``, one row a trace; `dl.from_datasets` is the way back."""
        return parquet.to_datasets(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the corpus as the suffix says: .jsonl, .jsonl.gz or .parquet; whole or not at all."""
        write(self, path)


def read(
    path: str | os.PathLike[str],
    *,
    on_error: OnError = "raise",
    signals: Mapping[str, Direction] | None = None,
) -> Corpus:
    """Read labelled traces from .jsonl, .jsonl.gz or .parquet.

    Parameters
    ----------
    path : path
        One trace a line, or one a row.
    on_error : {"raise", "skip"}
        "skip" leaves broken lines out and warns with their number and the first reason.
    signals : mapping of str to {"higher", "lower"}, optional
        Directions for signals that a trace does not declare.

    Raises
    ------
    InputError
        With file, line, path inside the line, value and remedy.

    Warns
    -----
    DriftlabWarning
        When lines were skipped.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.jsonl"
    >>> _ = path.write_text('{"id": "a", "steps": [{"state": "x"}]}')
    >>> read(path)
    <Corpus of 1 traces, 1 steps>
    """
    return Corpus(tuple(stream(path, on_error=on_error, signals=signals)))


def stream(
    path: str | os.PathLike[str],
    *,
    on_error: OnError = "raise",
    signals: Mapping[str, Direction] | None = None,
) -> Iterator[Trace]:
    """Yield the traces of a file one by one; parameters and errors are those of `read`.

    One trace is held at a time (a batch of rows for Parquet), beside the ids seen so far.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.jsonl"
    >>> _ = path.write_text('{"id": "a", "steps": []}')
    >>> [trace.id for trace in stream(path)]
    ['a']
    """
    if on_error not in ("raise", "skip"):
        raise InputError(f"on_error must be 'raise' or 'skip', got {on_error!r}")
    if not isinstance(signals, Mapping | None):
        raise InputError(f"signals must map names to 'higher' or 'lower', got {signals!r}")
    specs = {name: SignalSpec(direction) for name, direction in (signals or {}).items()}
    seen: dict[str, int] = {}
    skipped: list[InputError] = []
    for line, make in _records(Path(path)):
        try:
            trace = _unique(make(), seen, line)
        except InputError as error:
            wrong = InputError(f"{path}:{line}: {error}")
            if on_error == "raise":
                raise wrong from error
            skipped.append(wrong)
            continue
        yield _declared(trace, specs)
    if skipped:
        message = f"{path}: {len(skipped)} of {len(skipped) + len(seen)} traces skipped; the first: {skipped[0]}"
        warnings.warn(message, DriftlabWarning, stacklevel=2)


def write(traces: Iterable[Trace], path: str | os.PathLike[str]) -> None:
    """Write traces as the suffix of `path` says; whole or not at all.

    Raises
    ------
    InputError
        When the suffix is none of .jsonl, .jsonl.gz, .parquet, two traces have one id, or a trace holds what
        the format cannot.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.jsonl.gz"
    >>> write([Trace(id="a", steps=[])], path)
    >>> read(path)[0].id
    'a'
    """
    kind = _suffix(Path(path))
    with replacing(path) as temporary:
        if kind == ".parquet":
            parquet.write(_writable(traces), temporary)
            return
        with temporary.open("wb") as plain, _packed(plain, kind) as file:
            for trace in _writable(traces):
                file.write(encode(trace) + b"\n")


def _writable(traces: Iterable[Trace]) -> Iterator[Trace]:
    """Yield the traces that `read` will take back."""
    seen: set[str] = set()
    for trace in traces:
        if not isinstance(trace, Trace):
            raise InputError(f"only a Trace can be written, got {short(trace)}")
        if trace.id in seen:
            raise InputError(f"trace {trace.id!r} occurs more than once; give every trace its own id")
        seen.add(trace.id)
        yield trace


def _packed(file: BinaryIO, kind: str) -> BinaryIO:
    # Neither name nor time in the header: the same traces give the same bytes.
    return cast(BinaryIO, gzip.GzipFile("", "wb", fileobj=file, mtime=0)) if kind == ".jsonl.gz" else file


def _suffix(path: Path) -> str:
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            return suffix
    raise InputError(f"{path}: the name must end in one of {', '.join(SUFFIXES)}; other formats: driftlab import")


def _records(path: Path) -> Iterator[tuple[int, Callable[[], Trace]]]:
    """Yield, for each line or row, its number from 1 and what makes the trace."""
    kind = _suffix(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name one file")
    if kind == ".parquet":
        yield from parquet.records(path)
        return
    try:
        with gzip.open(path) if kind == ".jsonl.gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, partial(decode, line)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read: {reason}") from error


def _unique(trace: Trace, seen: dict[str, int], line: int) -> Trace:
    if trace.id in seen:
        raise InputError(f"trace {trace.id!r} was at line {seen[trace.id]} already; give every trace its own id")
    seen[trace.id] = line
    return trace


def _declared(trace: Trace, specs: Mapping[str, SignalSpec]) -> Trace:
    missing = {name: spec for name, spec in specs.items() if name not in trace.signal_specs}
    return trace.replace(signal_specs={**trace.signal_specs, **missing}) if missing else trace
