"""Traces of the OpenAI Agents SDK, as its processors export them."""

from collections.abc import Iterator, Sequence
from typing import Any

from driftlab.importers.parts.base import Importer, at, stem, text_at, when
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.spans import SpanRecord, messages_in, steps_of, tokens_in
from driftlab.importers.parts.values import args_of
from driftlab.trace.schema import Trace

__all__ = ["AGENTS"]

_KINDS = {"function": "tool", "generation": "llm", "response": "llm", "agent": "agent"}
_OTHER = ("handoff", "guardrail", "mcp_tools", "custom", "transcription", "speech", "speech_group", "turn", "task")


def _sniff(source: Source) -> bool:
    return any(at(value, "object") == "trace.span" and at(value, "span_data") is not None for value in source.peek)


def _read(sources: Sequence[Source]) -> Iterator[Trace]:
    for source in sources:
        runs: dict[str, dict[str, dict[str, Any]]] = {}
        about: dict[str, dict[str, Any]] = {}
        for line, value in source.values():
            if at(value, "object") == "trace":
                about[str(value.get("id"))] = value
            elif at(value, "object") == "trace.span":
                runs.setdefault(text_at(value, "trace_id") or stem(source), {})[str(value.get("id") or line)] = value
            else:
                source.problem("holds no span of the Agents SDK", line)
        for name, spans in runs.items():
            records = [_record(span, source) for span in spans.values()]
            known = about.get(name, {})
            info = {"agent": next((m for s in spans.values() if (m := text_at(s, "span_data", "model"))), None)}
            info["setup"] = text_at(known, "workflow_name")
            yield AGENTS.trace(name, steps_of(records, source.health), info, session=text_at(known, "group_id"))


def _record(span: dict[str, Any], source: Source) -> SpanRecord:
    held = span.get("span_data")
    data: dict[str, Any] = held if isinstance(held, dict) else {}
    kind = _KINDS.get(str(data.get("type")), "other")
    if kind == "other" and data.get("type") not in _OTHER:
        source.health.unknown_kind(f"agents-sdk {data.get('type')}")
    failed, said = span.get("error"), text_at(span, "error", "message")
    output = data.get("output")
    return SpanRecord(
        text_at(span, "id"),
        text_at(span, "parent_id"),
        kind,
        str(data.get("name") or kind),
        start=when(span.get("started_at")),
        end=when(span.get("ended_at")),
        args=args_of(data.get("input")) if kind == "tool" else None,
        result=(output if output is not None else said) if kind == "tool" else None,
        inputs=messages_in(data.get("input")) if kind == "llm" else (),
        outputs=messages_in(output) if kind == "llm" else (),
        node=str(data.get("name")) if kind == "agent" else None,
        error=True if failed else None,
        tokens=tokens_in(data.get("usage")),
        captured=data.get("input") is not None or output is not None,
    )


AGENTS = Importer(
    "openai-agents",
    "OpenAI Agents SDK: traces and spans as its trace processors export them",
    _sniff,
    _read,
    {
        "state": "text of the output of generation spans",
        "tool, args": "function spans, their input; joined with the model's tool calls",
        "output": "output of function spans, else the error",
        "error": "error of the span",
        "node": "the agent span above",
    },
)
