"""Made-up runs with small alphabets: long enough for every window, repetitive enough for every detector."""

import random

from driftlab.trace.schema import SignalSpec, Step, Trace

STATES = ["a", "b", "a b c", "I will write the guide now and then the table of values", ""]
OUTPUTS = ["", "ok", "x\ny", "error: disk full", "HTTP 503\nerror: 503 unavailable", "error: no", None]
TOOLS = ["read", "edit", "wait", None]
NODES = ["plan", "code", "test", None]


def step(draw: random.Random) -> Step:
    tool = draw.choice(TOOLS)
    return Step(
        state=draw.choice([*STATES, None]),
        tool=tool,
        args=draw.choice([{"p": 1}, {"p": 2}, None]) if tool else None,
        output=draw.choice(OUTPUTS) if tool else None,
        node=draw.choice(NODES),
        event=draw.choice([None] * 12 + ["user", "compaction"]),
        signals=draw.choice([None, {"passed": draw.randint(0, 4)}, {"passed": None, "left": draw.randint(0, 3)}]),
    )


def run(seed: int, length: int) -> Trace:
    """Return a run in which steps repeat, cycle or are drawn anew, in phases."""
    draw = random.Random(seed)
    steps: list[Step] = []
    while len(steps) < length:
        phase = draw.choice(["fresh", "repeat", "cycle"])
        size = {"fresh": 1, "repeat": 1, "cycle": draw.randint(2, 8)}[phase]
        block = [step(draw) for _ in range(size)]
        steps += block * (1 if phase == "fresh" else draw.randint(2, 6))
    specs = {"passed": SignalSpec("higher", 4), "left": SignalSpec("lower", 0)}
    return Trace(id=f"run-{seed}", steps=steps[:length], signal_specs=specs)


def renamed(trace: Trace) -> Trace:
    """Return the run with every state, tool, node spelled in another alphabet, equal ones alike."""
    table = str.maketrans("abcdefghijklmnopqrstuvwxyz", "bcdefghijklmnopqrstuvwxyza")

    def other(text: str | None) -> str | None:
        return None if text is None else text.translate(table)

    steps = [
        Step(
            state=other(s.state), tool=other(s.tool), args=s.args, output=s.output, node=other(s.node), event=s.event,
            signals=s.signals,
        )
        for s in trace.steps
    ]  # fmt: skip
    return trace.replace(steps=tuple(steps))


def trace_of(steps, **keys):
    """Return a trace of these steps."""
    return Trace(id="a", steps=list(steps), **keys)
