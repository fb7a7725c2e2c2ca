"""Finished runs under a policy."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftlab.evaluation.labels import Ints, Labels, outcomes
from driftlab.evaluation.tally import Tally, tally
from driftlab.metrics.measurements import measure
from driftlab.rules.policy import Policy
from driftlab.trace.schema import Trace

__all__ = ["FinishedRuns"]


@dataclass(frozen=True, eq=False)
class FinishedRuns:
    """Finished runs under a policy.

    Attributes
    ----------
    policy : Policy
    traces : tuple of Trace
        All runs, with the policy's signal directions where they declare none.
    covered : tuple of Trace
        Those for whose task the policy has a rule; the arrays below have one entry for each.
    alarms : (n_covered,) int array
        Step of the first alarm, -1 for none.
    labels : Labels

    Examples
    --------
    >>> from driftlab.rules.policy import StopRule
    >>> from driftlab.trace.schema import Step
    >>> runs = [Trace(id=task, task=task, steps=[Step(state="x")] * 5) for task in ("code", "sql")]
    >>> found = FinishedRuns.of(Policy((StopRule("plateau(exact, run(2))", 1.0, task="code"),)), runs)
    >>> len(found.traces), [run.id for run in found.covered], found.alarms.tolist()
    (2, ['code'], [2])
    """

    policy: Policy
    traces: tuple[Trace, ...]
    covered: tuple[Trace, ...]
    alarms: Ints
    labels: Labels

    @classmethod
    def of(cls, policy: Policy, traces: Iterable[Trace]) -> "FinishedRuns":
        """Measure every run that the policy has a rule for; find its first alarm."""
        traces = tuple(policy.prepared(traces))
        covered = tuple(trace for trace in traces if policy.rules_for(trace.task))
        measured = measure(covered, policy.needs)
        alarms, _ = policy.alarms(measured)
        return cls(policy, traces, covered, alarms, Labels.of(measured.infos, measured.lengths))

    @property
    def outcomes(self) -> NDArray[np.str_]:
        """What each alarm is worth, shape (n_covered,)."""
        return outcomes(self.alarms, self.labels)

    def tally(self, rows: Sequence[int] | None = None) -> Tally:
        """Count the outcomes of some covered runs, of all by default.

        Undetectable is what is shorter than the least patience among the rules for their tasks.
        """
        places = np.arange(len(self.covered)) if rows is None else np.array(rows, dtype=np.int64)
        tasks = {self.covered[place].task for place in places}
        patience = min((rule.detector.patience for task in tasks for rule in self.policy.rules_for(task)), default=1)
        return tally(self.alarms[places], self.labels.take(places), patience)
