"""In which order runs are read."""

from collections.abc import Iterable, Sequence

import numpy as np

from driftlab._util.spec import choice
from driftlab.detectors import first_alarms, score
from driftlab.metrics.measurements import measure
from driftlab.rules.policy import Policy
from driftlab.rules.presets.default import default_policy
from driftlab.trace.schema import Trace

__all__ = ["disagreement", "queue"]

ORDERS = ("corpus", "disagreement")


def disagreement(traces: Iterable[Trace], policy: Policy | None = None) -> dict[str, float]:
    """Return how much the rules of a policy disagree about each run: 0 = all say the same, 1 = half of them stop it.

    Rules are compared by whether they stop a run, never by their scores.

    Parameters
    ----------
    traces : iterable of Trace
    policy : Policy, optional
        By default `default_policy`.

    Examples
    --------
    >>> from driftlab.rules.policy import StopRule
    >>> from driftlab.trace.schema import Step
    >>> two = Policy((StopRule("plateau(exact, run(1))", 1.0), StopRule("plateau(exact, run(3))", 1.0)))
    >>> short, long = (Trace(id=str(n), steps=[Step(state="x")] * n) for n in (2, 5))
    >>> disagreement([short, long], two)
    {'2': 1.0, '5': 0.0}
    """
    policy = default_policy() if policy is None else policy
    walked = list(policy.prepared(traces))
    measured = measure(walked, policy.needs)
    running = [(policy.running(rule), rule.threshold) for rule in policy.rules]
    scores = score(measured, [detector for detector, _ in running])
    alarms = [first_alarms(scores[detector], measured.offsets, threshold) for detector, threshold in running]
    share = np.mean([found >= 0 for found in alarms], axis=0)
    return {trace.id: float(4 * p * (1 - p)) for trace, p in zip(walked, share, strict=True)}


def queue(
    traces: Sequence[Trace], labelled: Iterable[str], *, order: str = "corpus", policy: Policy | None = None
) -> list[str]:
    """Return the ids of runs in reading order: unlabelled ones first, then those that are worth a second look.

    Parameters
    ----------
    traces : sequence of Trace
    labelled : iterable of str
        Ids that are done.
    order : {"corpus", "disagreement"}
        How the unlabelled ones are sorted; the labelled ones come by disagreement once nothing else is left.

    Examples
    --------
    >>> queue([Trace(id="a", steps=[]), Trace(id="b", steps=[])], labelled=["a"])
    ['b', 'a']
    """
    choice("order", order, ORDERS)
    done = set(labelled)
    fresh = [trace.id for trace in traces if trace.id not in done]
    rest = [trace.id for trace in traces if trace.id in done]
    if fresh and order == "corpus":
        return fresh + rest
    worth = disagreement(traces, policy)
    return sorted(fresh, key=lambda name: -worth[name]) + sorted(rest, key=lambda name: -worth[name])
