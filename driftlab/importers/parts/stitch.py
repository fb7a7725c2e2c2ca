"""Views of a run: joined over a session, apart by agent."""

from collections.abc import Iterable, Sequence
from typing import Any

from driftlab._util.errors import InputError
from driftlab.trace.schema import Span, Step, Trace

__all__ = ["by_agent", "by_session", "joined", "run_view"]

_SHARED = ("task", "problem", "agent", "setup", "source", "label_source")


def by_agent(trace: Trace) -> list[Trace]:
    """Return one trace for each node of a run, in the order of their first steps.

    Labels do not carry over: a stall of the run need not be one of each agent. The steps of a node keep
    their place in the run as ``extra["at"]``.

    Parameters
    ----------
    trace : Trace
        Steps without a node count as ``"main"``.

    Examples
    --------
    >>> run = Trace(id="r", steps=[Step(node="a", tool="x"), Step(node="b", tool="y"), Step(node="a", tool="z")])
    >>> [(part.id, [step.tool for step in part.steps]) for part in by_agent(run)]
    [('r/a', ['x', 'z']), ('r/b', ['y'])]
    """
    places: dict[str, list[int]] = {}
    for t, step in enumerate(trace.steps):
        places.setdefault(step.node or "main", []).append(t)
    shared = {name: getattr(trace, name) for name in ("task", "problem", "agent", "setup", "source", "signal_specs")}
    return [
        Trace(
            id=f"{trace.id}/{node}",
            steps=tuple(trace.steps[t] for t in at),
            extra={**(trace.extra or {}), "run": trace.id, "at": at},
            **shared,
        )
        for node, at in places.items()
    ]


def run_view(parts: Sequence[Trace], id: str | None = None) -> Trace:
    """Return the run that `by_agent` took apart, its steps in their first order.

    Parameters
    ----------
    parts : sequence of Trace
        Each with its places in ``extra["at"]``.
    id : str, optional
        By default what the parts say.

    Raises
    ------
    InputError
        When the parts do not say where their steps stood.

    Examples
    --------
    >>> run = Trace(id="r", steps=[Step(node="a"), Step(node="b"), Step(node="a")])
    >>> run_view(by_agent(run)).steps == run.steps
    True
    """
    placed: list[tuple[int, Step]] = []
    for part in parts:
        at = (part.extra or {}).get("at")
        if not isinstance(at, list) or len(at) != len(part.steps):
            raise InputError(f"trace {part.id!r} does not say where its steps stood in the run; use joined() instead")
        placed += zip(at, part.steps, strict=True)
    if not placed:
        raise InputError("a run needs at least one part")
    first = parts[0]
    extra = {key: value for key, value in (first.extra or {}).items() if key not in ("run", "at")}
    steps = tuple(step for _, step in sorted(placed, key=lambda pair: pair[0]))
    named = id or str((first.extra or {}).get("run", first.id))
    return first.replace(id=named, steps=steps, extra=extra or None, label=None, stalls=(), label_source=None)


def joined(traces: Sequence[Trace], id: str | None = None, *, event: str = "user") -> Trace:
    """Return several runs as one, in the order given; each begins with an event, stalls move along.

    The label is stalled when any part is, good when all are, else None.

    Parameters
    ----------
    traces : sequence of Trace
    id : str, optional
        By default that of the first.
    event : str
        What the first step of each later run is marked with, unless it has a mark.

    Examples
    --------
    >>> first, second = Trace(id="a", steps=[Step()]), Trace(id="b", label="stalled", stalls=[Span(0)], steps=[Step()])
    >>> run = joined([first, second])
    >>> run.label, run.onset, run.steps[1].event
    ('stalled', 1, 'user')
    """
    if not traces:
        raise InputError("joined() needs at least one trace")
    steps: list[Step] = []
    stalls: list[Span] = []
    for number, trace in enumerate(traces):
        offset, length = len(steps), len(trace.steps)
        own = list(trace.steps)
        if number and own and own[0].event is None:
            own[0] = _marked(own[0], event)
        steps += own
        # An open end closes where its run ends, unless the run is the last.
        last = number == len(traces) - 1
        stalls += [
            Span(
                s.start + offset,
                None if s.end is None and last else (length if s.end is None else s.end) + offset,
                s.kind,
                s.extra,
            )
            for s in trace.stalls
        ]
    return Trace(id=id or traces[0].id, steps=tuple(steps), **_info(traces, stalls))


def by_session(traces: Iterable[Trace]) -> list[Trace]:
    """Join the runs of each session, in their order; runs that name no session stay as they are.

    Examples
    --------
    >>> runs = [Trace(id=str(n), steps=[Step()], extra={"session": "s"}) for n in range(2)]
    >>> [(trace.id, len(trace.steps)) for trace in by_session(runs)]
    [('s', 2)]
    """
    sessions: dict[tuple[bool, str], list[Trace]] = {}
    for trace in traces:
        session = (trace.extra or {}).get("session")
        sessions.setdefault((session is not None, trace.id if session is None else str(session)), []).append(trace)
    return [joined(runs, name) if known else runs[0] for (known, name), runs in sessions.items()]


def _info(traces: Sequence[Trace], stalls: list[Span]) -> dict[str, Any]:
    labels = {trace.label for trace in traces}
    label = "stalled" if "stalled" in labels else labels.pop() if len(labels) == 1 else None
    info: dict[str, Any] = {
        name: getattr(traces[0], name) for name in _SHARED if len({getattr(t, name) for t in traces}) == 1
    }
    specs = {name: spec for trace in traces for name, spec in trace.signal_specs.items()}
    extra = {**(traces[0].extra or {}), "runs": [trace.id for trace in traces]}
    return {
        **info,
        "label": label,
        "stalls": tuple(stalls),
        "signal_specs": specs,
        "outcome": traces[-1].outcome,
        "extra": extra,
    }


def _marked(step: Step, event: str) -> Step:
    return Step(**{**{name: getattr(step, name) for name in Step.__struct_fields__}, "event": event})
