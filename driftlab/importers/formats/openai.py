"""OpenAI-style chat logs: one conversation a file, or one a line."""

from collections.abc import Iterator, Sequence
from typing import Any

from driftlab.importers.parts.base import Importer, dicts, stem, text_at
from driftlab.importers.parts.chat import call_of, is_conversation, is_message, read_messages, role_of
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.turns import Turns
from driftlab.importers.parts.values import text_of
from driftlab.trace.schema import Trace

__all__ = ["OPENAI", "conversation_of"]

_LISTS = ("messages", "conversation", "conversations", "trajectory", "traj", "history", "input", "items")
_IDS = ("id", "trace_id", "run_id", "session_id", "conversation_id", "custom_id", "instance_id", "traj_id")


def conversation_of(record: dict[str, Any]) -> list[Any] | None:
    """Return the messages that a record holds, its reply included; None when it holds none.

    Examples
    --------
    >>> conversation_of({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes?"}]})[1]
    {'role': 'assistant', 'content': 'yes?'}
    """
    for holder in (record, record.get("request"), record.get("body")):
        asked = _messages(holder)
        if asked and is_conversation(whole := [*asked, *_reply(record)]):
            return whole
    return None


def _reply(record: dict[str, Any]) -> list[Any]:
    """Return what the model answered: the first choice of OpenAI, or a response that is itself a message."""
    held = record.get("response")
    response: dict[str, Any] = held if isinstance(held, dict) else record
    body = response["body"] if isinstance(response.get("body"), dict) else response
    choices = dicts(body.get("choices"))
    if choices and is_message(choices[0].get("message")):
        return [choices[0]["message"]]
    return [body] if body is not record and is_message(body) else []


def _messages(record: Any) -> list[Any] | None:
    if not isinstance(record, dict):
        return None
    lists = (record.get(key) for key in _LISTS)
    return next((x for x in lists if isinstance(x, list) and x and all(map(is_message, x[:8]))), None)


def _sniff(source: Source) -> bool:
    found = source.peek
    return is_conversation(found) or any(isinstance(value, dict) and bool(conversation_of(value)) for value in found)


def _read(sources: Sequence[Source]) -> Iterator[Trace]:
    for source in sources:
        if is_conversation(source.peek):
            yield _trace(source, [value for _, value in source.values()], {}, stem(source))
            continue
        yield from _conversations(source)


def _conversations(source: Source) -> Iterator[Trace]:
    """Read one conversation a record; a record that only continues the one before replaces it."""
    held: tuple[dict[str, Any], list[Any], str] | None = None
    for number, record in source.values():
        messages = conversation_of(record) if isinstance(record, dict) else record if is_conversation(record) else None
        if messages is None:
            source.problem("holds no messages", number)
            continue
        known = record if isinstance(record, dict) else {}
        if held is not None and _continues(held[1], messages):
            source.health.count("replayed", len(held[1]))
            held = (known, messages, held[2])
            continue
        if held is not None:
            yield _trace(source, held[1], held[0], held[2])
        held = (known, messages, f"{stem(source)}:{number}")
    if held is not None:
        yield _trace(source, held[1], held[0], held[2])


def _continues(earlier: list[Any], later: list[Any]) -> bool:
    # A log of requests repeats the whole conversation at every call.
    if len(later) < len(earlier) or not is_conversation(earlier):
        return False
    return all(_essence(old) == _essence(new) for old, new in zip(earlier, later, strict=False))


def _essence(message: Any) -> Any:
    """Return what a message says: replies come back in later requests without the fields that a server adds."""
    if not isinstance(message, dict):
        return message
    calls = [call for call in map(call_of, dicts(message.get("tool_calls"))) if call]
    return role_of(message), text_of(message.get("content")) or "", calls, message.get("tool_call_id")


def _trace(source: Source, messages: list[Any], record: dict[str, Any], name: str) -> Trace:
    turns = Turns(source.health)
    read_messages(messages, turns)
    found = next((record[key] for key in _IDS if isinstance(record.get(key), str | int) and record[key] != ""), None)
    outcome = next(
        (record[key] for key in ("resolved", "success", "target") if isinstance(record.get(key), bool)), None
    )
    info = {
        "agent": text_at(record, "model") or text_at(record, "model_name") or text_at(record, "request", "model"),
        "problem": text_at(record, "instance_id") or text_at(record, "problem_id"),
        "outcome": outcome,
    }
    rest = {
        key: value
        for key, value in record.items()
        if key not in (*_LISTS, *_IDS, "choices", "request", "response", "tools")
    }
    return OPENAI.trace(name if found is None else found, turns.steps(), info, record=rest or None)


OPENAI = Importer(
    "openai-messages",
    "chat messages of OpenAI, Anthropic, LangChain, openai-agents; one conversation a file or a line",
    _sniff,
    _read,
    {
        "state": "assistant content; null content is empty text, content without a text part is absent",
        "thought": "reasoning_content, thinking blocks, reasoning items",
        "tool, args": "tool_calls, tool_use blocks, function_call items; one step a call",
        "output": "the tool message or tool_result block with the same call id",
        "error": "status 'error' or is_error of the result",
        "event": "user messages",
        "tokens": "usage of the message",
    },
)
