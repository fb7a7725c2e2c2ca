"""Small labelled corpora for the tests of figures and reports."""

from typing import Literal

import numpy as np

from driftlab.trace.schema import Span, Step, Trace

WORDS = [f"word{n}" for n in range(60)]


def loops(task: str = "code", *, problems: int = 30, seed: int = 0, length: int = 14, onset: int = 5) -> list[Trace]:
    """One good and one stalled run a problem, two setups; a stall says the same again most of the time."""
    draw = np.random.default_rng(seed)
    kinds: tuple[Literal["good", "stalled"], ...] = ("good", "stalled")
    return [
        Trace(
            id=f"{task}-{n}-{kind}",
            task=task,
            problem=str(n),
            setup=f"setup-{n % 2}",
            label=kind,
            label_source="human",
            stalls=[Span(onset)] if kind == "stalled" else [],
            steps=_steps(draw, length, onset if kind == "stalled" else length),
        )
        for n in range(problems)
        for kind in kinds
    ]


def _steps(draw: np.random.Generator, length: int, onset: int) -> list[Step]:
    steps: list[Step] = []
    for t in range(length):
        again = t and draw.random() < (0.8 if t > onset else 0.15)
        state = steps[-1].state if again else " ".join(draw.choice(WORDS, 6))
        number = int(draw.integers(9))
        steps.append(Step.of(tool="edit", args={"t": number}, output="<b>done</b>", state=state, passed=t // 3))
    return steps
