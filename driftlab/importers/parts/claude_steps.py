"""Steps of a Claude Code session whose records are in order."""

from typing import Any

from driftlab.importers.parts.base import at, dicts, lasted, text_at, whole_at
from driftlab.importers.parts.health import HealthReport
from driftlab.importers.parts.turns import Call, Turns
from driftlab.importers.parts.values import args_of, text_of
from driftlab.trace.schema import Step

__all__ = ["is_clear", "steps_of"]

# Records about the program, not about the run.
_QUIET = (
    "summary", "file-history-snapshot", "queue-operation", "progress", "last-prompt", "custom-title", "ai-title",
    "agent-name", "permission-mode", "attachment", "pr-link", "tag", "mode", "result", "rate_limit_event",
    "agent-color", "worktree-state", "stream_event",
)  # fmt: skip
_COMMANDS = ("<command-name>", "<command-message>", "<local-command", "<bash-", "Caveat: The messages below")


def is_clear(record: dict[str, Any]) -> bool:
    """Whether a record is the command that empties the context.

    Examples
    --------
    >>> is_clear({"type": "user", "message": {"content": "<command-name>/clear</command-name>"}})
    True
    """
    text = at(record, "message", "content")
    return record.get("type") == "user" and isinstance(text, str) and "<command-name>/clear</command-name>" in text


def steps_of(records: list[dict[str, Any]], health: HealthReport) -> tuple[tuple[Step, ...], str | None]:
    """Return the steps of one run, and the model that took them.

    Examples
    --------
    >>> call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a"}}
    >>> steps, _ = steps_of([{"type": "assistant", "message": {"content": [call]}}], HealthReport())
    >>> steps[0].tool, steps[0].node
    ('Read', 'main')
    """
    session = _Session(health)
    known = {record["uuid"] for record in records if isinstance(record.get("uuid"), str)}
    for record in records:
        parent = record.get("parentUuid")
        if isinstance(parent, str) and known and parent not in known and record.get("type") in ("user", "assistant"):
            session.lost.add(parent)
        session.take(record)
    # The first record of a fork or of a part after /clear points out of it by right.
    first = next((r.get("parentUuid") for r in records if isinstance(r.get("uuid"), str)), None)
    health.count("dangling_parents", sum(parent != first for parent in session.lost))
    return session.turns.steps(), session.model


class _Session:
    """Reads records one by one."""

    def __init__(self, health: HealthReport) -> None:
        self.turns = Turns(health)
        self.model: str | None = None
        self.lost: set[str] = set()
        self._times: dict[str, Any] = {}
        self._counted: set[str] = set()

    def take(self, record: dict[str, Any]) -> None:
        kind = record.get("type")
        if kind == "assistant":
            self._assistant(record)
        elif kind == "user":
            self._user(record)
        elif kind == "system":
            self._system(record)
        elif kind not in _QUIET:
            self.turns.health.unknown_kind(f"claude-code {kind}")

    def _system(self, record: dict[str, Any]) -> None:
        if record.get("subtype") in ("compact_boundary", "microcompact_boundary"):
            self.turns.compaction()

    def _user(self, record: dict[str, Any]) -> None:
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        results = [part for part in dicts(content) if part.get("type") == "tool_result"]
        for part in results:
            self._result(part, record)
        if results or record.get("isMeta") is True or record.get("isSidechain") is True:
            return
        if record.get("isCompactSummary") is True:
            self.turns.compaction()
        elif not (text_of(content) or "").lstrip().startswith(_COMMANDS):
            self.turns.user()

    def _result(self, part: dict[str, Any], record: dict[str, Any]) -> None:
        name = text_at(part, "tool_use_id")
        error = part.get("is_error") if isinstance(part.get("is_error"), bool) else None
        seconds = lasted(self._times.get(name or ""), record.get("timestamp"))
        self.turns.result(name, text_of(part.get("content")), error=error, seconds=seconds)

    def _assistant(self, record: dict[str, Any]) -> None:
        held = record.get("message")
        message: dict[str, Any] = held if isinstance(held, dict) else {}
        parts = dicts(message.get("content"))
        if isinstance(message.get("content"), str):
            parts = [{"type": "text", "text": message["content"]}]
        model = text_at(message, "model")
        if model and model != "<synthetic>" and record.get("isSidechain") is not True:
            self.model = self.model or model
        key = text_at(message, "id") or text_at(record, "uuid")
        for part in parts:
            self._part(part, record, key, _node(record))
        if not parts:
            self.turns.health.unknown_kind("claude-code assistant message without content")

    def _part(self, part: dict[str, Any], record: dict[str, Any], key: str | None, node: str) -> None:
        kind = part.get("type")
        more: dict[str, Any] = {"node": node, "tokens": self._tokens(record, key)}
        if kind == "text":
            error = True if record.get("isApiErrorMessage") is True else None
            self.turns.speak(text_at(part, "text") or "", key=key, error=error, **more)
        elif kind == "thinking":
            self.turns.speak(None, text_at(part, "thinking"), key=key, **more)
        elif kind in ("tool_use", "server_tool_use"):
            call = Call(text_at(part, "id"), text_at(part, "name"), args_of(part.get("input")))
            self._times[call.id or ""] = record.get("timestamp")
            self.turns.call(call, **more)
        elif kind in ("web_search_tool_result", "tool_result"):
            self._result(part, record)
        elif kind != "redacted_thinking":
            self.turns.health.unknown_kind(f"claude-code content {kind}")

    def _tokens(self, record: dict[str, Any], key: str | None) -> int | None:
        # Each part of a message is a line of its own and repeats the usage of the whole.
        if key is None or key in self._counted:
            return None
        self._counted.add(key)
        return whole_at(record, "message", "usage", "output_tokens")


def _node(record: dict[str, Any]) -> str:
    if record.get("isSidechain") is not True:
        return "main"
    agent = record.get("agentId")
    return f"sidechain:{agent}" if isinstance(agent, str) and agent != "sidechain" else "sidechain"
