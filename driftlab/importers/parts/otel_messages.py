"""Messages that model spans hold, in the forms of several kits."""

from typing import Any

from driftlab.importers.parts.base import at, dicts
from driftlab.importers.parts.otel_attributes import tree_of
from driftlab.importers.parts.spans import first_of, listed, messages_in
from driftlab.importers.parts.values import args_of, text_of

__all__ = ["genai_messages", "inputs_of", "outputs_of"]

_INPUTS = ("mlflow.spanInputs", "ai.prompt.messages", "input.value")
_OUTPUTS = ("mlflow.spanOutputs", "output.value", "ai.response.text")


def outputs_of(tree: dict[str, Any], span: dict[str, Any]) -> list[Any]:
    """Return the messages that a model span says the model wrote.

    Examples
    --------
    >>> outputs_of({"output": {"value": "yes"}}, {})
    ['yes']
    """
    found = genai_messages(first_of(tree, ("gen_ai.output.messages",))) or _openinference(
        at(tree, "llm", "output_messages")
    )
    found = (
        found
        or _flattened(at(tree, "gen_ai", "completion"))
        or _events(span, ("gen_ai.choice", "gen_ai.assistant.message"))
    )
    calls = args_of(first_of(tree, ("ai.response.toolCalls",)))
    if not found and dicts(calls):
        named = [
            {"id": c.get("toolCallId"), "name": c.get("toolName") or "", "args": c.get("args") or c.get("input")}
            for c in calls
        ]
        return [{"role": "assistant", "content": first_of(tree, ("ai.response.text",)), "tool_calls": named}]
    return found or messages_in(first_of(tree, _OUTPUTS))


def inputs_of(tree: dict[str, Any], span: dict[str, Any]) -> list[Any]:
    """Return the messages that a model span says the model read.

    Examples
    --------
    >>> inputs_of({"gen_ai": {"prompt": {"0": {"role": "user", "content": "hi"}}}}, {})[0]["content"]
    'hi'
    """
    found = genai_messages(first_of(tree, ("gen_ai.input.messages",))) or _openinference(
        at(tree, "llm", "input_messages")
    )
    found = found or _flattened(at(tree, "gen_ai", "prompt"))
    found = found or _events(span, ("gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message"))
    return found or messages_in(first_of(tree, _INPUTS))


def _openinference(raw: Any) -> list[dict[str, Any]]:
    out = []
    for entry in dicts(listed(raw)):
        message = entry["message"] if isinstance(entry.get("message"), dict) else entry
        calls = [
            call["tool_call"] if isinstance(call.get("tool_call"), dict) else call
            for call in dicts(listed(message.get("tool_calls")))
        ]
        parts = [at(part, "message_content") or part for part in dicts(listed(message.get("contents")))]
        content = message.get("content") if message.get("content") is not None else parts or None
        out.append({**message, "role": message.get("role") or "assistant", "content": content, "tool_calls": calls})
    return out


def _flattened(raw: Any) -> list[dict[str, Any]]:
    """Read what OpenLLMetry writes: gen_ai.completion.0.tool_calls.0.name."""
    messages = dicts(listed(raw))
    return [
        {"role": "assistant", "content": None, **m, "tool_calls": dicts(listed(m.get("tool_calls")))} for m in messages
    ]


def _events(span: dict[str, Any], names: tuple[str, ...]) -> list[dict[str, Any]]:
    out = []
    for event in dicts(span.get("events")):
        if event.get("name") not in names:
            continue
        tree = tree_of(event.get("attributes"))
        held = args_of(tree.get("message")) if isinstance(args_of(tree.get("message")), dict) else tree
        role = str(event["name"]).removeprefix("gen_ai.").removesuffix(".message").replace("choice", "assistant")
        message = {**held, "role": role, "content": held.get("content"), "tool_call_id": held.get("id")}
        out.append({**message, "tool_calls": dicts(args_of(held.get("tool_calls")))})
    return out


def genai_messages(raw: Any) -> list[dict[str, Any]]:
    """Return messages made of parts, as OpenTelemetry has them, in chat form.

    Examples
    --------
    >>> genai_messages([{"role": "assistant", "parts": [{"type": "text", "content": "hi"}]}])
    [{'role': 'assistant', 'content': 'hi'}]
    """
    out: list[dict[str, Any]] = []
    for message in dicts(args_of(raw)):
        parts = dicts(message.get("parts"))
        if not parts:
            out.append(message)
            continue
        results = [part for part in parts if part.get("type") == "tool_call_response"]
        out += [{"role": "tool", "tool_call_id": p.get("id"), "content": _of(p, "response", "result")} for p in results]
        if len(results) < len(parts):
            out.append(_joined(message, parts))
    return out


def _joined(message: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    joined: dict[str, Any] = {"role": message.get("role")}
    texts = [text_of(part.get("content")) or "" for part in parts if part.get("type") == "text"]
    joined["content"] = "\n".join(texts) if texts else None
    calls = [
        {"id": p.get("id"), "name": p.get("name") or "", "args": p.get("arguments")}
        for p in parts
        if p.get("type") == "tool_call"
    ]
    thoughts = [text_of(part.get("content")) or "" for part in parts if part.get("type") == "reasoning"]
    more = {"tool_calls": calls, "reasoning_content": "\n".join(thoughts)}
    return {**joined, **{key: value for key, value in more.items() if value}}


def _of(part: dict[str, Any], *names: str) -> Any:
    return next((part[name] for name in names if part.get(name) is not None), None)
