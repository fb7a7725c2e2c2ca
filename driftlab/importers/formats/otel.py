"""OpenTelemetry spans: GenAI conventions, OpenInference, other kits' own names."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from driftlab.importers.parts.base import Importer, at, dicts, stem, when, whole_at
from driftlab.importers.parts.health import HealthReport
from driftlab.importers.parts.otel_attributes import ARGS, IDS, NAMES, RESULTS, tree_of
from driftlab.importers.parts.otel_messages import inputs_of, outputs_of
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.spans import SpanRecord, first_of, steps_of, tokens_in
from driftlab.importers.parts.values import args_of
from driftlab.trace.schema import Trace

__all__ = ["OTEL", "from_spans", "record_of"]

_KINDS = {
    "execute_tool": "tool", "tool": "tool", "retriever": "tool", "ai.toolcall": "tool",
    "chat": "llm", "text_completion": "llm", "generate_content": "llm", "llm": "llm", "chat_model": "llm",
    "invoke_agent": "agent", "create_agent": "agent", "agent": "agent", "invoke_workflow": "agent",
}  # fmt: skip


_TOLD = ("openinference.span.kind", "gen_ai.operation.name", "mlflow.spanType", "traceloop.span.kind", "operation.name")
_OTHER = ("chain", "workflow", "task", "unknown", "parser", "embedding", "embeddings")
_TRACE_IDS = ("traceId", "trace_id", "context.trace_id")


def from_spans(spans: Iterable[Any], id: str | None = None, *, health: HealthReport | None = None) -> list[Trace]:
    """Return the traces of spans that an exporter of opentelemetry-sdk holds in memory.

    Parameters
    ----------
    spans : iterable of ReadableSpan or mapping
    id : str, optional
        Name of the spans that carry no trace id.
    health : HealthReport, optional
        Where spans without content are counted.

    Examples
    --------
    >>> span = {"name": "execute_tool ls", "attributes": {"gen_ai.tool.name": "ls", "gen_ai.tool.call.result": "a"}}
    >>> from_spans([span], "run-1")[0].steps[0].output
    'a'
    """
    report = health or HealthReport()
    raw = [span if isinstance(span, dict) else msgspec.json.decode(span.to_json()) for span in spans]
    return list(_traces(raw, id or "spans", report))


def _sniff(source: Source) -> bool:
    return any(_told(span) for value in source.peek for span in _spans(value))


def _told(span: dict[str, Any]) -> bool:
    """Whether a span is of an agent rather than of any other program."""
    tree = tree_of(span.get("attributes"))
    own = ("gen_ai", "llm", "openinference", "traceloop", "mlflow", "ai")
    return any(name in tree for name in own) or first_of(tree, (*NAMES[:3], *ARGS[:4])) is not None


def _spans(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the spans of one record: OTLP JSON, a list, one span."""
    if isinstance(value, list):
        for item in value:
            yield from _spans(item) if isinstance(item, dict) else ()
        return
    if not isinstance(value, dict):
        return
    for resource in dicts(value.get("resourceSpans") or value.get("resource_spans")):
        for scope in dicts(
            resource.get("scopeSpans") or resource.get("scope_spans") or resource.get("instrumentationLibrarySpans")
        ):
            yield from dicts(scope.get("spans"))
    for held in (value.get("spans"), at(value, "data", "spans")):
        yield from dicts(held)
    if "attributes" in value and "name" in value:
        yield value


def _link(source: Source) -> Iterable[Hashable]:
    """Yield the trace ids of a file: exporters that rotate their files cut traces in two."""
    for _, value in source.quiet().values():
        for span in _spans(value):
            trace = first_of(span, _TRACE_IDS)
            if isinstance(trace, str):
                yield trace


def _read(sources: Sequence[Source]) -> Iterator[Trace]:
    found: list[dict[str, Any]] = []
    for source in sources:
        for line, value in source.values():
            spans = list(_spans(value))
            found += spans
            if not spans:
                source.problem("holds no span", line)
    sources[0].health.count("joined", len(sources) - 1)
    yield from _traces(found, stem(sources[0]), sources[0].health)


def _traces(spans: list[dict[str, Any]], name: str, health: HealthReport) -> Iterator[Trace]:
    runs: dict[str, dict[Any, dict[str, Any]]] = {}
    for place, span in enumerate(spans):
        trace = first_of(span, _TRACE_IDS)
        run = runs.setdefault(str(trace) if trace else name, {})
        key = _span_id(span) or place
        # Batches are sent again after a fault.
        health.count("replayed", int(key in run))
        run[key] = span
    for trace, run in runs.items():
        trees = [tree_of(span.get("attributes")) for span in run.values()]
        records = [record_of(span, tree, health) for span, tree in zip(run.values(), trees, strict=True)]
        steps = steps_of(records, health)
        if steps:
            yield OTEL.trace(
                trace, steps, _info(trees), session=_first(trees, ("session.id", "gen_ai.conversation.id"))
            )


