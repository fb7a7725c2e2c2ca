"""Labels made from what a trace holds already; each says where it came from."""

import math
from collections.abc import Iterable, Mapping

from driftlab._util.errors import InputError
from driftlab._util.spec import choice
from driftlab.trace.schema import Span, Trace

__all__ = ["from_alarms", "from_outcomes", "from_signal"]


def from_outcomes(traces: Iterable[Trace], *, failed: str = "unsure") -> list[Trace]:
    """Label by outcome where nobody has: solved is good, failed is `failed`.

    Failing is not stalling, so a failure says nothing by default.

    Parameters
    ----------
    traces : iterable of Trace
    failed : {"unsure", "stalled"}

    Examples
    --------
    >>> found = from_outcomes([Trace(id="a", outcome=True, steps=[]), Trace(id="b", outcome=False, steps=[])])
    >>> [(trace.label, trace.label_source) for trace in found]
    [('good', 'outcome'), ('unsure', 'outcome')]
    """
    choice("failed", failed, ("unsure", "stalled"))
    return [
        trace if trace.label is not None or trace.outcome is None
        else trace.replace(label="good" if trace.outcome else failed, label_source="outcome")
        for trace in traces
    ]  # fmt: skip


def from_alarms(traces: Iterable[Trace], alarms: Mapping[str, int | None], rule: str) -> list[Trace]:
    """Label by what a rule said where nobody has: its alarm is the onset of a stall.

    Parameters
    ----------
    traces : iterable of Trace
    alarms : mapping of str to int or None
        First alarm of each trace by id, None for no alarm; traces that are not in it are left alone.
    rule : str
        The rule's name; the labels' source becomes ``rule:<name>``.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> from_alarms([Trace(id="a", steps=[Step(), Step()])], {"a": 1}, "repeat")[0].label_source
    'rule:repeat'
    """
    out = []
    for trace in traces:
        if trace.label is not None or trace.id not in alarms:
            out.append(trace)
            continue
        alarm = alarms[trace.id]
        stalls = () if alarm is None else (Span(alarm),)
        label = "good" if alarm is None else "stalled"
        out.append(trace.replace(label=label, stalls=stalls, label_source=f"rule:{rule}"))
    return out


def from_signal(traces: Iterable[Trace], signal: str, *, patience: int = 5) -> list[Trace]:
    """Label by a signal where nobody has: stalled when its best stood still for the last `patience` steps or more.

    A trace that reached the signal's goal, or improved until it ended, is good; one that never measured the signal
    is left alone. Evaluation hides the signal from detectors, since the source is ``signal:<name>``.

    Parameters
    ----------
    traces : iterable of Trace
    signal : str
    patience : int
        Steps after the last improvement that make a stall, >= 1.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> flat = Trace(id="a", steps=[Step(signals={"passed": 1})] * 7)
    >>> found = from_signal([flat], "passed")[0]
    >>> found.label, found.onset, found.label_source
    ('stalled', 1, 'signal:passed')
    """
    if patience < 1:
        raise InputError(f"patience must be a whole number >= 1, got {patience!r}")
    return [_by_signal(trace, signal, patience) if trace.label is None else trace for trace in traces]


def _by_signal(trace: Trace, signal: str, patience: int) -> Trace:
    spec = trace.signal_specs.get(signal)
    goal = None if spec is None or spec.goal is None else trace.upward(signal, spec.goal)
    best, last = -math.inf, -1
    for t, step in enumerate(trace.steps):
        raw = (step.signals or {}).get(signal)
        if raw is None or math.isnan(raw):
            continue
        value = trace.upward(signal, raw)
        if last < 0 or value > best:  # the first counts whatever it is: a signal may begin at minus infinity
            best, last = value, t
    if last < 0:
        return trace
    stalled = (goal is None or best < goal) and len(trace.steps) - 1 - last >= patience
    stalls = (Span(last + 1),) if stalled else ()
    return trace.replace(label="stalled" if stalled else "good", stalls=stalls, label_source=f"signal:{signal}")
