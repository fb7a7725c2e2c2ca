"""Hugging Face datasets in, out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab._util.spec import choice, unknown
from driftlab.importers.formats.openai import conversation_of
from driftlab.importers.parts.base import Importer
from driftlab.importers.parts.health import HealthReport
from driftlab.importers.parts.text_actions import STYLES, read_text_actions
from driftlab.importers.parts.turns import Turns
from driftlab.importers.parts.values import args_of
from driftlab.trace import parquet
from driftlab.trace.corpus import Corpus
from driftlab.trace.schema import Trace, TraceInfo

__all__ = ["DATASETS", "DatasetColumns", "from_datasets", "stream_datasets"]

_FIELDS = ("messages", "id", "problem", "task", "agent", "setup", "outcome", "label")
_IMPORTER = Importer("datasets", "rows of a Hugging Face dataset", lambda source: False, lambda sources: iter(()))


@dataclass(frozen=True)
class DatasetColumns:
    """How a public set of trajectories is read.

    Parameters
    ----------
    columns : mapping of str to str
        Field of the trace to column; ``messages`` is the conversation.
    style : {"calls", "block", "function"}
        Whether actions are tool calls, code blocks in the text or ``<function=...>`` in the text.
    split : str
        The split that holds the trajectories.
    task : str
        Kind of work.

    Examples
    --------
    >>> DATASETS["nebius/SWE-agent-trajectories"].columns["outcome"]
    'target'
    """

    columns: Mapping[str, str]
    style: str = "calls"
    split: str = "train"
    task: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


_SWE = {"messages": "messages", "problem": "instance_id", "outcome": "resolved"}
# Columns as their publishers document them; read from samples of each, not from the hub itself.
DATASETS: dict[str, DatasetColumns] = {
    "nebius/SWE-agent-trajectories": DatasetColumns(
        {"messages": "trajectory", "problem": "instance_id", "outcome": "target", "agent": "model_name"},
        "block",
        task="code",
    ),
    "SWE-Gym/OpenHands-Sampled-Trajectories": DatasetColumns({**_SWE, "id": "run_id"}, split="train.raw", task="code"),
    "SWE-bench/SWE-smith-trajectories": DatasetColumns(
        {**_SWE, "id": "traj_id", "agent": "model"}, "function", "tool", "code"
    ),
    "THUDM/AgentInstruct": DatasetColumns({"messages": "conversations", "id": "id"}, "block", "os"),
}


def from_datasets(
    dataset: Any,
    *,
    split: str | None = None,
    columns: Mapping[str, str] | None = None,
    style: str | None = None,
    health: HealthReport | None = None,
) -> Corpus:
    """Return the traces of a dataset: driftlab's own, or one conversation a row.

    Parameters
    ----------
    dataset : Dataset, iterable of mapping or str
        A name is loaded through ``datasets.load_dataset``; for a name in `DATASETS` the columns are known.
    split : str, optional
        The split to load, by default the preset's, else "train".
    columns : mapping of str to str, optional
        Field of the trace (messages, id, problem, task, agent, setup, outcome, label) to column.
    style : {"calls", "block", "function"}, optional
        How actions are written: see `DatasetColumns`.
    health : HealthReport, optional
        Where rows that cannot be read are listed; by default the first one raises.

    Raises
    ------
    InputError
        When a field or column is unknown, or a row holds no conversation.

    Examples
    --------
    >>> from driftlab.trace.parquet import to_datasets
    >>> from driftlab.trace.schema import Step
    >>> from_datasets(to_datasets([Trace(id="a", steps=[Step(args={"k": [1]})])]))[0].steps[0].args
    {'k': [1]}
    """
    known = _known(dataset, columns, style)
    name = dataset if isinstance(dataset, str) else None
    rows = need("datasets", "data").load_dataset(dataset, split=split or known.split) if name else dataset
    report = health or HealthReport(strict=True)
    return Corpus(tuple(_traces(rows, known, report, name)))


def stream_datasets(
    rows: Iterable[Mapping[str, Any]],
    *,
    columns: Mapping[str, str] | None = None,
    style: str | None = None,
    health: HealthReport | None = None,
) -> Iterator[Trace]:
    """Yield traces one by one, from rows as an ``IterableDataset`` gives them.

    Parameters are those of `from_datasets`.

    Examples
    --------
    >>> row = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes?"}]}
    >>> [trace.steps[0].state for trace in stream_datasets([row])]
    ['yes?']
    """
    yield from _traces(rows, _known(None, columns, style), health or HealthReport(strict=True), None)


def _known(dataset: Any, columns: Mapping[str, str] | None, style: str | None) -> DatasetColumns:
    base = DATASETS.get(dataset, DatasetColumns({})) if isinstance(dataset, str) else DatasetColumns({})
    for name in columns or {}:
        if name not in _FIELDS:
            raise unknown("field", name, _FIELDS)
    if style is not None:
        choice("style", style, STYLES)
    return DatasetColumns({**base.columns, **(columns or {})}, style or base.style, base.split, base.task)


def _traces(rows: Iterable[Any], known: DatasetColumns, report: HealthReport, name: str | None) -> Iterator[Trace]:
    seen: dict[str, int] = {}
    for place, row in enumerate(rows):
        try:
            trace = _trace(dict(row), known, report, f"{name or 'row'}:{place}")
        except InputError as error:
            report.problem(f"row {place}: {error}")
            continue
        count = seen[trace.id] = seen.get(trace.id, 0) + 1
        trace = trace if count == 1 else trace.replace(id=f"{trace.id}#{count}")
        report.count("duplicated_ids", int(count > 1))
        report.saw(trace)
        yield trace


def _trace(row: dict[str, Any], known: DatasetColumns, report: HealthReport, name: str) -> Trace:
    if "steps" in row and "id" in row and "messages" not in known.columns:
        return parquet.trace_of(row)
    missing = [column for column in known.columns.values() if column not in row]
    if missing:
        raise InputError(f"has no column {missing[0]!r}; it has: {', '.join(row)}")
    column = known.columns.get("messages")
    messages = args_of(row[column]) if column else conversation_of(row)
    if not isinstance(messages, list) or not messages:
        raise InputError(
            f"holds no conversation; name its column with columns={{'messages': ...}}, one of: {', '.join(row)}"
        )
    turns = Turns(report)
    read_text_actions(map(_chat, messages), turns, known.style)
    info = {
        key: row[column] for key, column in known.columns.items() if key in TraceInfo.__struct_fields__ and key != "id"
    }
    info = {
        "task": known.task,
        **{key: value if key == "outcome" else str(value) for key, value in info.items() if value is not None},
    }
    info["outcome"] = bool(info["outcome"]) if isinstance(info.get("outcome"), bool | int | float) else None
    own = known.columns.get("id")
    return _IMPORTER.trace(
        row[own] if own else row.get("id") or name, turns.steps(), info, columns=dict(known.columns) or None
    )


def _chat(message: Any) -> Any:
    """ShareGPT says from, value."""
    if not isinstance(message, dict):
        return message
    kept = {key: value for key, value in message.items() if value is not None or key == "content"}
    if "from" in kept and "value" in kept:
        role = {"gpt": "assistant", "human": "user"}.get(kept["from"], kept["from"])
        return {"role": role, "content": kept["value"]}
    return kept
