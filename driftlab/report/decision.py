"""Whether a rule may be deployed, said plainly."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from driftlab.calibrate import Calibration
from driftlab.findings import (
    auc_text,
    best_of,
    counted,
    interval_text,
    is_steps,
    label,
    leader,
    share_text,
    spec,
    task_name,
    why_not,
)
from driftlab.stats import proportion
from driftlab.sweep import LIMIT, Cell, Sweep

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


def decide(sweep: Sweep, calibrations: Iterable[Calibration], task: str) -> Decision:
    """Say whether a task's calibrated rule may be deployed.

    A rule may not when nothing tells whether it detects stalls, when it only watches, when its score is not
    better than the controls, when on the certifying problems it hit nothing, broke its promise or lost more
    than it saved, when choosing it anew on parts of the problems may be luck, or when a step limit saves as
    much. One that setup may explain may flag, not stop.

    Examples
    --------
    >>> from driftlab.sweep import sweep
    >>> from driftlab.trace import Step, Trace
    >>> found = sweep([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"])
    >>> decide(found, [], "").headline
    'No rule was calibrated on all traces.'
    """
    mine = [found for found in calibrations if found.rule.task in (None, task)]
    if not mine:
        return Decision(task, "no rule", _without_rule(sweep, task))
    found = min(mine, key=lambda each: each.rule.task is None)
    cell = next((c for c in sweep.cells if c.task == task and c.detector == found.rule.detector), None)
    against = _against(sweep, found, task, cell)
    if against:
        return Decision(task, "do not deploy", against)
    verdict = _strict_verdict(sweep, cell)
    if "not explained by setup" in verdict:
        return Decision(task, "deploy", _numbers(found))
    doubt = verdict.partition("; ")[2] or "its detector is not in this sweep, so the controls were not run on it"
    return Decision(task, "flag", f"{_numbers(found)} But: {doubt}.")


def _against(sweep: Sweep, found: Calibration, task: str, cell: Cell | None) -> str:
    """The first reason not to deploy; empty when there is none."""
    why, verdict = why_not(sweep, task), _strict_verdict(sweep, cell)
    if why:
        return f"Nobody can tell whether a rule detects stalls here: {why}."
    if found.rule.watch_only:
        return f"The rule can only watch: {found.rule.evidence.get('why', 'no threshold keeps the limit')}."
    if cell is not None and not verdict.startswith("beats"):
        return f"Its score is no evidence of a stall: {verdict}."
    return _against_tally(found) or _against_steps(sweep, found, task)


def _against_tally(found: Calibration) -> str:
    tally, limit = found.tally, _limit(found)
    if not tally.n_stalled:
        return "No stalled trace was left to try the rule on: what it catches is unknown."
    if not tally.hit:
        return f"It hit none of {counted(tally.n_stalled, 'stall')} it was tried on."
    if tally.n_good and proportion(tally.false_stop, tally.n_good, "beta")[0] > limit:
        stopped = f"{tally.false_stop} of {tally.n_good} good traces stopped"
        return f"It broke its promise: {stopped}, {share_text(limit)} allowed."
    if tally.lost_steps >= tally.saved_steps:
        return f"It loses {tally.lost_steps} steps of good traces and saves {tally.saved_steps} of stalled ones."
    again = found.nested
    if again is not None and not again.why and not again.stable:
        low, high = again.intervals["youden"]
        index = interval_text(again.youden, low, high)
        return f"There are too few traces to choose from: Youden's index on problems left out is {index}, maybe luck."
    return ""


def _limit(found: Calibration) -> float:
    return float(found.provenance.get("max_false_stop", LIMIT))


def _against_steps(sweep: Sweep, found: Calibration, task: str) -> str:
    limit = _limit(found)
    counter = next((cell for cell in sweep.cells if cell.task == task and is_steps(cell)), None)
    if counter is None:
        return ""
    saved = saved_at(counter, limit)
    if saved < found.tally.saved:
        return ""
    return (
        f"Counting steps does as well: a step limit within {share_text(limit)} false stops saves "
        f"{share_text(saved)} of "
        f"stalled steps, the rule {share_text(found.tally.saved)}."
    )


def saved_at(cell: Cell, limit: float) -> float:
    """Return the largest share saved by a threshold within a false-stop limit on the cell's own traces; 0 for none."""
    within = cell.curve.false_stop_rate <= limit
    return float(cell.curve.saved[within].max(initial=0.0))


def _strict_verdict(sweep: Sweep, cell: Cell | None) -> str:
    """The verdict of the cell's metric that allows for the choice among accumulators; empty without a cell."""
    if cell is None or not cell.verdict.startswith("beats"):
        return cell.verdict if cell is not None else ""
    return next((c.verdict for c in best_of(sweep, cell.task) if spec(c) == spec(cell)), cell.verdict)


def _without_rule(sweep: Sweep, task: str) -> str:
    why, best = why_not(sweep, task), leader(best_of(sweep, task))
    if why:
        return f"Nothing can be deployed: {why}."
    if best is None or not best.verdict.startswith("beats"):
        return (
            "Nor would one be worth it: no metric tells stalls from good work better than counting steps and noise do."
        )
    area = f"AUC {auc_text(best)}, {best.verdict}"
    return f"The metric to calibrate is {label(best)}: {area}. Run dl.calibrate or driftlab calibrate."


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
