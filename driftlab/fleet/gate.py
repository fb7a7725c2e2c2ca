"""Whether a saved rule still keeps its word on held-out traces, for use in CI."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftlab._util.errors import InputError
from driftlab._util.plain import for_json
from driftlab._util.spec import share
from driftlab.evaluation.stats import LEVEL, clustered
from driftlab.evaluation.tally import Tally
from driftlab.fleet.finished import FinishedRuns
from driftlab.fleet.scope import strangers
from driftlab.rules.policy import Policy, StopRule
from driftlab.trace.schema import Trace, TraceInfo

__all__ = ["Gate", "gate"]


@dataclass(frozen=True)
class Gate:
    """The answer of a gate.

    Attributes
    ----------
    passed : bool
    reasons : tuple of str
        Why not; one line a limit that was kept where it passed.
    notes : tuple of str
        What the policy was not made for, loudly.
    tally : Tally
    recall, false_stop_rate : (float, float, float)
        Value, lower and upper confidence bound, each one-sided.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, Step
    >>> loop = Trace(id="loop", label="stalled", stalls=[Span(1)], steps=[Step(state="x")] * 5)
    >>> found = gate(StopRule("plateau(exact, run(2))", 1.0), [loop], min_recall=0.9)
    >>> found.passed, found.reasons
    (False, ('recall: lower bound 0.050 < 0.9 required (1 of 1 stalls hit)',))
    """

    passed: bool
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    tally: Tally
    recall: tuple[float, float, float]
    false_stop_rate: tuple[float, float, float]

    @property
    def exit_code(self) -> int:
        """0 where the gate is passed, else 1."""
        return 0 if self.passed else 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for strict JSON."""
        plain: dict[str, Any] = for_json(vars(self) | {"tally": vars(self.tally), "saved": self.tally.saved})
        return plain

    def __str__(self) -> str:
        head = "gate passed" if self.passed else "gate FAILED"
        lines = [head, *(f"  {reason}" for reason in self.reasons), *(f"  note: {note}" for note in self.notes)]
        return "\n".join(lines)


def gate(
    policy: Policy | StopRule,
    traces: Iterable[Trace],
    *,
    min_recall: float | None = None,
    max_false_stop: float | None = None,
    min_saved: float | None = None,
    level: float = LEVEL,
) -> Gate:
    """Judge a policy on held-out traces by confidence bounds, not by points.

    The bounds are Clopper-Pearson's, one-sided, with the number of traces that runs of the same problems are
    worth: too few traces do not pass.

    Parameters
    ----------
    policy : Policy or StopRule
    traces : iterable of Trace
        Traces that neither chose nor certified it.
    min_recall : float, optional
        What the lower bound of recall must reach.
    max_false_stop : float, optional
        What the upper bound of the false-stop rate must not exceed.
    min_saved : float, optional
        Share of stalled steps that must be saved (a point: no bound is known for it).
    level : float
        Of each bound.

    Raises
    ------
    InputError
        When no limit is given, or one is not between 0 and 1.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> work = [Trace(id=f"w{n}", label="good", steps=[Step(state=s) for s in "abcd"]) for n in range(100)]
    >>> print(gate(StopRule("plateau(exact, run(2))", 1.0), work, max_false_stop=0.05).reasons[0])
    false-stop rate: upper bound 0.030 <= 0.05 allowed (0 of 100 good traces stopped)
    """
    limits = {"min_recall": min_recall, "max_false_stop": max_false_stop, "min_saved": min_saved}
    _check(limits)
    policy = _stopping(Policy.of(policy))
    finished = FinishedRuns.of(policy, traces)
    labels, counts, named = finished.labels, finished.tally(), finished.outcomes
    recall = _bounds(named == "hit", labels.stalled, finished.covered, level)
    stops = _bounds(named == "false stop", labels.good, finished.covered, level)
    reasons = [
        _least("recall", recall, min_recall, f"{counts.hit} of {counts.n_stalled} stalls hit"),
        _most("false-stop rate", stops, max_false_stop, f"{counts.false_stop} of {counts.n_good} good traces stopped"),
        _least(
            "saved", (counts.saved,) * 3, min_saved, f"{counts.saved_steps} of {counts.stalled_steps} stalled steps"
        ),
    ]
    checked = [reason for reason in reasons if reason is not None]
    failed = tuple(words for kept, words in checked if not kept)
    notes = (*strangers(policy, finished.traces), *_uncovered(len(finished.traces) - len(finished.covered)))
    return Gate(not failed, failed or tuple(words for _, words in checked), notes, counts, recall, stops)


Bounds = tuple[float, float, float]


def _stopping(policy: Policy) -> Policy:
    """Leave the rules that stop, where any does: a nudge is no false stop."""
    stops = tuple(rule for rule in policy.rules if rule.action == "stop")
    return replace(policy, rules=stops or policy.rules)


def _bounds(flags: Any, among: Any, infos: Sequence[TraceInfo], level: float) -> Bounds:
    rows = np.flatnonzero(among)
    if not len(rows):
        return math.nan, math.nan, math.nan
    # Two one-sided bounds at `level` are a two-sided interval at 2 * level - 1.
    low, high = clustered(flags[rows], [infos[int(i)].group for i in rows], "beta", 2 * level - 1)
    return float(flags[rows].mean()), low, high


def _least(name: str, bounds: Bounds, limit: float | None, counted: str) -> tuple[bool, str] | None:
    if limit is None:
        return None
    kept = bounds[1] >= limit
    bound = "undefined" if math.isnan(bounds[1]) else f"{bounds[1]:.3f}"
    return kept, f"{name}: lower bound {bound} {'>=' if kept else '<'} {limit:g} required ({counted})"


def _most(name: str, bounds: Bounds, limit: float | None, counted: str) -> tuple[bool, str] | None:
    if limit is None:
        return None
    kept = bounds[2] <= limit
    bound = "undefined" if math.isnan(bounds[2]) else f"{bounds[2]:.3f}"
    return kept, f"{name}: upper bound {bound} {'<=' if kept else '>'} {limit:g} allowed ({counted})"


def _uncovered(count: int) -> list[str]:
    return [f"{count} traces were not judged: the policy has no rule for their task"] if count else []


def _check(limits: dict[str, float | None]) -> None:
    given = {name: limit for name, limit in limits.items() if limit is not None}
    if not given:
        raise InputError(f"a gate needs at least one of {', '.join(limits)}")
    for name, limit in given.items():
        share(name, limit)
