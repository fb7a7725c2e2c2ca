"""Reads chat messages of OpenAI, Anthropic, LangChain, Responses items into turns."""

from collections.abc import Callable, Iterable
from typing import Any

from driftlab.importers.parts.base import at, dicts, whole_at
from driftlab.importers.parts.turns import Call, Turns
from driftlab.importers.parts.values import args_of, text_of

__all__ = ["ITEMS", "call_of", "is_conversation", "is_message", "read_messages", "role_of", "take_result", "unwrapped"]

ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "agent": "assistant",
    "AIMessageChunk": "assistant",
    "AIMessage": "assistant",
    "HumanMessage": "user",
    "ToolMessage": "tool",
    "SystemMessage": "system",
    "FunctionMessage": "function",
    "function": "tool",
    "ipython": "tool",
    "developer": "system",
}
_SILENT = ("system", "remove", "exit", "item_reference")
_THOUGHTS = ("thinking", "reasoning")
_QUIET_PARTS = ("redacted_thinking", "image", "image_url", "input_text", None)


def is_message(value: Any) -> bool:
    """Whether a value is one chat message.

    Examples
    --------
    >>> is_message({"role": "user", "content": "hi"}), is_message({"role": "user"}), is_message("hi")
    (True, False, False)
    """
    if not isinstance(value, dict):
        return False
    if "lc" in value and isinstance(value.get("kwargs"), dict):
        return True
    known = role_of(value) in ("user", "assistant", "tool", "system")
    spoken = any(key in value for key in ("content", "tool_calls", "function_call", "parts", "data"))
    return (known and spoken) or str(value.get("type")) in ITEMS


def is_conversation(value: Any) -> bool:
    """Whether a value is a list of chat messages, at least one of them by an agent.

    Examples
    --------
    >>> is_conversation([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes?"}])
    True
    """
    if not isinstance(value, list) or not value or not all(is_message(item) for item in value[:8]):
        return False
    return any(
        isinstance(m, dict) and (role_of(m) in ("assistant", "tool") or str(m.get("type")) in ITEMS or "lc" in m)
        for m in value
    )


def role_of(message: dict[str, Any]) -> str:
    """Return one of user, assistant, tool, system, or whatever else the message says it is.

    Examples
    --------
    >>> role_of({"type": "ai", "content": ""})
    'assistant'
    """
    raw = message.get("role") or message.get("type")
    return ROLES.get(raw, raw) if isinstance(raw, str) else ""


def read_messages(messages: Iterable[Any], turns: Turns, *, node: str | None = None) -> None:
    """Take the messages of one run, in order; kinds that are unknown are counted.

    Examples
    --------
    >>> from driftlab.importers.parts.health import HealthReport
    >>> turns = Turns(HealthReport())
    >>> call = {"id": "c1", "function": {"name": "get", "arguments": '{"k": 1}'}}
    >>> read_messages([{"role": "assistant", "content": None, "tool_calls": [call]},
    ...                {"role": "tool", "tool_call_id": "c1", "content": "one"}], turns)
    >>> turns.steps()[0].args, turns.steps()[0].output, turns.steps()[0].state
    ({'k': 1}, 'one', '')
    """
    for raw in messages:
        message = unwrapped(raw)
        if message is None:
            turns.health.unknown_kind(f"message {type(raw).__name__}")
            continue
        item = ITEMS.get(str(message.get("type")))
        role = role_of(message)
        if item is not None and role not in ("user", "assistant", "tool"):
            item(message, turns)
        elif role == "user":
            _user(message, turns)
        elif role == "assistant":
            _assistant(message, turns, node)
        elif role == "tool":
            _tool(message, turns)
        elif role not in _SILENT:
            turns.health.unknown_kind(f"message role {role!r}")


def unwrapped(raw: Any) -> dict[str, Any] | None:
    """Take LangChain's envelopes off: {"lc": 1, "kwargs": ...}, {"type": "ai", "data": ...}; None for no object.

    Examples
    --------
    >>> unwrapped({"type": "ai", "data": {"content": "hi"}})
    {'content': 'hi', 'type': 'ai'}
    """
    if not isinstance(raw, dict):
        return None
    if "lc" in raw and isinstance(raw.get("kwargs"), dict):
        name = raw.get("id")
        kind = name[-1] if isinstance(name, list) and name else raw["kwargs"].get("type")
        return {**raw["kwargs"], "type": kind}
    if isinstance(raw.get("data"), dict) and "content" not in raw:
        return {**raw["data"], "type": raw.get("type")}
    return raw


def _user(message: dict[str, Any], turns: Turns) -> None:
    parts = _parts(message)
    results = [
        part for part in parts if part.get("type") in ("tool_result", "function_response") or "functionResponse" in part
    ]
    for part in results:
        take_result(part, turns)
    if not results or any(part.get("type") == "text" and part.get("text") for part in parts):
        turns.user()


def take_result(part: dict[str, Any], turns: Turns) -> None:
    """Take one Anthropic or Gemini result block.

    Examples
    --------
    >>> from driftlab.importers.parts.health import HealthReport
    >>> turns = Turns(HealthReport())
    >>> turns.call(Call("t1", "ls"))
    >>> take_result({"type": "tool_result", "tool_use_id": "t1", "content": "x"}, turns)
    >>> turns.steps()[0].output
    'x'
    """
    gemini = part.get("functionResponse")
    if isinstance(gemini, dict):
        turns.result(_id(gemini.get("id")), text_of(gemini.get("response")), tool=gemini.get("name"))
        return
    error = True if part.get("is_error") is True else None
    turns.result(_id(part.get("tool_use_id") or part.get("id")), text_of(part.get("content")), error=error)


