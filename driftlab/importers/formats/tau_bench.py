"""Results of tau-bench."""

from typing import Any

from driftlab.importers.parts.base import Importer, at, per_record, stem, text_at
from driftlab.importers.parts.chat import is_conversation, read_messages
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.turns import Turns
from driftlab.trace.schema import Trace

__all__ = ["TAU"]


def _is_run(value: Any) -> bool:
    return isinstance(value, dict) and "reward" in value and "task_id" in value and is_conversation(value.get("traj"))


def _trace(source: Source, value: dict[str, Any], _: str) -> Trace:
    turns = Turns(source.health)
    read_messages(value["traj"], turns)
    reward = value["reward"]
    known = isinstance(reward, int | float) and not isinstance(reward, bool)
    info = {
        "problem": str(value["task_id"]),
        "outcome": reward >= 1 if known else None,
        "agent": text_at(value, "model"),
    }
    name = f"{stem(source)}:{value['task_id']}:{value.get('trial', 0)}"
    return TAU.trace(
        name, turns.steps(), info, reward=reward, instruction=text_at(at(value, "info"), "task", "instruction")
    )


TAU = Importer(
    "tau-bench",
    "tau-bench results: OpenAI messages with a final reward",
    *per_record(_is_run, _trace, "run of tau-bench"),
    {
        "state": "assistant content",
        "tool, args": "tool_calls; one step a call",
        "output": "the tool message with the same id",
        "event": "messages of the simulated user",
        "outcome": "reward >= 1",
        "problem": "task_id",
    },
)
