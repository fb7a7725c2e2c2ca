"""Attributes of OpenTelemetry spans as one tree, however they were written."""

from typing import Any

from driftlab.importers.parts.base import at, dicts
from driftlab.importers.parts.spans import listed

__all__ = ["ARGS", "IDS", "NAMES", "RESULTS", "otlp_value", "tree_of"]

NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "tool_name", "traceloop.entity.name", "entity.name")
IDS = ("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id", "tool.id", "gcp.vertex.agent.tool_call_id")
ARGS = (
    "gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "tool_arguments", "ai.toolCall.args",
    "tool.parameters", "mlflow.spanInputs", "traceloop.entity.input", "input.value", "input",
)  # fmt: skip
RESULTS = (
    "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "tool_response", "ai.toolCall.result",
    "mlflow.spanOutputs", "traceloop.entity.output", "output.value", "output",
)  # fmt: skip
_DEEP = 24  # parts of a dotted name


def tree_of(attributes: Any) -> dict[str, Any]:
    """Return attributes as nested objects, whether they came flat, nested, or as OTLP's list of pairs.

    Examples
    --------
    >>> tree_of([{"key": "a.b", "value": {"stringValue": "x"}}]) == tree_of({"a.b": "x"}) == tree_of({"a": {"b": "x"}})
    True
    """
    pairs = (
        attributes.items()
        if isinstance(attributes, dict)
        else ((p.get("key"), otlp_value(p.get("value"))) for p in dicts(attributes))
    )
    tree: dict[str, Any] = {}
    for key, value in pairs:
        if isinstance(key, str):
            _set(tree, key.split(".", _DEEP), _nested(value, key), key)
    return tree


def _nested(value: Any, key: str) -> Any:
    # Arguments and results are content: a dot in one of their keys means nothing.
    if key in ARGS or key in RESULTS or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        return [_nested(item, "") for item in value]
    return tree_of(value)


def _set(tree: dict[str, Any], path: list[str], value: Any, key: str) -> None:
    place = tree
    for part in path[:-1]:
        inner = place.setdefault(part, {})
        if not isinstance(inner, dict):
            tree[key] = value  # a name that is both a value and the beginning of others
            return
        place = inner
    held = place.get(path[-1])
    place[path[-1]] = {**held, **value} if isinstance(held, dict) and isinstance(value, dict) else value


def otlp_value(raw: Any) -> Any:
    """Return the plain value of an OTLP AnyValue.

    Examples
    --------
    >>> otlp_value({"arrayValue": {"values": [{"intValue": "3"}]}})
    [3]
    """
    if not isinstance(raw, dict):
        return raw
    for kind, value in raw.items():
        if kind in ("intValue", "int_value"):
            return int(value) if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 20 else value
        if kind in ("arrayValue", "array_value"):
            return [otlp_value(item) for item in listed(at(value, "values"))]
        if kind in ("kvlistValue", "kvlist_value"):
            return {str(p.get("key")): otlp_value(p.get("value")) for p in dicts(at(value, "values"))}
        return value
    return None
