"""Logs of InterCode."""

from collections.abc import Iterator, Sequence
from typing import Any

from driftlab.importers.parts.base import Importer, at, dicts, number_at, stem, text_at
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.values import text_of
from driftlab.trace.schema import SignalSpec, Step, Trace

__all__ = ["INTERCODE"]


def _sniff(source: Source) -> bool:
    return any(_runs(value) for value in source.peek)


def _runs(value: Any) -> list[dict[str, Any]]:
    """Return the runs of a file: one object, or an object of them by number."""
    if not isinstance(value, dict):
        return []
    found = [value] if "turn_history" in value else dicts(list(value.values()))
    return [run for run in found if isinstance(at(run, "turn_history", "actions"), list)]


def _read(sources: Sequence[Source]) -> Iterator[Trace]:
    for source in sources:
        for line, value in source.values():
            found = _runs(value)
            if not found:
                source.problem("holds no run of InterCode", line)
            for place, run in enumerate(found):
                yield _trace(source, run, place)


def _trace(source: Source, run: dict[str, Any], place: int) -> Trace:
    tool = (text_at(run, "environment") or "action").removeprefix("ic_")
    steps = [_step(tool, run["turn_history"], t) for t in range(len(run["turn_history"]["actions"]))]
    best = number_at(run, "summary", "max_reward")
    problem = run.get("task_id")
    info = {
        "task": tool,
        "problem": None if problem is None else f"{text_at(run, 'dataset') or ''}#{problem}",
        "outcome": None if best is None else best >= 1,
        "signal_specs": {"reward": SignalSpec("higher", goal=1)},
    }
    return INTERCODE.trace(
        f"{stem(source)}:{place if problem is None else problem}", steps, info, query=run.get("query")
    )


def _step(tool: str, turns: dict[str, Any], t: int) -> Step:
    action, valid = turns["actions"][t], _nth(turns, "valid_action", t)
    reward = number_at({"reward": _nth(turns, "rewards", t)}, "reward")
    submits = action in ("submit", "skip")
    return Step(
        tool=action if submits else tool,
        args=None if submits else action,
        output=text_of(_nth(turns, "observations", t)),
        signals=None if reward is None else {"reward": reward},
        error=not valid if isinstance(valid, bool) else None,
    )


def _nth(turns: dict[str, Any], name: str, t: int) -> Any:
    values = turns.get(name)
    return values[t] if isinstance(values, list) and t < len(values) else None


INTERCODE = Importer(
    "intercode",
    "InterCode turn_history with rewards",
    _sniff,
    _read,
    {
        "tool, args": "environment without ic_; the action",
        "output": "observations",
        "signals.reward": "rewards, higher is better, 1 is done",
        "error": "valid_action is false",
        "outcome": "summary.max_reward >= 1",
        "problem": "dataset and task_id",
    },
)
