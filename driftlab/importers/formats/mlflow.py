"""Traces exported from MLflow."""

from typing import Any

import msgspec

from driftlab.importers.formats.otel import record_of
from driftlab.importers.parts.base import Importer, at, dicts, per_record, text_at
from driftlab.importers.parts.otel_attributes import tree_of
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.spans import steps_of
from driftlab.trace.schema import Trace

__all__ = ["MLFLOW"]


def _is_trace(value: Any) -> bool:
    known = at(value, "info", "trace_id") or at(value, "info", "request_id")
    return isinstance(known, str) and isinstance(at(value, "data", "spans"), list)


def _trace(source: Source, value: dict[str, Any], _: str) -> Trace:
    spans = dicts(value["data"]["spans"])
    trees = [tree_of({key: _decoded(raw) for key, raw in _attributes(span).items()}) for span in spans]
    records = [record_of(span, tree, source.health) for span, tree in zip(spans, trees, strict=True)]
    info = value["info"]
    tags = info.get("tags") if isinstance(info.get("tags"), dict) else {}
    model = text_at(tags, "model") or next(
        (m for tree in trees if (m := text_at(tree, "mlflow", "llm", "model"))), None
    )
    name = info.get("trace_id") or info["request_id"]
    about = {"agent": model, "setup": text_at(tags, "agent"), "problem": text_at(tags, "input_index")}
    return MLFLOW.trace(
        name, steps_of(records, source.health), about, name=text_at(tags, "mlflow.traceName"), state=info.get("state")
    )


def _attributes(span: dict[str, Any]) -> dict[str, Any]:
    return span["attributes"] if isinstance(span.get("attributes"), dict) else {}


def _decoded(raw: Any) -> Any:
    """MLflow keeps each attribute as JSON text."""
    if not isinstance(raw, str):
        return raw
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return raw


MLFLOW = Importer(
    "mlflow",
    "MLflow traces as JSON (info, data.spans)",
    *per_record(_is_trace, _trace, "trace of MLflow"),
    {
        "state": "text of the chat model's output",
        "tool, args": "spans of type TOOL, their spanInputs; joined with the model's tool calls",
        "output": "spanOutputs of TOOL spans",
        "node": "metadata.langgraph_node, else the AGENT span above",
        "problem": "tag input_index",
        "setup": "tag agent",
    },
)
