"""Codex rollouts, old, new, and the stream of `codex exec --json`."""

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from driftlab.importers.parts.base import Importer, at, dicts, lasted, number_at, stem, text_at
from driftlab.importers.parts.chat import ITEMS, read_messages
from driftlab.importers.parts.repeats import Prefix, chained
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.turns import Call, Turns
from driftlab.importers.parts.values import hash_of, text_of
from driftlab.trace.schema import Trace

__all__ = ["CODEX"]

_LINES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_STREAM = (
    "thread.started",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.updated",
    "item.completed",
)
_QUIET = (
    "session_meta",
    "event_msg",
    "turn_context",
    "ghost_snapshot",
    "state",
    "thread.started",
    "turn.started",
    "turn.completed",
    "item.started",
    "item.updated",
    "error",
    "world_state",
    "inter_agent_communication_metadata",
)
_SETTING = ("<environment_context>", "<user_instructions>", "# AGENTS.md", "<permissions", "<turn_aborted>")
_CODE = re.compile(
    r"\A(?:Exit code: |Process exited with code |.{0,200}?\nProcess exited with code )(-?\d+)", re.DOTALL
)


def _sniff(source: Source) -> bool:
    found = [value for value in source.peek if isinstance(value, dict)]
    if any(value.get("type") in _LINES and isinstance(value.get("payload"), dict) for value in found):
        return True
    if any(value.get("type") in _STREAM for value in found):
        return True
    if any(isinstance(value.get("session"), dict) and isinstance(value.get("items"), list) for value in found):
        return True
    old = found[:1] and {"id", "timestamp"} <= set(found[0]) and {"instructions", "git"} & set(found[0])
    return bool(old) or any(value.get("record_type") == "state" for value in found)


def _link(source: Source) -> Iterable[Hashable]:
    # A fork writes its own meta first, then that of the session it copies.
    for value in islice(source.peek, 8):
        meta = value.get("payload") if isinstance(value, dict) and value.get("type") == "session_meta" else None
        yield from (name for key in ("id", "forked_from_id") if (name := text_at(meta, key)))


def _read(sources: Sequence[Source]) -> Iterator[Trace]:
    files = []
    for source in sources:
        records = list(_records(source))
        files.append(
            (_session(records) or stem(source), [(_key(record), record) for record in records if _counts(record)])
        )
    files.sort(key=lambda file: len(file[1]) if len(files) > 1 else 0)
    runs, dropped = chained(files)
    sources[0].health.count("replayed", dropped)
    for run in runs:
        sources[0].health.count("joined", run.files - 1)
        yield _trace(sources[0], run)


def _records(source: Source) -> Iterator[dict[str, Any]]:
    for line, value in source.values():
        if isinstance(value, dict) and isinstance(value.get("items"), list):
            yield {"type": "session_meta", "payload": value.get("session")}
            yield from ({"payload": item, "type": "response_item"} for item in dicts(value["items"]))
        elif isinstance(value, dict):
            # Before the envelope, items stood on lines of their own.
            bare = "payload" not in value and str(value.get("type")) in (*ITEMS, "message")
            yield {"type": "response_item", "payload": value} if bare else value
        else:
            source.problem(f"expected an object, got {type(value).__name__}", line)


def _session(records: list[dict[str, Any]]) -> str | None:
    for record in records[:8]:
        name = (
            text_at(record, "payload", "id") if record.get("type") == "session_meta" else text_at(record, "thread_id")
        )
        if name or ("type" not in record and text_at(record, "id")):
            return name or text_at(record, "id")
    return None


def _counts(record: dict[str, Any]) -> bool:
    return (
        record.get("type") not in ("session_meta", "event_msg", "thread.started")
        and record.get("record_type") != "state"
    )


def _key(record: dict[str, Any]) -> Hashable:
    held = record.get("payload")
    item = held if isinstance(held, dict) else record
    return hash_of({key: value for key, value in item.items() if key not in ("timestamp", "id", "status")})


