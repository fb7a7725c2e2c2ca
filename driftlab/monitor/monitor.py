"""A policy in a live loop."""

import os
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from msgspec.structs import replace as changed

from driftlab._util.errors import InputError
from driftlab.detectors import Detector, Evidence
from driftlab.metrics import Pairwise
from driftlab.metrics.column import Column, StepReader, StepView, complaint, readable
from driftlab.metrics.columns.under_roles import Seen
from driftlab.monitor.trend import Course, Trend
from driftlab.rules.policy import Policy, StopRule
from driftlab.rules.roles import check_specs
from driftlab.trace.schema import SignalSpec, Step, TraceInfo

__all__ = ["Monitor", "Verdict"]

SURE = 0.5  # share of its own threshold from which a rule for cycles names a cycle that another rule stopped


@dataclass(frozen=True)
class Verdict:
    """What a policy says of a loop after one step.

    Attributes
    ----------
    t : int
        Index of the step, from 0.
    trend : str
        improving, plateaued, oscillating, regressing or unknown.
    action : {"continue", "flag", "nudge", "stop"}
        What to do; once a rule raised its alarm its action stays until `Monitor.reset`. A regressing loop goes
        on, flagged for review.
    score : float
        Of the rule that raised the alarm, else of the first rule; 0..1.
    since : int or None
        First step of the evidence; None while there is none.
    evidence : str
        The rule and what it saw, in words; empty while there is none.
    scores : tuple of float
        One score a rule, in the policy's order; scores of different rules cannot be compared.
    steps : tuple of int
        The steps the evidence is made of.
    lag : int or None
        Length of the cycle, where one was found.
    rule : str
        Spec of the detector that raised the alarm; empty while there is no alarm.

    Examples
    --------
    >>> monitor = Monitor(StopRule("plateau(exact, run(1))", 1.0))
    >>> [monitor.update(state="same").stop for _ in range(2)]
    [False, True]
    """

    t: int
    trend: Trend
    action: Literal["continue", "flag", "nudge", "stop"]
    score: float
    since: int | None
    evidence: str
    scores: tuple[float, ...]
    steps: tuple[int, ...] = ()
    lag: int | None = None
    rule: str = ""

    @property
    def stop(self) -> bool:
        """Whether the policy asks to stop."""
        return self.action == "stop"


