"""The incident of the field: 41 steps that look busy and lead nowhere, really run on a small project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .code_world import CodeWorld
from .dice import Dice
from .run import Call, Run, Setup

STEPS = 41
ONSET = 8
NOTE = (
    "Steps 0-4 repair one file and measure the gain; steps 5-7 read three files for the first time. From step 8 on the "
    "reads return what is already known, ten searches for one word find nothing, and one wrong edit is proposed three "
    "times and never tested: nothing is learned and nothing gained any more, so the stall starts at step 8."
)

Turn = tuple[str, Call, str]


def incident(seed: int) -> dict[str, Any]:
    """Run the incident and return it as a labelled trace."""
    world = CodeWorld(seed, "incident")
    try:
        run = Run(world, Setup("reader", "wordy"), Dice(seed, "incident"), STEPS)
        for move, call, about in _turns(world):
            run.do(move, call, about)
        return _trace(run)
    finally:
        world.close()


def _turns(world: CodeWorld) -> Iterator[Turn]:
    done, stuck = world.facets[:2]
    files = (stuck, "tests", next(name for name in world.project.names if name not in (done, stuck)))
    yield "read", Call("list_files", {}), "the task"
    yield "verify", world.verify(), "the task"
    yield "read", world.read(done), done
    yield "edit", world.edit(done, world.right(done)), done
    yield "verify", world.verify(), done
    for turn in range(15):
        yield "read", world.read(files[turn % 3]), files[turn % 3]
    for pattern in _patterns(stuck):
        yield "search", Call("grep", {"pattern": pattern}), stuck
    wrong = world.wrongs(stuck)[0]
    for _ in range(3):
        yield "edit", world.edit(stuck, wrong), stuck
        for name in (stuck, files[2]):
            yield "read", world.read(name), name
    for name in (stuck, "tests"):
        yield "read", world.read(name), name


def _patterns(name: str) -> tuple[str, ...]:
    """One search in ten spellings."""
    return (
        f"{name}_fix",
        f"fix_{name}",
        f"{name}.*fix",
        f"# fix {name}",
        f"fix.*{name}",
        f"{name} fix",
        f"{name}_fixed",
        f"fixed_{name}",
        f"# {name} fix",
        f"{name}[_ ]fix",
    )


def _trace(run: Run) -> dict[str, Any]:
    world = run.world
    return {
        "id": "incident",
        "task": "code",
        "problem": "code-incident",
        "agent": "scripted-1",
        "setup": run.setup.name,
        "source": "driftlab-demo",
        "label": "stalled",
        "label_source": "recorded",
        "outcome": world.measure() == world.goal,
        "stalls": [{"start": ONSET, "end": None, "kind": "rereading"}],
        "signal_specs": {world.signal: {"direction": "higher", "goal": world.goal}},
        "note": NOTE,
        "steps": run.steps,
    }
