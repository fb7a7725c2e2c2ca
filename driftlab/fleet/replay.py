"""A shadow run: what a policy would have done to finished runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from driftlab._util.extras import need
from driftlab.evaluation.tally import Tally
from driftlab.fleet.finished import FinishedRuns
from driftlab.fleet.scope import strangers
from driftlab.monitor.monitor import Monitor
from driftlab.rules.policy import Policy, StopRule
from driftlab.trace.schema import Trace

__all__ = ["Replay", "ReplayedRun", "replay"]


@dataclass(frozen=True)
class ReplayedRun:
    """One run under a policy.

    Attributes
    ----------
    id, task, label : str
        Of the trace; `task` and `label` empty where it has none.
    steps : int
        How long the run was.
    alarm : int or None
        Step of the first alarm, counted from 0.
    action : str
        What the policy asked for; empty without an alarm.
    outcome : str
        hit, premature, late, miss, false stop, pass; "none" for a trace that is in no rate.
    after : int
        Steps after the alarm; 0 without one.
    why : str
        The rule and what it saw, in words; empty without an alarm.
    """

    id: str
    task: str
    label: str
    steps: int
    alarm: int | None
    action: str
    outcome: str
    after: int
    why: str


@dataclass(frozen=True)
class Replay:
    """Every run under a policy.

    Attributes
    ----------
    runs : tuple of ReplayedRun
        In the order of the traces.
    tallies : dict of str to Tally
        Counts and rates by task.
    notes : tuple of str
        What the policy was not made for, in words.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, Step
    >>> loop = Trace(id="loop", label="stalled", stalls=[Span(1)], steps=[Step(state="x")] * 5)
    >>> shadow = replay(StopRule("plateau(exact, run(2))", 1.0), [loop])
    >>> [(run.alarm, run.outcome, run.after) for run in shadow.runs]
    [(2, 'hit', 2)]
    """

    runs: tuple[ReplayedRun, ...]
    tallies: dict[str, Tally]
    notes: tuple[str, ...]

    def table(self) -> Any:
        """Return one row a run as a pandas.DataFrame with the fields of `ReplayedRun`."""
        return need("pandas", "study").DataFrame([asdict(run) for run in self.runs])

    def __str__(self) -> str:
        lines = [_line(task, found) for task, found in self.tallies.items()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def replay(policy: Policy | StopRule, traces: Iterable[Trace]) -> Replay:
    """Run a policy over finished runs as a live loop would have met it.

    Parameters
    ----------
    policy : Policy or StopRule
    traces : iterable of Trace

    Returns
    -------
    Replay

    Examples
    --------
    >>> from driftlab.trace.schema import Span, Step
    >>> loop = Trace(id="loop", label="stalled", stalls=[Span(1)], steps=[Step(state="x")] * 5)
    >>> found = replay(StopRule("plateau(exact, run(2))", 1.0), [loop])
    >>> found.runs[0].outcome, found.runs[0].alarm, found.runs[0].after
    ('hit', 2, 2)
    """
    policy = Policy.of(policy)
    finished = FinishedRuns.of(policy, traces)
    alarmed = zip(finished.covered, finished.alarms, finished.outcomes, strict=True)
    runs = [_replayed(policy, trace, int(alarm), str(word)) for trace, alarm, word in alarmed]
    rows: dict[str, list[int]] = {}
    for place, trace in enumerate(finished.covered):
        rows.setdefault(trace.task or "", []).append(place)
    tallies = {task: finished.tally(rows[task]) for task in sorted(rows)}
    return Replay(tuple(runs), tallies, tuple(_notes(policy, finished.traces)))


def _replayed(policy: Policy, trace: Trace, alarm: int, outcome: str) -> ReplayedRun:
    known: dict[str, Any] = {
        "id": trace.id,
        "task": trace.task or "",
        "label": trace.label or "",
        "steps": len(trace.steps),
    }
    if alarm < 0:
        return ReplayedRun(**known, alarm=None, action="", outcome=outcome, after=0, why="")
    # The monitor explains its alarm; law 12 says that it raises the same one.
    # A trace without a task meets only the rules for any; a monitor without one would run them all.
    of_task = replace(policy, rules=policy.rules_for(trace.task))
    monitor = Monitor(of_task, task=trace.task, trace_id=trace.id, signals=trace.signal_specs)
    verdict = [monitor.update(step) for step in trace.steps[: alarm + 1]][-1]
    after = len(trace.steps) - 1 - alarm
    return ReplayedRun(**known, alarm=alarm, action=verdict.action, outcome=outcome, after=after, why=verdict.evidence)


def _notes(policy: Policy, traces: Sequence[Trace]) -> Iterator[str]:
    missing = Counter(trace.task for trace in traces if not policy.rules_for(trace.task))
    for task, count in missing.items():
        yield f"{count} traces of task {task!r} were not judged: the policy has no rule for it"
    yield from strangers(policy, traces)


def _line(task: str, counts: Tally) -> str:
    saved = f"{counts.saved:.0%} of stalled steps saved" if counts.n_stalled else "nothing to save"
    hits = f"{counts.hit} of {counts.n_stalled} stalls hit, {saved}"
    stops = f"{counts.false_stop} of {counts.n_good} good runs stopped"
    return f"{task or '(no task)'}: {hits}, {counts.premature} premature; {stops}"
