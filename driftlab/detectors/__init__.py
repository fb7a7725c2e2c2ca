"""The registry of detectors: a new one is a dataclass in this folder, a line here."""

from driftlab._util.registry import Registry
from driftlab._util.spec import parse, unknown
from driftlab.detectors.accumulators import ACCUMULATORS, Accumulator, Ewma, Run
from driftlab.detectors.base import Detector, Evidence, evidence_at, first_alarms, needed, score
from driftlab.detectors.calls import ErrorStreak, Redo, SameCall
from driftlab.detectors.counts import NodeVisits, ToolEntropy
from driftlab.detectors.cycles import Cycle, Oscillation
from driftlab.detectors.deltas import NetChange, Plateau, Revisit, RunLength
from driftlab.detectors.learned import Learned
from driftlab.detectors.one_trace import ScoredTrace, score_trace
from driftlab.detectors.signals import AfterDone, Flat, Regression
from driftlab.detectors.structure import DeadEnd, IllegalTransition, StepCount
from driftlab.detectors.stuck import Stuck
from driftlab.detectors.symbols import ActionNovelty, Recurring, StateUnchanged
from driftlab.detectors.talk import Idle, Phrases
from driftlab.detectors.within import Within
from driftlab.metrics import METRICS
from driftlab.metrics.columns.context import Context
from driftlab.metrics.columns.transitions import learn_transitions

DETECTORS: Registry[type[Detector]] = Registry(
    "detector",
    (
        (kind.name, kind)
        for kind in (
            ActionNovelty,
            AfterDone,
            Cycle,
            DeadEnd,
            ErrorStreak,
            Flat,
            Idle,
            IllegalTransition,
            NetChange,
            NodeVisits,
            Oscillation,
            Plateau,
            Recurring,
            Redo,
            Regression,
            Phrases,
            Revisit,
            RunLength,
            SameCall,
            StateUnchanged,
            StepCount,
            Stuck,
            ToolEntropy,
        )
    ),
)


# Made by a policy or learned from traces: never swept by themselves.
MADE: dict[str, type] = {"context": Context, "learned": Learned, "within": Within}

# One setting of each that people know or ship, with the threshold at which it fires. Notebook 03 shows them.
USUAL: dict[str, float] = {
    "plateau(levenshtein(view='output'), run(3))": 0.9,
    "revisit(jaccard(view='call'), run(3))": 0.9,
    "oscillation(exact(view='call'), run(6))": 0.9,
    "net_change(levenshtein, 5)": 0.95,
    "run_length(exact(view='call'))": 3 / 4,
    "stuck": 0.6,
    "action_novelty": 6 / 7,
    "state_unchanged(5)": 1.0,
    "tool_entropy": 0.6,
    "same_call(3)": 1.0,
    "redo(4)": 1.0,
    "recurring(5, 12)": 1.0,
    "cycle": 1.0,
    "error_streak(4)": 1.0,
    "node_visits(4)": 1.0,
    "phrases(5)": 1.0,
    "idle(8)": 1.0,
    "flat(10)": 1.0,
    "regression(3)": 1.0,
    "after_done(3)": 1.0,
    "illegal_transition": 1.0,
    "dead_end": 1.0,
    "steps": 20 / 21,
}


def detector(spec: str | Detector) -> Detector:
    """Return the detector that a spec names.

    Parameters
    ----------
    spec : str or Detector
        For example ``"plateau(levenshtein(view='action'), run(3))"``; a detector is returned as it is.

    Raises
    ------
    InputError
        When a name or a parameter is unknown, or a value is not allowed.

    Examples
    --------
    >>> detector("plateau(exact, ewma(0.6))")
    plateau(exact, ewma(0.6))
    """
    if isinstance(spec, Detector):
        return spec
    parsed = parse(spec, {**METRICS, **ACCUMULATORS, **DETECTORS, **MADE}, "detector")
    if not isinstance(parsed, Detector):
        raise unknown("detector", parsed.name, DETECTORS)
    return parsed


__all__ = [
    "ACCUMULATORS",
    "DETECTORS",
    "USUAL",
    "Accumulator",
    "ActionNovelty",
    "AfterDone",
    "Context",
    "Cycle",
    "DeadEnd",
    "Detector",
    "ErrorStreak",
    "Evidence",
    "Ewma",
    "Flat",
    "Idle",
    "IllegalTransition",
    "Learned",
    "NetChange",
    "NodeVisits",
    "Oscillation",
    "Phrases",
    "Plateau",
    "Recurring",
    "Redo",
    "Regression",
    "Revisit",
    "Run",
    "RunLength",
    "SameCall",
    "ScoredTrace",
    "StateUnchanged",
    "StepCount",
    "Stuck",
    "ToolEntropy",
    "Within",
    "detector",
    "evidence_at",
    "first_alarms",
    "learn_transitions",
    "needed",
    "score",
    "score_trace",
]