def _trace(source: Source, run: Prefix[dict[str, Any]]) -> Trace:
    turns = Turns(source.health)
    model, times = None, dict[str, Any]()
    for record in run.records:
        model = model or text_at(record, "payload", "model")
        _take(record, turns, times)
    setup = f"{model or '?'} codex"
    return CODEX.trace(run.name, turns.steps(), {"agent": model, "setup": setup}, forked_from=run.forked_from)


def _take(record: dict[str, Any], turns: Turns, times: dict[str, Any]) -> None:
    kind, item = record.get("type"), record.get("payload")
    if kind == "response_item" and isinstance(item, dict):
        _item(item, record.get("timestamp"), turns, times)
    elif kind == "compacted":
        turns.compaction()
    elif kind == "item.completed":
        _streamed(record.get("item"), turns)
    elif kind == "turn.failed":
        turns.speak(text_at(record, "error", "message"), error=True)
    elif kind not in _QUIET and kind is not None:
        turns.health.unknown_kind(f"codex {kind}")


def _item(item: dict[str, Any], moment: Any, turns: Turns, times: dict[str, Any]) -> None:
    kind, call_id = item.get("type"), text_at(item, "call_id")
    if isinstance(kind, str) and kind.endswith("_call_output"):
        text, error, seconds = _output(item.get("output"))
        lasting = seconds if seconds is not None else lasted(times.pop(call_id or "", None), moment)
        turns.result(call_id, text, error=error, seconds=lasting)
    elif kind in ("compaction", "compaction_summary", "context_compaction"):
        turns.compaction()
    elif kind == "message" and item.get("role") == "user" and (text_of(item.get("content")) or "").startswith(_SETTING):
        return
    elif str(kind) in ITEMS or kind == "message":
        times[call_id or ""] = moment
        read_messages([item], turns)
    elif kind not in _QUIET:
        turns.health.unknown_kind(f"codex item {kind}")


def _output(raw: Any) -> tuple[str | None, bool | None, float | None]:
    """Return text, error, seconds of an output: text, JSON in text, parts, or an object."""
    found = raw
    if isinstance(raw, str) and raw.startswith('{"output"'):
        try:
            found = msgspec.json.decode(raw)
        except (msgspec.MsgspecError, RecursionError):
            found = raw
    if isinstance(found, dict):
        code, seconds = at(found, "metadata", "exit_code"), number_at(found, "metadata", "duration_seconds")
        failed = code != 0 if isinstance(code, int) else found.get("success") is False or None
        body = next((found[key] for key in ("output", "content", "content_items") if found.get(key) is not None), found)
        return text_of(body), failed, seconds
    text = text_of(found)
    code_found = _CODE.search(text[:400]) if text else None
    return text, int(code_found[1]) != 0 if code_found else None, None


def _streamed(item: Any, turns: Turns) -> None:
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == "command_execution":
        code = item.get("exit_code")
        turns.call(Call(None, "shell", item.get("command")))
        turns.result(None, text_of(item.get("aggregated_output")), error=code != 0 if isinstance(code, int) else None)
    elif kind == "mcp_tool_call":
        turns.call(Call(None, f"{item.get('server')}.{item.get('tool')}", item.get("arguments")))
        turns.result(None, text_of(item.get("result")), error=True if item.get("error") else None)
    elif kind in ("file_change", "web_search", "todo_list"):
        turns.call(Call(None, kind, {key: value for key, value in item.items() if key not in ("id", "type", "status")}))
        turns.result(None, "", error=True if item.get("status") == "failed" else None)
    elif kind == "agent_message":
        turns.speak(text_at(item, "text") or "")
    elif kind == "reasoning":
        turns.speak(None, text_at(item, "text"))
    else:
        turns.health.unknown_kind(f"codex stream item {kind}")


CODEX = Importer(
    "codex",
    "Codex CLI rollouts (one JSON object with items, bare lines, lines with payload) or codex exec --json",
    _sniff,
    _read,
    {
        "state": "assistant messages",
        "thought": "reasoning summaries; encrypted reasoning is left out",
        "tool, args": "function_call, custom_tool_call, local_shell_call; one step a call",
        "output": "the output item with the same call_id",
        "error": "exit code other than 0, success false",
        "event": "user messages; compacted",
        "seconds": "duration_seconds, else the time between call and output",
    },
    _link,
)