def _assistant(message: dict[str, Any], turns: Turns, node: str | None) -> None:
    item = message.get("type") == "message"  # its calls and its reasoning are items of their own
    if not item:
        turns.flush()
    parts = _parts(message)
    content = message.get("content")
    text, thoughts, calls = (
        _read_parts(parts, turns) if parts else ("" if content is None else text_of(content), [], [])
    )
    # LangChain repeats the calls of Anthropic blocks in `tool_calls`; those are read there.
    calls = [call for call in map(call_of, _listed(message)) if call] or calls
    name = message.get("name")
    node = node or (name if isinstance(name, str) else None)
    thought = "\n".join(filter(None, (_thought(message), *thoughts))) or None
    turns.speak(text, thought, tokens=_usage(message), node=node)
    for call in calls:
        turns.call(call, node=node)
    for part in parts:  # a tool that the provider ran brings its result along
        if part.get("type") == "tool_use" and "result" in part:
            turns.result(_id(part.get("id")), text_of(part.get("result")), error=True if part.get("error") else None)
    if not (item or calls):
        turns.flush()


def _read_parts(parts: list[dict[str, Any]], turns: Turns) -> tuple[str | None, list[str], list[Call]]:
    """Return text (None when no part is text), thoughts, calls of a message in parts."""
    texts, thoughts, calls = list[str](), list[str](), list[Call]()
    for part in parts:
        kind = part.get("type")
        if kind in ("text", "output_text", "refusal") or set(part) == {"text"}:
            texts.append(str(part.get("text") or part.get("refusal") or ""))
        elif kind in _THOUGHTS:
            thoughts.append(str(part.get("thinking") or part.get("reasoning") or part.get("text") or ""))
        elif (call := call_of(part)) is not None:
            calls.append(call)
        elif kind not in _QUIET_PARTS:
            turns.health.unknown_kind(f"content part {kind!r}")
    return "\n".join(filter(None, texts)) if texts else None, thoughts, calls


def _usage(message: dict[str, Any]) -> int | None:
    for place, name in (
        ("usage", "completion_tokens"),
        ("usage", "output_tokens"),
        ("usage_metadata", "output_tokens"),
    ):
        if place in message and (found := whole_at(message, place, name)) is not None:
            return found
    return None


def _thought(message: dict[str, Any]) -> str | None:
    more = message.get("additional_kwargs")
    held = more.get("reasoning_content") if isinstance(more, dict) else None
    found = (message.get("reasoning_content"), message.get("reasoning"), held)
    return next((value for value in found if isinstance(value, str)), None)


def _listed(message: dict[str, Any]) -> list[dict[str, Any]]:
    listed = dicts(message.get("tool_calls")) or dicts(at(message, "additional_kwargs", "tool_calls"))
    listed += dicts(message.get("invalid_tool_calls"))
    legacy = message.get("function_call")
    return listed + ([{"function": legacy}] if isinstance(legacy, dict) else [])


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    return dicts(message.get("content")) or dicts(message.get("parts"))


def call_of(raw: dict[str, Any]) -> Call | None:
    """Return the call in an OpenAI, LangChain, Anthropic or Gemini object; None when it holds none.

    Examples
    --------
    >>> call_of({"type": "tool_use", "id": "t1", "name": "ls", "input": {}})
    Call(id='t1', tool='ls', args={})
    """
    inner = raw.get("function") or raw.get("functionCall") or raw.get("custom")
    if isinstance(inner, dict):
        args = next((inner[key] for key in ("arguments", "args", "input") if key in inner), None)
        return Call(_id(raw.get("id") or inner.get("id")), _id(inner.get("name")), args_of(args))
    if raw.get("type") in ("text", "image", *_THOUGHTS) or not isinstance(raw.get("name"), str):
        return None
    args = next((raw[key] for key in ("args", "input", "arguments") if key in raw), None)
    return Call(_id(raw.get("id") or raw.get("call_id")), raw["name"], args_of(args))


def _tool(message: dict[str, Any], turns: Turns) -> None:
    call_id = message.get("tool_call_id") or message.get("call_id")
    failed = message.get("status") == "error" or message.get("is_error") is True
    parts = [part for part in _parts(message) if part.get("type") == "tool_result"]
    for part in parts:
        take_result(part, turns)
    if not parts:
        name = message.get("name") if not call_id else None
        turns.result(_id(call_id), text_of(message.get("content")), tool=name, error=True if failed else None)


def _id(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and value != "" else None


def _item_call(item: dict[str, Any], turns: Turns) -> None:
    args = next((item[key] for key in ("arguments", "input", "action") if item.get(key) is not None), None)
    tool = item.get("name") or str(item["type"]).removesuffix("_call")
    turns.call(Call(_id(item.get("call_id") or item.get("id")), str(tool), args_of(args)))


def _item_result(item: dict[str, Any], turns: Turns) -> None:
    turns.result(_id(item.get("call_id") or item.get("id")), text_of(item.get("output")))


def _item_reasoning(item: dict[str, Any], turns: Turns) -> None:
    parts = dicts(item.get("summary")) + dicts(item.get("content"))
    text = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    # Encrypted reasoning says nothing, and is no step.
    if text:
        turns.speak(None, text)


ITEMS: dict[str, Callable[[dict[str, Any], Turns], None]] = {
    "function_call": _item_call,
    "custom_tool_call": _item_call,
    "local_shell_call": _item_call,
    "web_search_call": _item_call,
    "mcp_call": _item_call,
    "computer_call": _item_call,
    "file_search_call": _item_call,
    "code_interpreter_call": _item_call,
    "function_call_output": _item_result,
    "custom_tool_call_output": _item_result,
    "local_shell_call_output": _item_result,
    "computer_call_output": _item_result,
    "reasoning": _item_reasoning,
}
