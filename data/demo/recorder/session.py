"""Records one loop: healthy work, from the onset on a stalling policy, then the verdict of the environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .agent import work
from .code_world import CodeWorld
from .dice import Dice
from .run import Run, Setup, World
from .sql_world import SqlWorld
from .stalls import stall

WORLDS: dict[str, type[CodeWorld] | type[SqlWorld]] = {"code": CodeWorld, "sql": SqlWorld}
ATTEMPTS = 400
QUIET = 6  # last steps without a gain that leave a run without a clear label
LONGEST = 60
FIRST_ONSET, LAST_ONSET = 5, 18
CLAIMS_DONE = 0.3  # of the stalled runs hand in what they have
SHORTEST_STALL, LONGEST_STALL = 11, 24


@dataclass(frozen=True)
class Plan:
    """What is to be recorded."""

    seed: int
    task: str
    problem: int
    number: int  # of the loop within its problem
    setup: Setup
    label: str  # good, stalled, unsure or "" for none
    kind: str = ""

    @property
    def id(self) -> str:
        return f"{self.task}-{self.problem:02d}-{self.number}"


def record(plan: Plan) -> dict[str, Any]:
    """Try with fresh dice until the environment confirms what the plan wants."""
    for attempt in range(ATTEMPTS):
        dice = Dice(plan.seed, plan.id, attempt)
        world = WORLDS[plan.task](plan.seed, plan.problem)
        try:
            trace = RECORDERS[plan.label](plan, world, dice)
        finally:
            world.close()
        if trace:
            return trace
    raise RuntimeError(f"{plan.id}: no {plan.label or 'unlabelled'} loop in {ATTEMPTS} attempts")


def _good(plan: Plan, world: World, dice: Dice) -> dict[str, Any] | None:
    """A run to the end whose result the environment accepts."""
    run = Run(world, plan.setup, dice, LONGEST)
    work(run)
    if run.steps[-1]["tool"] != "submit" or world.measure() != world.goal:
        return None
    return _trace(plan, run)


def _stalled(plan: Plan, world: World, dice: Dice) -> dict[str, Any] | None:
    """Healthy work up to a random onset, then a stalling policy that must not gain anything."""
    onset = dice.between(FIRST_ONSET, LAST_ONSET)
    run = Run(world, plan.setup, dice, onset)
    work(run)
    peak = run.peak
    left = [facet for facet in world.facets if world.current(facet) != world.right(facet)]
    if len(run.steps) < onset or not left or run.best < 0:
        return None
    run.limit = onset + dice.between(SHORTEST_STALL, LONGEST_STALL)
    stall(run, plan.kind, dice.pick(left))
    if dice.chance(CLAIMS_DONE):
        run.limit += 1
        run.do("submit", world.submit(), "all")
    if run.peak > peak or _gained(run, onset) or world.measure() == world.goal:
        return None
    return _trace(plan, run, onset)


def _gained(run: Run, onset: int) -> bool:
    """Was there a new best at or after the onset?"""
    values: list[float] = [step.get("signals", {}).get(run.world.signal, -1.0) for step in run.steps]
    return max(values[onset:]) > max(values[:onset])


def _unfinished(plan: Plan, world: World, dice: Dice) -> dict[str, Any] | None:
    """Out of budget while still at work; nobody can say whether it would have arrived."""
    run = Run(world, plan.setup, dice, dice.between(14, 26))
    work(run)
    if len(run.steps) < run.limit or world.measure() == world.goal:
        return None
    # Unsure is a run whose last stretch brought nothing, without a label one that was still gaining.
    quiet = run.limit - run.found > QUIET
    return _trace(plan, run) if quiet == (plan.label == "unsure") else None


RECORDERS = {"good": _good, "stalled": _stalled, "unsure": _unfinished, "": _unfinished}


def _trace(plan: Plan, run: Run, onset: int | None = None) -> dict[str, Any]:
    world = run.world
    trace: dict[str, Any] = {
        "id": plan.id,
        "task": plan.task,
        "problem": f"{plan.task}-{plan.problem:02d}",
        "agent": "scripted-1",
        "setup": plan.setup.name,
        "source": "driftlab-demo",
    }
    if plan.label:
        trace |= {"label": plan.label, "label_source": "recorded"}
    trace["outcome"] = world.measure() == world.goal
    if onset is not None:
        trace["stalls"] = [{"start": onset, "end": None, "kind": plan.kind}]
    trace["signal_specs"] = {world.signal: {"direction": "higher", "goal": world.goal}}
    return trace | {"steps": run.steps}
