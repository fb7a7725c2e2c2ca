"""Traces exported from Langfuse."""

import ast
from typing import Any

from driftlab.importers.parts.base import Importer, at, dicts, per_record, text_at, when
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.spans import SpanRecord, messages_in, steps_of, tokens_in
from driftlab.importers.parts.values import args_of
from driftlab.trace.schema import Trace

__all__ = ["LANGFUSE"]

_KINDS = {"TOOL": "tool", "RETRIEVER": "tool", "GENERATION": "llm", "AGENT": "agent"}
_OTHER = ("SPAN", "CHAIN", "EVENT", "EMBEDDING", "EVALUATOR", "GUARDRAIL")


def _is_trace(value: Any) -> bool:
    found = dicts(value.get("observations")) if isinstance(value, dict) else []
    return bool(found) and all("type" in each and "id" in each for each in found[:8])


def _trace(source: Source, value: dict[str, Any], name: str) -> Trace:
    records = [_record(each, source) for each in dicts(value["observations"])]
    about = {
        "agent": text_at(value, "metadata", "model"),
        "setup": text_at(value, "metadata", "agent"),
        "problem": text_at(value, "name"),
    }
    session = text_at(value, "session_id") or text_at(value, "sessionId")
    return LANGFUSE.trace(value.get("id") or name, steps_of(records, source.health), about, session=session)


def _record(raw: dict[str, Any], source: Source) -> SpanRecord:
    kind = _KINDS.get(str(raw.get("type")).upper(), "other")
    if kind == "other" and str(raw.get("type")).upper() not in _OTHER:
        source.health.unknown_kind(f"langfuse {raw.get('type')}")
    parent = raw.get("parent_observation_id") or raw.get("parentObservationId")
    failed = raw.get("level") == "ERROR"
    said = text_at(raw, "status_message") or text_at(raw, "statusMessage") if failed else None
    result = raw.get("output") if raw.get("output") is not None else said
    return SpanRecord(
        str(raw["id"]),
        str(parent) if parent else None,
        kind,
        str(raw.get("name") or kind),
        start=when(raw.get("start_time") or raw.get("startTime")),
        end=when(raw.get("end_time") or raw.get("endTime")),
        args=_args(raw.get("input")) if kind == "tool" else None,
        result=result if kind == "tool" else None,
        inputs=[m for m in messages_in(raw.get("input")) if not _is_definition(m)] if kind == "llm" else (),
        outputs=messages_in(raw.get("output")) if kind == "llm" else (),
        node=text_at(raw, "metadata", "langgraph_node") or (str(raw.get("name")) if kind == "agent" else None),
        error=True if failed else None,
        tokens=tokens_in(at(raw, "usage")),
        captured=raw.get("input") is not None or raw.get("output") is not None,
    )


def _is_definition(message: Any) -> bool:
    # The tools that a model may call stand among its input, as messages of the tool.
    return bool(at(message, "role") == "tool" and at(message, "content", "type") == "function")


def _args(raw: Any) -> Any:
    """LangChain's handler writes the input of a tool as Python text."""
    found = args_of(raw)
    if isinstance(found, str) and found.startswith("{'") and len(found) < 1 << 16:
        try:
            literal = ast.literal_eval(found)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return found
        return literal if isinstance(literal, dict) and all(isinstance(key, str) for key in literal) else found
    return found


LANGFUSE = Importer(
    "langfuse",
    "Langfuse traces as JSON, with observations",
    *per_record(_is_trace, _trace, "trace of Langfuse with its observations"),
    {
        "state": "text of the output of GENERATION observations",
        "tool, args": "TOOL observations, their input; joined with the model's tool calls",
        "output": "output of TOOL observations, else status_message",
        "error": "level ERROR",
        "node": "metadata.langgraph_node, else the AGENT observation above",
        "problem": "name of the trace",
    },
)