class Monitor:
    """Runs a policy step by step: the same numbers, the same alarm as scoring the finished trace.

    Parameters
    ----------
    policy : Policy or StopRule
        What to watch for.
    task : str, optional
        The kind of work; only the policy's rules for it run.
    trace_id : str
        Name of the run (only the placebo metric reads it).
    signals : mapping of str to SignalSpec, optional
        Directions and goals of the run's signals, before those of the policy.

    Raises
    ------
    InputError
        When the policy has no rule for the task.

    Examples
    --------
    >>> monitor = Monitor(StopRule("plateau(exact, run(2))", 1.0))
    >>> [monitor.update(state=s).action for s in ("a", "b", "b", "b")]
    ['continue', 'continue', 'continue', 'stop']
    >>> monitor.best.state, monitor.alarm
    ('b', 3)
    """

    def __init__(
        self,
        policy: Policy | StopRule,
        *,
        task: str | None = None,
        trace_id: str = "live",
        signals: Mapping[str, SignalSpec] | None = None,
    ) -> None:
        policy = Policy.of(policy)
        if not isinstance(policy, Policy):
            raise InputError(f"a monitor needs a Policy or a StopRule, got {policy!r}; a file: Monitor.load(path)")
        self.rules = policy.rules_for(task) if task is not None else policy.rules
        if not self.rules:
            tasks = ", ".join(sorted({rule.task for rule in policy.rules if rule.task is not None}))
            raise InputError(f"the policy has no rule for task {task!r}; it has rules for: {tasks or 'nothing'}")
        check_specs(signals or {})
        self.policy = policy
        self._info = TraceInfo(id=trace_id, task=task, signal_specs={**policy.signals, **(signals or {})})
        self._detectors = [policy.running(rule) for rule in self.rules]
        # Twice what any rule holds: steps on which a rule has no opinion lie in between.
        self._kept = 16 + 2 * max(max(each.memory, each.patience) for each in self._detectors)
        self.reset()

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, task: str | None = None) -> "Monitor":
        """Return a monitor for a policy file."""
        return cls(Policy.load(path), task=task)

    def reset(self) -> None:
        """Forget everything: the next step is the first of a new run."""
        needs = dict.fromkeys(i for each in self._detectors for i in each.needs)
        self._reader = StepReader(self._info)
        self._columns: dict[Column, Any] = {i: np.zeros(1, dtype=i.dtype) for i in needs}
        bare = {i: i.input if isinstance(i, Seen) else i for i in needs}
        self._models = [(i, each) for i, each in bare.items() if isinstance(each, Pairwise) and each.batched]
        self._streams = [(i.stream(self._info), column) for i, column in self._columns.items()]
        self._running = [(each.live(self._columns), each.start(1)) for each in self._detectors]
        self._steps: deque[Step] = deque(maxlen=self._kept)
        self._rows: deque[list[float]] = deque(maxlen=self._kept)
        self._course = Course(self._info, self.policy.signals)
        self._names: set[str] = set()
        self._alarm: Verdict | None = None
        self._t = -1

    @property
    def alarm(self) -> int | None:
        """Step of the first alarm, None while there is none."""
        return None if self._alarm is None else self._alarm.t

    @property
    def best(self) -> Step | None:
        """The step to return: the best by the task signal, else the last one before the evidence began."""
        if self._course.best is not None:
            return self._course.best
        if not self._steps:
            return None
        first = self._t - len(self._steps) + 1
        since = self._t + 1 if self._alarm is None or self._alarm.since is None else self._alarm.since
        return self._steps[max(since - 1 - first, 0)]

    def update(self, step: Step | Mapping[str, Any] | None = None, /, **keys: Any) -> Verdict:
        """Take one step: a Step, a mapping or keywords (an unknown number is a signal).

        Raises
        ------
        InputError
            When the step does not fit the schema or cannot be read; the run is then as if it had never come.
        """
        taken = Step.of(step, **keys)
        if not (readable(taken) and self._names.issuperset(taken.signals or ())):
            self._rehearse(taken)
        reading = StepView(self._reader, self._t + 1, taken)
        if self._models:
            self._ask_models(reading)
        self._t = reading.t
        row = [read(reading) for read, _ in self._streams]
        for value, (_, column) in zip(row, self._streams, strict=True):
            column[0] = value
        scores = tuple([float(advance(state)[0]) for advance, state in self._running])
        self._steps.append(taken)
        self._names.update(taken.signals or ())
        self._rows.append(row)
        self._course.follow(reading.t, taken)
        return self._judge(reading.t, scores)

    def _rehearse(self, step: Step) -> None:
        """Read a step whose reading may fail with columns that are thrown away, before anything is stored."""
        try:
            # Of several signals one without a name cannot be chosen, also where they come one after the other.
            named = {**dict.fromkeys(self._names), **(step.signals or {})}
            alone = StepView(StepReader(self._info), self._t + 1, changed(step, signals=named))
            for column in self._columns:
                column.stream(self._info)(alone)
            Course(self._info, self.policy.signals).follow(0, alone.step)
        except (ArithmeticError, AttributeError, RecursionError, TypeError, ValueError) as error:
            raise InputError(f"step {self._t + 1}: {complaint(step, error)}") from error

    def _ask_models(self, reading: StepView) -> None:
        """Have the models encode the step before anything is stored: one may be away; what it says it keeps."""
        for column, each in self._models:
            shown = column.shown(reading) if isinstance(column, Seen) else reading
            try:
                text = shown.text(*each.reads)
            except InputError:  # of an outage, which no column reads, since the rehearsal passed
                continue
            if text is not None:
                each.deltas([(text, text)])

    def _judge(self, t: int, scores: tuple[float, ...]) -> Verdict:
        if self._alarm is not None:
            old = self._alarm
            found = (old.since, old.evidence, scores, old.steps, old.lag, old.rule)
            return Verdict(t, self._trend(old), old.action, old.score, *found)
        for rule, each, score in zip(self.rules, self._detectors, scores, strict=True):
            if score >= rule.threshold:
                seen = self._evidence(each)
                seen = seen if seen.lag is not None else replace(seen, lag=self._lag(scores))
                self._alarm = self._raised(rule, seen, score, scores)
                return self._alarm
        if self._course.trend == "regressing":
            return self._regressing(scores)
        return Verdict(t, self._course.trend, "continue", scores[0], None, "", scores)

    def _raised(self, rule: StopRule, evidence: Evidence, score: float, scores: tuple[float, ...]) -> Verdict:
        over = f"over steps {evidence.since}..{self._t}"
        words = f"{evidence.words} ({rule.detector!r} scored {score:.3f} >= {rule.threshold:.3f} {over})"
        trend: Trend = "plateaued" if evidence.lag is None else "oscillating"
        found = (evidence.since, words, scores, evidence.steps, evidence.lag, repr(rule.detector))
        return Verdict(self._t, trend, rule.action, score, *found)

    def _regressing(self, scores: tuple[float, ...]) -> Verdict:
        fallen = self._course.fallen
        words = f"below its best, of step {self._course.best_at}, for {len(fallen)} measured steps: review"
        return Verdict(self._t, "regressing", "flag", scores[0], fallen[0], words, scores, fallen)

    def _trend(self, alarm: Verdict) -> Trend:
        """Return the trend after an alarm: what the signals say where they moved, else what the alarm said."""
        return self._course.trend if self._course.trend in ("improving", "regressing") else alarm.trend

    def _lag(self, scores: tuple[float, ...]) -> int | None:
        """Return the length of the cycle that a rule for cycles is at least half sure of."""
        sure = [each for each, score in zip(self._detectors, scores, strict=True) if score >= SURE]
        return next((lag for lag in (self._evidence(each).lag for each in sure) if lag is not None), None)

    def _evidence(self, each: Detector) -> Evidence:
        rows = list(zip(*self._rows, strict=True))
        kept = {i: np.array(values, dtype=i.dtype) for i, values in zip(self._columns, rows, strict=True)}
        return each.evidence({i: kept[i] for i in each.needs}, self._t)
