"""Traces of text become columns of numbers, once."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from driftlab._util.checks import measuring, several
from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab.metrics import Pairwise, metric
from driftlab.metrics.cache import Cache, content_key
from driftlab.metrics.column import Column, StepReader
from driftlab.metrics.pairs import PairMemo
from driftlab.metrics.signal import SignalNames
from driftlab.trace.schema import Trace, TraceInfo
from driftlab.trace.views import MASKS, Mask, TextColumn, column

__all__ = ["Measurements", "measure", "streamed"]

CHUNK = 256  # traces whose text is held at once; also what an interrupted run with a cache may lose


@dataclass(frozen=True, eq=False)
class Measurements:
    """Numbers only: what detectors read, and all that is needed to share a study without its text.

    Attributes
    ----------
    infos : tuple of TraceInfo
        One entry a trace, without steps.
    offsets : (n_traces + 1,) int64 array
        Trace `i` owns the rows ``offsets[i]:offsets[i + 1]`` of every column.
    columns : dict of Column to (n_steps_in_all,) array
        Deltas, symbols and signal values, trace after trace.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> trace = Trace(id="a", steps=[Step(state="x"), Step(state="x")])
    >>> measure([trace], ["exact"]).deltas("exact").tolist()
    [1.0, 0.0]
    """

    infos: tuple[TraceInfo, ...]
    offsets: NDArray[np.int64]
    columns: Mapping[Column, NDArray[Any]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Steps of each trace, shape (n_traces,)."""
        return np.diff(self.offsets)

    def deltas(self, of: str | Column) -> NDArray[Any]:
        """Return one column, shape (n_steps_in_all,).

        Raises
        ------
        InputError
            When it was not measured.
        """
        key = metric(of) if isinstance(of, str) else of
        if key not in self.columns:
            known = ", ".join(map(repr, self.columns))
            raise InputError(f"{key!r} was not measured; measured: {known or 'nothing'}; pass it to measure()")
        return self.columns[key]

    def missing(self, of: str | Column) -> int:
        """Return how many traces have no value at all in one column: every entry is `nan` or absent.

        Examples
        --------
        >>> from driftlab.trace.schema import Step
        >>> traces = [Trace(id="a", steps=[Step.of(passed=1)]), Trace(id="b", steps=[Step()])]
        >>> measure(traces, ["signal('passed')"]).missing("signal('passed')")
        1
        """
        values = self.deltas(of)
        empty = np.isnan(values) if values.dtype.kind == "f" else values < 0
        seen = np.concatenate([[0], np.cumsum(~empty)])
        return int(np.sum(seen[self.offsets[1:]] == seen[self.offsets[:-1]]))

    def take(self, rows: Sequence[int] | NDArray[np.int64]) -> "Measurements":
        """Return the measurements of some traces, in the given order."""
        picked = [np.arange(self.offsets[i], self.offsets[i + 1]) for i in rows]
        flat = np.concatenate(picked) if picked else np.zeros(0, dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum([len(p) for p in picked])]).astype(np.int64)
        columns = {key: values[flat] for key, values in self.columns.items()}
        return Measurements(tuple(self.infos[i] for i in rows), offsets, columns)

    def joined(self, other: Self) -> "Measurements":
        """Return these columns and those of another measuring of the same traces."""
        return Measurements(self.infos, self.offsets, {**self.columns, **other.columns})


def measure(
    traces: Iterable[Trace],
    inputs: Iterable[str | Column],
    *,
    cache: str | os.PathLike[str] | None = None,
    n_jobs: int | None = 1,
    progress: bool = False,
) -> Measurements:
    """Read every trace once and return what the metrics say.

    Parameters
    ----------
    traces : iterable of Trace
        A corpus or any iterable; it is walked once, `CHUNK` traces at a time.
    inputs : iterable of str or Column
        Metric specs such as ``"levenshtein(view='output')"``, or symbols and signal values.
    cache : path, optional
        A folder of Parquet files keyed by content, metric, mask and model. What is there is not measured
        again; what is new is added after each chunk, so that an interrupted run resumes. Needs the
        extra `study`.
    n_jobs : int
        Processes for the comparisons (joblib; -1 is all cores). The numbers do not depend on it.
    progress : bool
        Show a progress bar over traces.

    Returns
    -------
    Measurements
        Rows in the order of `traces`.

    Raises
    ------
    InputError
        When a signal is asked for by name and no trace has it, or without a name and there are several; when an
        option is of the wrong type or out of range.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> trace = Trace(id="a", steps=[Step(state="kitten"), Step(state="sitting"), Step()])
    >>> measure([trace], ["levenshtein"]).deltas("levenshtein").round(3).tolist()
    [1.0, 0.429, nan]
    """
    measuring(n_jobs, progress)
    asked = several("inputs", inputs, "['exact', 'levenshtein']")
    wanted = tuple(dict.fromkeys(i if isinstance(i, Column) else metric(i) for i in asked))
    job = _Job(wanted, Cache(cache) if cache is not None else None, n_jobs)
    signals = SignalNames(wanted)
    infos: list[TraceInfo] = []
    chunks: list[dict[Column, Values]] = []
    lengths: list[int] = []
    for chunk in _chunks(_shown(traces, progress)):
        signals.see(chunk)
        infos += [trace.info for trace in chunk]
        lengths += [len(trace.steps) for trace in chunk]
        chunks.append(job.run(chunk))
    signals.check()
    columns = {i: _flat([values for part in chunks for values in part[i]], i.dtype) for i in wanted}
    return Measurements(tuple(infos), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), columns)


