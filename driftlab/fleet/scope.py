"""What a policy was not made for."""

from collections import Counter
from collections.abc import Iterable

from driftlab.rules.policy import Policy
from driftlab.trace.schema import TraceInfo

__all__ = ["strangers"]


def strangers(policy: Policy, traces: Iterable[TraceInfo]) -> tuple[str, ...]:
    """Say loudly which traces come from a source the policy was not calibrated on.

    Examples
    --------
    >>> from driftlab.rules.policy import StopRule
    >>> rule = StopRule("plateau(exact, run(3))", 1.0, evidence={"sources": "sql-bench"})
    >>> strangers(Policy((rule,)), [TraceInfo(id="a", source="mine")])[0][:62]
    "1 traces come from source 'mine', on which the policy was NOT "
    """
    known = {name for rule in policy.rules for name in str(rule.evidence.get("sources", "")).split(", ") if name}
    strange = Counter(trace.source or "(none)" for trace in traces if known and (trace.source or "(none)") not in known)
    return tuple(
        f"{count} traces come from source {source!r}, on which the policy was NOT calibrated "
        f"(calibrated on: {', '.join(sorted(known))}); thresholds do not travel, calibrate again"
        for source, count in strange.items()
    )
