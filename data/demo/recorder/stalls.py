"""The stalling policies: busy, without ever getting anywhere."""

from __future__ import annotations

from dataclasses import dataclass

from .run import Enough, Run
from .talk import plan


@dataclass(frozen=True)
class Habit:
    """How a stalled agent behaves besides its one idea: how often it measures, how often it does something else."""

    measures: float
    strays: float


def stall(run: Run, kind: str, facet: str) -> None:
    """Follow the stalling policy of that kind until the limit is reached."""
    strays = run.dice.pick((0.0, 0.0, 0.0, 0.1, 0.3))
    measures = run.dice.pick(MEASURES[kind]) * run.world.temper.lost
    try:
        KINDS[kind](run, facet, Habit(measures, strays))
    except Enough:
        return


def stray(run: Run, facet: str, habit: Habit) -> None:
    """What comes between two turns of the same thing: a look elsewhere, a measurement."""
    while run.dice.chance(habit.strays):
        run.do("read", run.world.wander(run.dice) if run.dice.chance(0.6) else run.world.read(facet), facet)
    if run.dice.chance(habit.measures):
        run.do("verify", run.world.verify(), facet)


def one_edit_again(run: Run, facet: str, habit: Habit) -> None:
    """The same wrong edit again and again."""
    text = run.dice.pick(run.world.wrongs(facet))
    while True:
        run.do("edit", run.world.edit(facet, text), facet)
        stray(run, facet, habit)


def two_edits_in_turn(run: Run, facet: str, habit: Habit) -> None:
    """Two wrong edits, each undoing the other."""
    first, second = run.dice.sample(run.world.wrongs(facet), 2)
    while True:
        for text in (first, second):
            run.do("edit", run.world.edit(facet, text), facet)
            stray(run, facet, habit)


def varying_query(run: Run, facet: str, habit: Habit) -> None:
    """One search in ever new spellings, without learning from its results."""
    while True:
        run.do("search", run.world.hunt(facet, run.dice), facet)
        stray(run, facet, habit)


def slow_paraphrase(run: Run, facet: str, habit: Habit) -> None:
    """The same plan, or the same edit, in other words."""
    text = run.dice.pick(run.world.wrongs(facet))
    plans = run.dice.pick((0.1, 0.5, 0.9))
    while True:
        if run.dice.chance(plans):
            run.do("note", run.world.note(plan(facet, run.dice)), facet)
        else:
            run.do("edit", run.world.edit(facet, run.world.reword(text, run.dice)), facet)
        stray(run, facet, habit)


MEASURES = {
    "one_edit_again": (0.9, 1.0),
    "two_edits_in_turn": (0.9, 1.0),
    "varying_query": (0.2, 0.7),
    "slow_paraphrase": (0.5, 0.9),
}

KINDS = {
    "one_edit_again": one_edit_again,
    "two_edits_in_turn": two_edits_in_turn,
    "varying_query": varying_query,
    "slow_paraphrase": slow_paraphrase,
}
