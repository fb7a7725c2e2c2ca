"""The healthy policy: it wanders, waits and errs, and yet repairs one part after another."""

from __future__ import annotations

from .run import Enough, Run
from .talk import plan

# A healthy run never measures more often than this without a new best; then it takes the right turn.
PATIENCE = 5


def work(run: Run) -> None:
    """Solve every facet with detours between them, then submit; ends early when the limit is reached."""
    try:
        for call in run.world.orient(run.dice):
            run.do("verify" if call == run.world.verify() else "read", call, "the task")
        for facet in run.dice.sample(run.world.facets, len(run.world.facets)):
            detours(run, facet)
            solve(run, facet)
        finish(run)
    except Enough:
        return


def detours(run: Run, facet: str) -> None:
    """Things that look like a stall and are none: mostly not at all, now and then several in a row."""
    left = dict(run.world.temper.detours)
    for _ in range(run.dice.weighted(SERIES)):
        name = run.dice.weighted(left)
        DETOURS[name](run, facet)
        del left[name]
        run.do("read", run.world.wander(run.dice), facet)


def solve(run: Run, facet: str) -> None:
    """Edit and verify until the facet is right, with a few wrong attempts before."""
    world, dice = run.world, run.dice
    if world.blocked(facet):
        wait(run, facet)
    if run.setup.scaffold == "reader" or dice.chance(0.3):
        run.do("read", world.read(facet), facet)
    for wrong in dice.sample(world.wrongs(facet), dice.weighted(TRIES)):
        if run.flat >= PATIENCE:
            break
        attempt(run, facet, wrong)
        if run.setup.scaffold == "reader" and dice.chance(0.4):
            run.do("read", world.read(facet), facet)
    run.do("edit", world.edit(facet, world.right(facet)), facet)
    run.do("verify", world.verify(), facet)


def attempt(run: Run, facet: str, text: str) -> None:
    """Edit and perhaps verify at once."""
    run.do("edit", run.world.edit(facet, text), facet)
    if run.flat < PATIENCE and run.dice.chance(run.world.temper.eager):
        run.do("verify", run.world.verify(), facet)


def finish(run: Run) -> None:
    """Wait for what still runs and hand in."""
    if run.world.waiting() or run.world.blocked(""):
        wait(run, "")
    run.do("submit", run.world.submit(), "all")


def wait(run: Run, facet: str) -> None:
    """Start a background job and poll it until it is finished."""
    if run.world.idle() or run.flat >= PATIENCE:
        return batch(run, facet)
    if not run.world.waiting():
        run.do("job", run.world.start_job(), "the job")
    while run.world.waiting():
        run.do("poll", run.world.poll(), "the job")


def batch(run: Run, facet: str) -> None:
    """The same call for one thing after another."""
    for call in run.world.batch(run.dice):
        run.do("batch", call, str(next(reversed(call.args.values()))))


def explore(run: Run, facet: str) -> None:
    """A long look around that changes nothing."""
    for _ in range(run.dice.between(4, 9)):
        run.do("read", run.world.wander(run.dice), "the surroundings")


def search(run: Run, facet: str) -> None:
    """Searches that find nothing, until the agent lets go."""
    for _ in range(run.dice.between(2, 5)):
        run.do("search", run.world.hunt(facet, run.dice), facet)
    run.do("read", run.world.read(facet), facet)


def repeat(run: Run, facet: str) -> None:
    """A wrong edit again, or two in turn, which the agent gives up soon enough."""
    before = run.world.current(facet)
    texts = run.dice.sample(run.world.wrongs(facet), run.dice.between(1, 2))
    for turn in range(run.dice.between(2, 5)):
        if run.flat >= PATIENCE:
            break
        attempt(run, facet, texts[turn % len(texts)])
    if before == run.world.right(facet):
        run.do("undo", run.world.edit(facet, before), facet)


def ponder(run: Run, facet: str) -> None:
    """Plans in slightly different words before the next act."""
    for _ in range(run.dice.between(2, 5)):
        run.do("note", run.world.note(plan(facet, run.dice)), facet)


def regress(run: Run, facet: str) -> None:
    """Break a part that was right, notice and undo."""
    right = [part for part in run.world.facets if run.world.current(part) == run.world.right(part)]
    if not right:
        return explore(run, facet)
    facet = run.dice.pick(right)
    before = run.world.current(facet)
    attempt(run, facet, run.world.spoil(facet))
    run.do("undo", run.world.edit(facet, before), facet)


TRIES = {0: 4.0, 1: 3.0, 2: 2.0, 3: 1.5}
SERIES = {0: 8.0, 1: 1.5, 2: 0.7, 3: 0.8}
DETOURS = {detour.__name__: detour for detour in (wait, batch, explore, search, repeat, ponder, regress)}
