"""One loop in progress: every action is executed at once and written down as a step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from .dice import Dice
from .talk import say

Json = dict[str, Any]

# Clocks differ from machine to machine, so a step carries a nominal duration of its tool instead.
SECONDS = {"run_tests": 2.0, "poll_job": 5.0, "start_job": 0.5, "check": 1.0, "import_status": 5.0, "submit": 2.0}


# Moves after which the recorder measures for itself, unseen by the agent.
CHANGES = {"edit", "undo", "poll", "verify"}


class Enough(Exception):
    """The loop has reached the step at which its policy must hand over."""


@dataclass(frozen=True)
class Call:
    """A tool and its arguments."""

    tool: str
    args: Json


@dataclass(frozen=True)
class Result:
    """What the environment answered."""

    output: str
    signals: dict[str, float] | None = None
    error: bool = False


@dataclass(frozen=True)
class Temper:
    """How agents behave in this kind of work."""

    eager: float  # how often an attempt is verified at once
    lost: float  # the same for a stalled agent
    detours: dict[str, float]  # which detours there are, and how often


class World(Protocol):
    """An environment with the moves a policy can choose from; facets are the parts of a problem still wrong."""

    facets: list[str]
    signal: str
    goal: float
    temper: Temper

    def execute(self, call: Call) -> Result: ...
    def state(self) -> str: ...
    def measure(self) -> float: ...
    def waiting(self) -> bool: ...
    def blocked(self, facet: str) -> bool: ...
    def idle(self) -> bool: ...
    def orient(self, dice: Dice) -> list[Call]: ...
    def read(self, facet: str) -> Call: ...
    def wander(self, dice: Dice) -> Call: ...
    def hunt(self, facet: str, dice: Dice) -> Call: ...
    def edit(self, facet: str, text: str) -> Call: ...
    def right(self, facet: str) -> str: ...
    def wrongs(self, facet: str) -> list[str]: ...
    def current(self, facet: str) -> str: ...
    def spoil(self, facet: str) -> str: ...
    def note(self, text: str) -> Call: ...
    def reword(self, text: str, dice: Dice) -> str: ...
    def verify(self) -> Call: ...
    def start_job(self) -> Call: ...
    def poll(self) -> Call: ...
    def batch(self, dice: Dice) -> list[Call]: ...
    def submit(self) -> Call: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Setup:
    """What shapes a run: the order of work and how much the agent talks."""

    scaffold: str
    style: str

    @property
    def name(self) -> str:
        return f"{self.scaffold}/{self.style}"


@dataclass
class Run:
    """The steps so far, the limit at which the policy stops and what the policy remembers."""

    world: World
    setup: Setup
    dice: Dice
    limit: int
    steps: list[Json] = field(default_factory=list)
    best: float = -1.0
    flat: int = 0  # measurements since the last new best
    found: int = 0  # the step of the last new best
    peak: float = 0.0  # best the environment has seen, measured or not

    def do(self, move: str, call: Call, about: str) -> Result:
        """Execute the call and record the step; raises Enough when the limit is reached."""
        if len(self.steps) >= self.limit:
            raise Enough
        thought = say(move, about, self.setup.style, self.dice)
        result = self.world.execute(call)
        self._remember(result)
        if move in CHANGES:
            self.peak = max(self.peak, self.world.measure())
        self.steps.append(self._step(move, thought, call, result))
        return result

    def _remember(self, result: Result) -> None:
        if not result.signals:
            return
        value = result.signals[self.world.signal]
        self.flat += 1
        if value > self.best:
            self.best, self.flat, self.found = value, 0, len(self.steps)

    def _step(self, move: str, thought: str, call: Call, result: Result) -> Json:
        words = f"{thought} {' '.join(str(value) for value in call.args.values())} {result.output}"
        step: Json = {"state": self.world.state(), "thought": thought, "tool": call.tool, "args": call.args}
        step |= {"output": result.output}
        if result.signals:
            step["signals"] = result.signals
        if self.setup.scaffold == "pair":
            step["node"] = NODES.get(move, "scout")
        step |= {"tokens": len(words.split()), "seconds": SECONDS.get(call.tool, 0.1)}
        if result.error:
            step["error"] = True
        return step


NODES = {"edit": "worker", "note": "worker", "verify": "checker", "poll": "checker", "submit": "checker"}