Values = list[NDArray[Any]]
Gappy = list[NDArray[Any] | None]
Texts = dict[tuple[int, str, str], TextColumn]


class _Job:
    """One measuring pass over all chunks."""

    def __init__(self, inputs: tuple[Column, ...], cache: Cache | None, n_jobs: int | None) -> None:
        self.inputs, self.cache, self.n_jobs = inputs, cache, n_jobs
        self.memo = PairMemo()

    def run(self, chunk: Sequence[Trace]) -> dict[Column, Values]:
        """Return one column a trace for every input."""
        cached = self.cache is not None and any(wanted.costly for wanted in self.inputs)
        keys = [content_key(trace) for trace in chunk] if cached else []
        table = {wanted: self._stored(wanted, keys, len(chunk)) for wanted in self.inputs}
        gaps = {wanted: [n for n, values in enumerate(table[wanted]) if values is None] for wanted in self.inputs}
        texts: Texts = {}
        for wanted in self.inputs:
            if isinstance(wanted, Pairwise):
                columns = [_column(chunk[n], wanted, texts) for n in gaps[wanted]]
                self._fill(table[wanted], gaps[wanted], self.memo.deltas(wanted, columns, self._compare))
                self._store(wanted, table[wanted], gaps[wanted], keys)
        self._walks(chunk, table)
        for wanted in self.inputs:
            if not isinstance(wanted, Pairwise):
                self._store(wanted, table[wanted], gaps[wanted], keys)
        return {wanted: [v for v in values if v is not None] for wanted, values in table.items()}

    def _walks(self, chunk: Sequence[Trace], table: dict[Column, Gappy]) -> None:
        """Fill what is still empty, in one walk over each trace for all inputs."""
        asked = [tuple(wanted for wanted in self.inputs if table[wanted][n] is None) for n in range(len(chunk))]
        places = [n for n in range(len(chunk)) if asked[n]]
        walks = self._parallel(_walk, [(chunk[n], asked[n]) for n in places])
        for n, walk in zip(places, walks, strict=True):
            for wanted, values in zip(asked[n], walk, strict=True):
                table[wanted][n] = values

    def _fill(self, values: Gappy, gaps: list[int], fresh: Values) -> None:
        for n, each in zip(gaps, fresh, strict=True):
            values[n] = each

    def _stored(self, wanted: Column, keys: list[str], count: int) -> Gappy:
        if self.cache is None or not wanted.costly:
            return [None] * count
        found = self.cache.load(wanted.key)
        return [found.get(key) for key in keys]

    def _store(self, wanted: Column, values: Gappy, gaps: list[int], keys: list[str]) -> None:
        if self.cache is not None and wanted.costly:
            self.cache.add(wanted.key, {keys[n]: each for n in gaps if (each := values[n]) is not None})

    def _compare(self, wanted: Pairwise, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
        if self.n_jobs == 1 or wanted.batched:
            return wanted.deltas(pairs)
        size = max(1, min(2_000, len(pairs) // 8))
        batches = [(wanted, pairs[start : start + size]) for start in range(0, len(pairs), size)]
        return np.concatenate(self._parallel(type(wanted).deltas, batches))

    def _parallel(self, function: Any, arguments: list[tuple[Any, ...]]) -> list[Any]:
        if self.n_jobs == 1:
            return [function(*each) for each in arguments]
        joblib = need("joblib", "study")
        calls = (joblib.delayed(_away)(dict(MASKS), function, *each) for each in arguments)
        return list(joblib.Parallel(n_jobs=self.n_jobs)(calls))


def _away(masks: dict[str, Mask], function: Any, *arguments: Any) -> Any:
    """Call a function in another process, which knows the masks that were registered in this one."""
    for name, mask in masks.items():
        MASKS.register(name, mask)
    return function(*arguments)


def _walk(trace: Trace, inputs: Sequence[Column]) -> Values:
    """Read a trace once for several inputs."""
    reader = StepReader(trace.info)
    reads = [wanted.stream(trace.info) for wanted in inputs]
    columns: list[list[float]] = [[] for _ in inputs]
    for step in trace.steps:
        reading = reader.read(step)
        for column_, read in zip(columns, reads, strict=True):
            column_.append(read(reading))
    return [np.array(values, dtype=wanted.dtype) for values, wanted in zip(columns, inputs, strict=True)]


def _column(trace: Trace, wanted: Pairwise, texts: Texts) -> TextColumn:
    """Read one view of a trace once a chunk, whichever metrics share it."""
    view, mask = wanted.reads
    key = (id(trace), view, mask)
    if key not in texts:
        texts[key] = column(trace.steps, view, mask)
    return texts[key]


def streamed(wanted: Column, trace: Trace) -> NDArray[Any]:
    """Measure one trace step by step, as a live loop does.

    Returns
    -------
    (n_steps,) array

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> streamed(metric("exact"), Trace(id="a", steps=[Step(state="x"), Step(state="x")])).tolist()
    [1.0, 0.0]
    """
    return _walk(trace, [wanted])[0]


def _chunks(traces: Iterable[Trace]) -> Iterator[list[Trace]]:
    walk = iter(traces)
    while chunk := list(islice(walk, CHUNK)):
        yield chunk


def _shown(traces: Iterable[Trace], progress: bool) -> Iterable[Trace]:
    if not progress:
        return traces
    total = len(traces) if isinstance(traces, Sized) else None
    shown: Iterable[Trace] = need("tqdm.auto", "study").tqdm(traces, total=total, desc="measuring", unit="trace")
    return shown


def _flat(parts: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)
