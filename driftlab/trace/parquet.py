"""Traces as rows of a Parquet file: one row a trace, its steps nested."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab.trace.schema import Trace, convert

__all__ = ["records", "row", "schema", "to_datasets", "trace_of", "write"]

ROWS = 64  # rows held at once

# Columns whose shape differs from row to row are kept as JSON text.
_JSON_TRACE = ("extra",)
_JSON_STEP = ("args", "extra")


def schema() -> Any:
    """Return the Arrow schema: DESIGN's trace, with `args` and `extra` as JSON text."""
    arrow = need("pyarrow", "study")
    text, number, whole, truth = arrow.string(), arrow.float64(), arrow.int64(), arrow.bool_()
    step = {"state": text, "thought": text, "tool": text, "args": text, "output": text}
    # Lists of named values, not maps: Hugging Face datasets cannot load a map.
    signal = arrow.struct({"name": text, "value": number})
    step |= {"signals": arrow.list_(signal), "node": text, "event": text, "tokens": whole}
    step |= {"seconds": number, "error": truth, "extra": text}
    span = {"start": whole, "end": whole, "kind": text, "extra": text}
    spec = arrow.struct({"name": text, "direction": text, "goal": number})
    trace = {"id": text, "task": text, "problem": text, "agent": text, "setup": text, "source": text}
    trace |= {"label": text, "label_source": text, "outcome": truth, "stalls": arrow.list_(arrow.struct(span))}
    trace |= {"signal_specs": arrow.list_(spec), "extra": text, "steps": arrow.list_(arrow.struct(step))}
    return arrow.schema(list(trace.items()))


def write(traces: Iterable[Trace], path: Path) -> None:
    """Write traces, `ROWS` at a time."""
    arrow, parquet = need("pyarrow", "study"), need("pyarrow.parquet", "study")
    walk, shape = iter(traces), schema()
    with parquet.ParquetWriter(path, shape) as writer:
        while rows := [row(trace) for trace in islice(walk, ROWS)]:
            writer.write_batch(arrow.RecordBatch.from_pylist(rows, schema=shape))


def records(path: Path) -> Iterator[tuple[int, Callable[[], Trace]]]:
    """Yield, for each row, its number from 1 and what makes the trace."""
    arrow, parquet = need("pyarrow", "study"), need("pyarrow.parquet", "study")
    try:
        file = parquet.ParquetFile(path)
        number = 0
        for batch in file.iter_batches(ROWS):
            for found in batch.to_pylist():
                number += 1
                yield number, partial(trace_of, found)
    except (OSError, arrow.ArrowException) as error:
        raise InputError(f"{path}: cannot be read as Parquet: {error}") from error


def row(trace: Trace) -> dict[str, Any]:
    """Return a trace as one row of plain values.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> trace_of(row(Trace(id="a", steps=[Step(args={"k": [1]})]))).steps[0].args
    {'k': [1]}
    """
    found = msgspec.to_builtins(trace)
    found["steps"] = [_packed(_listed(step), _JSON_STEP) for step in found["steps"]]
    found["stalls"] = [_packed(span, ("extra",)) for span in found.get("stalls", ())]
    specs = found.get("signal_specs")
    if specs:
        # The default direction is left out when a spec is encoded; a reader of the table should see it.
        found["signal_specs"] = [{"name": name, "direction": "higher", **spec} for name, spec in specs.items()]
    return _packed(found, _JSON_TRACE)


def trace_of(found: dict[str, Any]) -> Trace:
    """Return the trace of a row."""
    steps = [_unpacked(_named(step), _JSON_STEP) for step in found.get("steps") or ()]
    stalls = [_unpacked(span, ("extra",)) for span in found.get("stalls") or ()]
    named = [dict(spec) for spec in found.get("signal_specs") or ()]
    specs = {spec.pop("name"): _unpacked(spec, ()) for spec in named}
    parts = {"steps": steps, "stalls": stalls, "signal_specs": specs}
    return convert({**_unpacked(found, _JSON_TRACE), **parts}, Trace, "row")


def _listed(step: dict[str, Any]) -> dict[str, Any]:
    signals = step.get("signals")
    if signals is None:
        return step
    return {**step, "signals": [{"name": name, "value": value} for name, value in signals.items()]}


def _named(step: dict[str, Any]) -> dict[str, Any]:
    signals = step.get("signals")
    return step if signals is None else {**step, "signals": {pair["name"]: pair["value"] for pair in signals}}


def _packed(found: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {k: msgspec.json.encode(v).decode() if k in names and v is not None else v for k, v in found.items()}


def _unpacked(found: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    # A null and an absent key mean the same; Arrow has only nulls.
    present = {key: value for key, value in found.items() if value is not None}
    return {k: msgspec.json.decode(v) if k in names else v for k, v in present.items()}


def to_datasets(traces: Iterable[Trace]) -> Any:
    """Return a ``datasets.Dataset`` with one row a trace, its steps nested.

    The columns are those of driftlab's Parquet files. Pushing it to a hub is left to you.

    Raises
    ------
    MissingExtra
        When ``datasets`` is not installed.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> to_datasets([Trace(id="a", steps=[Step(tool="ls")])])[0]["id"]
    'a'
    """
    datasets, arrow = need("datasets", "data"), need("pyarrow", "study")
    table = arrow.Table.from_pylist([row(trace) for trace in traces], schema=schema())
    return datasets.Dataset(table)
