"""SWE-agent .traj files."""

from collections.abc import Iterator
from typing import Any

from driftlab.importers.parts.base import Importer, dicts, number_at, per_record, text_at
from driftlab.importers.parts.chat import call_of, read_messages
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.text_actions import command_of
from driftlab.importers.parts.turns import Call, Turns
from driftlab.importers.parts.values import args_of, dumped, text_of
from driftlab.trace.schema import Trace

__all__ = ["SWE_AGENT"]


def _turns_of(value: Any) -> list[dict[str, Any]] | None:
    found = dicts(value.get("trajectory")) if isinstance(value, dict) else []
    return found if found and all("action" in turn and "observation" in turn for turn in found[:8]) else None


def _is_trajectory(value: Any) -> bool:
    return _turns_of(value) is not None or _is_history(value)


def _is_history(value: Any) -> bool:
    found = dicts(value.get("history")) if isinstance(value, dict) else []
    return any("message_type" in turn or "thought" in turn for turn in found) and all(
        "role" in turn for turn in found[:8]
    )


def _trace(source: Source, value: dict[str, Any], name: str) -> Trace:
    turns = Turns(source.health)
    found = _turns_of(value)
    if found is None:
        for message in dicts(value["history"]):
            _take_message(message, turns)
    else:
        called = _called(value)
        for turn in found:
            _take(turn, turns, called)
    problem = text_at(value, "replay_config", "problem_statement", "id") or text_at(value, "instance_id")
    model = text_at(value, "replay_config", "agent", "model", "name")
    info = {"agent": model, "setup": f"{model or '?'} swe-agent", "problem": problem}
    exit_status = text_at(value, "info", "exit_status")
    return SWE_AGENT.trace(name, turns.steps(), info, exit_status=exit_status, environment=value.get("environment"))


def _called(value: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the action of each turn of the history with the tool calls behind it."""
    for message in dicts(value.get("history")):
        if message.get("role") == "assistant" and isinstance(message.get("action"), str) and not message.get("is_demo"):
            yield message["action"].strip(), dicts(message.get("tool_calls"))


def _take(turn: dict[str, Any], turns: Turns, called: Iterator[tuple[str, list[dict[str, Any]]]]) -> None:
    action = turn["action"].strip() if isinstance(turn["action"], str) else dumped(turn["action"])
    same, calls = next(called, ("", []))
    thought = turn.get("thought") if isinstance(turn.get("thought"), str) else turn.get("response")
    state = args_of(turn.get("state"))
    turns.speak(
        None if not state else state if isinstance(state, str) else dumped(state), _text(thought), extra=_rest(turn)
    )
    if action or turn.get("observation"):
        turns.call(_call(calls[0] if calls and same == action else None, action))
        turns.result(None, _text(turn.get("observation")), seconds=number_at(turn, "execution_time"))
    turns.flush()
    turns.drop_waiting()


def _call(raw: dict[str, Any] | None, action: str) -> Call:
    """Return the tool call when it is known; else the first word of the command line is the tool."""
    if raw is not None and text_at(raw, "function", "name"):
        return Call(None, raw["function"]["name"], args_of(raw["function"].get("arguments")))
    return command_of(action)


def _take_message(message: dict[str, Any], turns: Turns) -> None:
    """Take a message of a history that no list of turns goes with."""
    role, ids = message.get("role"), message.get("tool_call_ids")
    if role == "assistant" and isinstance(message.get("action"), str):
        calls = [call for call in map(call_of, dicts(message.get("tool_calls"))) if call]
        turns.flush()
        turns.speak(None, _text(message.get("thought") or message.get("content")))
        for call in calls or [_call(None, message["action"].strip())]:
            turns.call(call)
        turns.flush()
    elif role == "tool" or (message.get("message_type") == "observation" and turns.waiting):
        turns.result(ids[0] if isinstance(ids, list) and ids else None, text_of(message.get("content")))
    else:
        read_messages([message], turns)


def _rest(turn: dict[str, Any]) -> dict[str, Any] | None:
    known = ("action", "observation", "thought", "response", "state", "execution_time", "query", "messages")
    return {key: value for key, value in turn.items() if key not in known} or None


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else dumped(value)


SWE_AGENT = Importer(
    "swe-agent",
    "SWE-agent .traj: thought and action as text, or function calling",
    *per_record(_is_trajectory, _trace, "trajectory of SWE-agent"),
    {
        "state": "state of the turn (open file, working directory, diff) as JSON",
        "thought": "thought, else response",
        "tool, args": "tool_calls of the history when they match the action; else first word, rest of the action",
        "output": "observation",
        "seconds": "execution_time",
    },
)
