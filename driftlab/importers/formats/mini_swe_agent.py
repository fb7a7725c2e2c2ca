"""mini-SWE-agent trajectories, 1 and 1.1."""

import re
from typing import Any

from driftlab.importers.parts.base import Importer, at, dicts, per_record, text_at
from driftlab.importers.parts.chat import read_messages
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.turns import Call, Turns
from driftlab.importers.parts.values import text_of
from driftlab.trace.schema import Trace

__all__ = ["MINI"]

_BLOCK = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n?```", re.DOTALL)
_RETURN = re.compile(r"<returncode>\s*(-?\d+)\s*</returncode>")


def _is_run(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    tag = value.get("trajectory_format")
    return (isinstance(tag, str) and tag.startswith("mini-swe-agent")) or at(value, "info", "mini_version") is not None


def _trace(source: Source, value: dict[str, Any], name: str) -> Trace:
    turns = Turns(source.health)
    for message in dicts(value["messages"]):
        _take(message, turns)
    model = text_at(value, "info", "config", "model", "model_name") or text_at(value, "info", "config", "model", "name")
    version = text_at(value, "info", "mini_version") or ""
    info = {
        "agent": model,
        "setup": f"{model or '?'} mini-swe-agent/{version}",
        "problem": text_at(value, "instance_id"),
    }
    status, tag = text_at(value, "info", "exit_status"), value.get("trajectory_format")
    return MINI.trace(
        text_at(value, "instance_id") or name, turns.steps(), info, exit_status=status, trajectory_format=tag
    )


def _take(message: dict[str, Any], turns: Turns) -> None:
    role, text = message.get("role"), text_of(message.get("content")) or ""
    if role == "assistant" and not dicts(message.get("tool_calls")):
        commands = [text_at(a, "command") for a in dicts(at(message, "extra", "actions"))] or _BLOCK.findall(text)
        turns.flush()
        turns.speak(_BLOCK.sub("", text).strip(), text_at(message, "reasoning_content"))
        for command in commands:
            turns.call(Call(None, "bash", {"command": command}))
        turns.flush()
    elif role == "user" and turns.waiting:  # the answer to a command in text is a user message
        turns.result(None, _output(message, text), error=_failed(message, text))
    elif role == "tool":
        turns.result(text_at(message, "tool_call_id"), _output(message, text), error=_failed(message, text))
    else:
        read_messages([message], turns)


def _output(message: dict[str, Any], text: str) -> str:
    raw = at(message, "extra", "raw_output")
    return raw if isinstance(raw, str) else text


def _failed(message: dict[str, Any], text: str) -> bool | None:
    code = at(message, "extra", "returncode")
    found = _RETURN.search(text)
    if isinstance(code, int):
        return code != 0
    return None if found is None else int(found[1]) != 0


MINI = Importer(
    "mini-swe-agent",
    "mini-SWE-agent .traj.json: bash blocks in text, or tool calls",
    *per_record(_is_run, _trace, "run of mini-SWE-agent"),
    {
        "state": "assistant text without the command",
        "tool, args": "bash with the command block, extra.actions or tool_calls",
        "output": "extra.raw_output, else the message that answers",
        "error": "return code other than 0",
        "event": "user messages that answer no command",
    },
)
