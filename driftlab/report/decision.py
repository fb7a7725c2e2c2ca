"""Whether a rule may be deployed, said plainly."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from driftlab._util.wording import counted, share_text
from driftlab.evaluation.stats import proportion
from driftlab.tuning.advice import SOFT
from driftlab.tuning.calibrate import Calibration
from driftlab.tuning.naming import auc_text, best_of, cell_name, cell_spec, is_steps, leader, task_name, why_not
from driftlab.tuning.objective import Price
from driftlab.tuning.sweep import Cell, Sweep

__all__ = ["Decision", "decide", "saved_at"]

Kind = Literal["deploy", "flag", "do not deploy", "no rule"]
HEADLINES: dict[Kind, str] = {
    "deploy": "May be deployed",
    "flag": "Let it flag, not stop",
    "do not deploy": "Do not deploy",
    "no rule": "No rule was calibrated",
}


@dataclass(frozen=True)
class Decision:
    """What to do on one task, with the reason.

    Attributes
    ----------
    task : str
    kind : {"deploy", "flag", "do not deploy", "no rule"}
    reason : str
        In words, with the numbers.
    """

    task: str
    kind: Kind
    reason: str

    @property
    def headline(self) -> str:
        """The decision as a heading, as in "Do not deploy on code."."""
        return f"{HEADLINES[self.kind]} on {task_name(self.task)}."


def decide(
    sweep: Sweep,
    calibrations: Iterable[Calibration],
    task: str,
    *,
    prevalence: float | None = None,
    price: Price | None = None,
) -> Decision:
    """Say whether a task's calibrated rule may be deployed.

    The reasons are those of `Calibration.advice`, with the sweep's verdict and what a step limit saves beside it.
    A rule against which only the setup or the fleet's prevalence speaks may flag, not stop.

    Examples
    --------
    >>> from driftlab.tuning.sweep import sweep
    >>> from driftlab.trace.schema import Step, Trace
    >>> found = sweep([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"])
    >>> decide(found, [], "").headline
    'No rule was calibrated on all traces.'
    """
    mine = [found for found in calibrations if found.rule.task in (None, task)]
    if not mine:
        return Decision(task, "no rule", _without_rule(sweep, task))
    found = min(mine, key=lambda each: each.rule.task is None)
    cell = next((c for c in sweep.cells if c.task == task and c.detector == found.rule.detector), None)
    verdict = sweep.evaluations[task].undefined or _strict_verdict(sweep, cell)
    fine, reasons = found.advice(verdict, prevalence=prevalence, price=price, cap=_cap(sweep, found, task))
    numbers = _numbers(found) + _money(found, price)
    if fine and verdict:
        return Decision(task, "deploy", numbers)
    if fine:
        reasons = (f"{SOFT[0]}its detector is not in this sweep, so the controls were not run on it",)
    words = [reason.partition(": ")[2] for reason in reasons]
    if all(reason.startswith(SOFT) for reason in reasons):
        return Decision(task, "flag", f"{numbers} But {'; '.join(words)}.")
    return Decision(task, "do not deploy", " ".join(f"{each[:1].upper()}{each[1:]}." for each in words))


def _money(found: Calibration, price: Price | None) -> str:
    if price is None:
        return ""
    where = "" if price.prevalence is None else f" where {share_text(price.prevalence)} of the runs stall"
    return f" At {price} it earns {float(price(found.tally)):.2f} a run{where}."


def _cap(sweep: Sweep, found: Calibration, task: str) -> float | None:
    """What counting steps saves within the limit of the rule; None where the sweep has no step counter."""
    counter = next((cell for cell in sweep.cells if cell.task == task and is_steps(cell)), None)
    return None if counter is None or found.limit is None else saved_at(counter, found.limit)


def saved_at(cell: Cell, limit: float) -> float:
    """Return the largest share saved by a threshold within a false-stop limit on the cell's own traces; 0 for none."""
    within = cell.curve.false_stop_rate <= limit
    return float(cell.curve.saved[within].max(initial=0.0))


def _strict_verdict(sweep: Sweep, cell: Cell | None) -> str:
    """The verdict of the cell's metric that allows for the choice among accumulators; empty without a cell."""
    if cell is None or not cell.verdict.startswith("beats"):
        return cell.verdict if cell is not None else ""
    return next((c.verdict for c in best_of(sweep, cell.task) if cell_spec(c) == cell_spec(cell)), cell.verdict)


def _without_rule(sweep: Sweep, task: str) -> str:
    why, best = why_not(sweep, task), leader(best_of(sweep, task))
    if why:
        return f"Nothing can be deployed: {why}."
    if best is None or not best.verdict.startswith("beats"):
        return (
            "Nor would one be worth it: no metric tells stalls from good work better than counting steps and noise do."
        )
    area = f"AUC {auc_text(best)}, {best.verdict}"
    return f"The metric to calibrate is {cell_name(best)}: {area}. Run dl.calibrate or driftlab calibrate."


def _numbers(found: Calibration) -> str:
    tally = found.tally
    low, high = proportion(tally.false_stop, tally.n_good)
    hit = f"hit {tally.hit} of {counted(tally.n_stalled, 'stall')}, saved {share_text(tally.saved)} of their steps"
    stopped = (
        f"stopped {tally.false_stop} of {counted(tally.n_good, 'good trace')} [{share_text(low)}, {share_text(high)}]"
    )
    promise = found.rule.evidence.get("promise", "none")
    told = f"On problems{found.rule.evidence.get('apart', '')} it {hit} and {stopped}; promise: {promise}."
    again = found.nested
    if again is None or again.why:
        return told
    rates = f"{share_text(again.recall)} of stalls and stops {share_text(again.false_stop_rate)} of good traces"
    return f"{told} Chosen anew in every fold, on the problems left out, it hits {rates}."
