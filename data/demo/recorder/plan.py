"""Which loops are recorded: every setup gets every label and every kind of stall equally often."""

from __future__ import annotations

from .run import Setup
from .session import Plan
from .stalls import KINDS

PROBLEMS = 64
SEED = 20240
TASKS = ("code", "sql")
SETUPS = tuple(Setup(scaffold, style) for scaffold in ("reader", "pair") for style in ("brief", "wordy"))
THIRDS = range(4, PROBLEMS, 9)  # problems with a third loop, which ran out of budget


def plans(problems: int = PROBLEMS, seed: int = SEED) -> list[Plan]:
    """The loops of the first problems of each task; what is planned for one does not depend on how many there are."""
    return [plan for task in TASKS for problem in range(problems) for plan in _of_problem(seed, task, problem)]


def _of_problem(seed: int, task: str, problem: int) -> list[Plan]:
    kinds = tuple(KINDS)
    # Both loops of a problem have the same setup, so that in any split by problem the setup tells nothing.
    setup = SETUPS[problem % len(SETUPS)]
    pair = [(setup, "good", ""), (setup, "stalled", kinds[problem // len(SETUPS) % len(kinds)])]
    if problem % 2:
        pair.reverse()
    if problem in THIRDS:
        pair.append((SETUPS[THIRDS.index(problem) % len(SETUPS)], "unsure" if problem % 2 else "", ""))
    return [Plan(seed, task, problem, number, *rest) for number, rest in enumerate(pair, 1)]
