"""Runs exported from LangSmith."""

from collections.abc import Iterator, Sequence
from typing import Any

from driftlab.importers.parts.base import Importer, at, dicts, stem, text_at, when
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.spans import SpanRecord, messages_in, steps_of
from driftlab.importers.parts.values import args_of
from driftlab.trace.schema import Trace

__all__ = ["LANGSMITH"]

_KINDS = {"tool": "tool", "retriever": "tool", "llm": "llm"}


def _sniff(source: Source) -> bool:
    return any(_is_run(value) for value in source.peek)


def _is_run(value: Any) -> bool:
    return (
        isinstance(value, dict) and "run_type" in value and "id" in value and ("inputs" in value or "outputs" in value)
    )


def _read(sources: Sequence[Source]) -> Iterator[Trace]:
    for source in sources:
        traces: dict[str, dict[str, dict[str, Any]]] = {}
        for line, value in source.values():
            if not _is_run(value):
                source.problem("holds no run of LangSmith", line)
                continue
            for run in _family(value):
                trace = traces.setdefault(str(run.get("trace_id") or value.get("trace_id") or value["id"]), {})
                source.health.count("replayed", int(str(run["id"]) in trace))
                trace[str(run["id"])] = run
        for name, runs in traces.items():
            records = [_record(run, source) for run in runs.values()]
            root = next((run for run in runs.values() if not run.get("parent_run_id")), {})
            session = text_at(root, "extra", "metadata", "session_id") or text_at(
                root, "extra", "metadata", "thread_id"
            )
            model = next(
                (m for run in runs.values() if (m := text_at(run, "extra", "metadata", "ls_model_name"))), None
            )
            yield LANGSMITH.trace(
                name or stem(source), steps_of(records, source.health), {"agent": model}, session=session
            )


def _family(run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a run, then those nested in it, however deep."""
    stack = [run]
    while stack:
        first = stack.pop()
        yield first
        stack += [
            {**child, "parent_run_id": child.get("parent_run_id") or first["id"]}
            for child in dicts(first.get("child_runs"))
            if "id" in child
        ]


def _record(run: dict[str, Any], source: Source) -> SpanRecord:
    kind = _KINDS.get(str(run.get("run_type")), "other")
    if kind == "other" and run.get("run_type") not in ("chain", "prompt", "parser", "embedding"):
        source.health.unknown_kind(f"langsmith {run.get('run_type')}")
    inputs, outputs, failed = run.get("inputs"), run.get("outputs"), bool(run.get("error"))
    return SpanRecord(
        str(run["id"]),
        str(run["parent_run_id"]) if run.get("parent_run_id") else None,
        kind,
        str(run.get("name") or kind),
        start=when(run.get("start_time")),
        end=when(run.get("end_time")),
        call_id=text_at(outputs, "output", "tool_call_id") or text_at(outputs, "tool_call_id"),
        args=_args(inputs) if kind == "tool" else None,
        result=(_result(outputs) if outputs else run.get("error")) if kind == "tool" else None,
        inputs=messages_in(inputs) if kind == "llm" else (),
        outputs=messages_in(outputs) if kind == "llm" else (),
        node=text_at(run, "extra", "metadata", "langgraph_node"),
        error=True if failed else None,
        captured=bool(inputs or outputs or failed),
    )


def _args(inputs: Any) -> Any:
    only = inputs.get("input") if isinstance(inputs, dict) and set(inputs) == {"input"} else inputs
    return args_of(only)


def _result(outputs: Any) -> Any:
    held = outputs.get("output") if isinstance(outputs, dict) and "output" in outputs else outputs
    kwargs = at(held, "kwargs", "content") if isinstance(held, dict) else None
    if kwargs is not None:
        return kwargs
    return held["content"] if isinstance(held, dict) and "content" in held else held


LANGSMITH = Importer(
    "langsmith",
    "LangSmith runs as JSON: flat by trace_id, or nested in child_runs",
    _sniff,
    _read,
    {
        "state": "text of the outputs of llm runs",
        "tool, args": "tool runs, their inputs; joined with the model's tool calls",
        "output": "outputs of tool runs, else error",
        "error": "error is not empty",
        "node": "metadata.langgraph_node",
    },
)