def _info(trees: list[dict[str, Any]]) -> dict[str, Any]:
    models = ("gen_ai.request.model", "llm.model_name", "gen_ai.response.model", "mlflow.llm.model", "ai.model.id")
    return {"agent": _first(trees, models), "setup": _first(trees, ("gen_ai.agent.name",))}


def _first(trees: list[dict[str, Any]], names: Sequence[str]) -> str | None:
    found = (first_of(tree, names) for tree in trees)
    return next((str(value) for value in found if isinstance(value, str | int)), None)


def _span_id(span: dict[str, Any]) -> str | None:
    found = first_of(span, ("spanId", "span_id", "context.span_id"))
    return str(found) if found else None


def record_of(span: dict[str, Any], tree: dict[str, Any], health: HealthReport) -> SpanRecord:
    """Return one span in the common form.

    Examples
    --------
    >>> record_of({"name": "execute_tool ls"}, {}, HealthReport()).name
    'ls'
    """
    kind, name = _kind(span, tree, health), str(span.get("name") or "")
    parent = first_of(span, ("parentSpanId", "parent_span_id", "parent_id", "parentId"))
    raw = span.get("status")
    status: dict[str, Any] = raw if isinstance(raw, dict) else {}
    failed = str(status.get("code") or status.get("status_code")) in ("2", "STATUS_CODE_ERROR", "ERROR")
    record = SpanRecord(
        _span_id(span),
        str(parent) if parent else None,
        kind,
        name,
        start=when(first_of(span, ("startTimeUnixNano", "start_time_unix_nano", "start_time"))),
        end=when(first_of(span, ("endTimeUnixNano", "end_time_unix_nano", "end_time"))),
        error=True if failed else None,
        node=_node(kind, tree, name),
    )
    if kind == "tool":
        return _tool(record, tree, (status.get("message") or status.get("description")) if failed else None)
    return _model(record, tree, span) if kind == "llm" else record


def _tool(record: SpanRecord, tree: dict[str, Any], said: Any) -> SpanRecord:
    args, result, call_id = args_of(first_of(tree, ARGS)), first_of(tree, RESULTS), first_of(tree, IDS)
    tool = first_of(tree, NAMES) or record.name.removeprefix("execute_tool ").removeprefix("running tool: ")
    return replace(
        record,
        name=str(tool),
        call_id=str(call_id) if call_id else None,
        args=args,
        result=said if result is None else result,
        captured=args is not None or result is not None,
    )


def _model(record: SpanRecord, tree: dict[str, Any], span: dict[str, Any]) -> SpanRecord:
    outputs = outputs_of(tree, span)
    counts = (("gen_ai", "usage", "output_tokens"), ("llm", "token_count", "completion"))
    tokens = next((count for path in counts if (count := whole_at(tree, *path)) is not None), None)
    tokens = tokens_in(first_of(tree, ("mlflow.chat.tokenUsage",))) if tokens is None else tokens
    return replace(record, inputs=inputs_of(tree, span), outputs=outputs, captured=bool(outputs), tokens=tokens)


def _kind(span: dict[str, Any], tree: dict[str, Any], health: HealthReport) -> str:
    told = first_of(tree, _TOLD)
    word = str(told).lower()
    if told is not None and word in _KINDS:
        return _KINDS[word]
    if first_of(tree, (*NAMES[:3], *ARGS[:4])) is not None or str(span.get("name")).startswith("execute_tool"):
        return "tool"
    if first_of(tree, ("gen_ai.output.messages", "gen_ai.completion", "llm.output_messages")) is not None:
        return "llm"
    if told is not None and word not in _OTHER:
        health.unknown_kind(f"span kind {told!r}")
    return "other"


def _node(kind: str, tree: dict[str, Any], name: str) -> str | None:
    found = first_of(
        tree, ("gen_ai.agent.name", "agent.name", "graph.node.id", "metadata.langgraph_node", "traceloop.entity.path")
    )
    if isinstance(found, str) and found:
        return found
    return name.removeprefix("invoke_agent ") or None if kind == "agent" else None


OTEL = Importer(
    "otel",
    "OpenTelemetry spans (OTLP JSON, one a line, console exporter): GenAI, OpenInference, OpenLLMetry, Vercel AI, ADK",
    _sniff,
    _read,
    {
        "state": "text of the model's output messages",
        "thought": "reasoning parts",
        "tool, args": "tool spans and the calls of model spans, joined by call id, else by tool and arguments; "
        f"{', '.join(ARGS[:4])} ...",
        "output": f"{', '.join(RESULTS[:4])} ...; else the tool message of a later model input",
        "error": "status of the span",
        "node": "gen_ai.agent.name, graph node, else the agent span above",
        "event": "a new user message after a reply",
        "seconds": "end - start of the tool span",
    },
    _link,
)
