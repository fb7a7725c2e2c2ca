"""A calibrated rule with the evidence for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from driftlab.evaluation.stats import proportion
from driftlab.evaluation.tally import Tally
from driftlab.rules.policy import Policy, StopRule
from driftlab.tuning.advice import advice
from driftlab.tuning.cross_validation import CrossValidation
from driftlab.tuning.objective import Price

__all__ = ["Calibration", "policy_of"]


@dataclass(frozen=True, eq=False)
class Calibration:
    """A rule with the evidence for it.

    Attributes
    ----------
    rule : StopRule
        Ready to save; its evidence holds the numbers below, its signals the directions that the traces declare.
    tally : Tally
        Outcomes on the certifying problems, which chose neither metric nor patience.
    n_good : int
        Good traces, one a problem, that set the threshold.
    missing : int
        Good traces of other problems that were missing for a finite threshold; 0 when it is finite.
    candidates : pandas.DataFrame
        Every detector tried on the choosing problems, best first: detector, objective, threshold, saved, recall,
        false_stop_rate.
    provenance : dict
        Data hash, seed, split, selection, promise.
    nested : CrossValidation or None
        What choosing and certifying so achieves on new problems; None with ``repeats=0``.
    nudge : StopRule or None
        The rule that only nudges, at its own, larger limit.

    Examples
    --------
    >>> from driftlab.tuning.calibrate import calibrate
    >>> from driftlab.trace.schema import Step, Trace
    >>> work = [Trace(id=str(n), label="good", steps=[Step(state=s) for s in "abc"]) for n in range(8)]
    >>> found = calibrate(work, metrics=["exact"], repeats=0)
    >>> found.rule.watch_only, found.advice()[1][0].split(", ")[0]
    (True, 'do not deploy: the rule can only watch: 4 good traces of different problems')
    """

    rule: StopRule
    tally: Tally
    n_good: int
    missing: int
    candidates: Any
    provenance: dict[str, Any]
    nested: CrossValidation | None = None
    nudge: StopRule | None = None

    @property
    def policy(self) -> Policy:
        """The rules as a policy with its provenance; the stop comes first, since it also ends what a nudge began."""
        rules = (self.rule,) if self.nudge is None else (self.rule, self.nudge)
        return Policy(rules, provenance=self.provenance)

    @property
    def limit(self) -> float | None:
        """Largest share of good traces that may be stopped; None where nothing is promised."""
        told = self.provenance["max_false_stop"]
        return None if told == "none" else float(told)

    def save(self, path: str) -> None:
        """Write the policy with its evidence and provenance."""
        self.policy.save(path)

    def advice(
        self,
        verdict: str = "",
        *,
        prevalence: float | None = None,
        price: Price | None = None,
        cap: float | None = None,
    ) -> tuple[bool, tuple[str, ...]]:
        """Say whether to deploy the rule, and every reason not to; "do not deploy" is a possible answer.

        Parameters
        ----------
        verdict : str
            Of the rule's metric in a sweep; empty leaves the controls out.
        prevalence : float, optional
            Share of the fleet's runs that stall; default: the share here.
        price : Price, optional
            What a false stop and a wasted step cost; its prevalence is taken where none is given.
        cap : float, optional
            Share of stalled steps that counting steps saves within the same limit.
        """
        counts, again = self.tally, self.nested
        # Precision where the rule will work, not here: studies hold far more stalls than fleets do.
        here = counts.n_stalled / max(1, counts.n_stalled + counts.n_good)
        fleet = prevalence if prevalence is not None or price is None else price.prevalence
        facts: dict[str, Any] = {"precision": counts.precision_at(here if fleet is None else fleet), "cap": cap}
        facts |= {"limit": self.limit}
        facts |= {"blind": str(self.rule.evidence.get("why", "no threshold is safe")) if self.rule.watch_only else ""}
        # A rule may be certified and still be luck: the certificate is about false stops, this about stalls.
        if again is not None and not again.why and not again.stable:
            low, high = again.intervals["youden"]
            facts["luck"] = f"Youden's index on problems left out is {again.youden:.2f} [{low:.2f}, {high:.2f}]"
        return advice(verdict, counts, price=price, **facts)

    def __str__(self) -> str:
        evidence, counts = self.rule.evidence, self.tally
        lines = [f"detector    {self.rule.detector!r}"]
        if self.rule.watch_only:
            lines.append(f"threshold   none: watch only; {evidence['why']}")
        else:
            lines.append(f"threshold   {self.rule.threshold:.4f}; promise: {evidence['promise']}")
        if self.nudge is not None:
            at = "none" if self.nudge.watch_only else f"{self.nudge.threshold:.4f}"
            lines.append(f"nudge       {at}; promise: {self.nudge.evidence['promise']}")
        stopped = "no good traces"
        # The interval of what was counted; the promise above it is the one that holds for new runs.
        if counts.n_good:
            low, high = proportion(counts.false_stop, counts.n_good)
            stopped = f"{counts.false_stop} of {counts.n_good} good traces stopped [{low:.3f}, {high:.3f}]"
        saved = f"{counts.saved:.0%} of stalled steps saved" if counts.n_stalled else "nothing to save"
        delay = f", median delay {counts.delay:.0f} steps" if counts.hit else ""
        lines += [
            f"{'judged' if evidence['promise'] == 'none' else 'certified':<11} "
            f"on {self.n_good} good traces of {self.n_good} problems{evidence['apart']}",
            f"there       {counts.hit} of {counts.n_stalled} stalls hit, {saved}, {counts.premature} premature{delay}",
            f"            {stopped}",
            f"chosen      among {len(self.candidates)} detectors; that choice is not in the interval",
        ]
        return "\n".join(lines if self.nested is None else [*lines, str(self.nested)])


def policy_of(rules: Sequence[Calibration]) -> Policy:
    """Join the rules of several tasks in one policy.

    Raises
    ------
    InputError
        When two tasks declare one signal in opposite directions: each needs a policy of its own.
    """
    joined = tuple(rule for each in rules for rule in each.policy.rules)
    return Policy(joined, provenance=rules[0].provenance)
