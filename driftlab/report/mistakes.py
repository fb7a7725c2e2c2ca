"""The most instructive errors of a rule, step by step."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np

from driftlab._util.wording import counted, number_text
from driftlab.detectors import evidence_at
from driftlab.evaluation.labels import Floats, Ints, Labels, outcomes
from driftlab.metrics import Metric
from driftlab.metrics.measurements import Measurements
from driftlab.report.document import Block, Table, Text
from driftlab.rules.policy import StopRule
from driftlab.trace.schema import Step, Trace
from driftlab.trace.views import MASKS, view_text

__all__ = ["Mistake", "excerpt", "instructive", "mistakes", "told"]

KINDS = ("false stop", "miss", "premature", "late")
CUT = 200  # characters of an excerpt
ROWS = 8  # steps shown of one run


@dataclass(frozen=True)
class Mistake:
    """One wrong answer of a rule.

    Attributes
    ----------
    rule : StopRule
    measured : Measurements
        Where the trace is number `place`.
    place : int
    kind : {"false stop", "miss", "premature", "late"}
    alarm : int
        -1 for none.
    cost : int
        Steps it is wrong by: lost after a false stop, stalled and unnoticed, too early, too late.
    """

    rule: StopRule
    measured: Measurements
    place: int
    kind: str
    alarm: int
    cost: int

    @property
    def trace_id(self) -> str:
        """Which run it was."""
        return self.measured.infos[self.place].id


def mistakes(rule: StopRule, measured: Measurements) -> dict[str, list[Mistake]]:
    """Return a rule's errors by kind, the costliest first.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> traces = [Trace(id="a", label="good", steps=[Step(state="x")] * 4)]
    >>> found = mistakes(StopRule("plateau(exact, run(1))", 1.0), measure(traces, ["exact"]))
    >>> [(m.trace_id, m.alarm, m.cost) for m in found["false stop"]]
    [('a', 1, 2)]
    """
    labels = Labels.of(measured.infos, measured.lengths)
    alarms = rule.alarms(measured)
    named, costs = outcomes(alarms, labels), _costs(alarms, labels)
    found = {}
    for kind in KINDS:
        rows = sorted(np.flatnonzero(named == kind), key=lambda i: (-costs[kind][i], measured.infos[i].id))
        found[kind] = [Mistake(rule, measured, int(i), kind, int(alarms[i]), int(costs[kind][i])) for i in rows]
    return found


def instructive(groups: Iterable[Mapping[str, list[Mistake]]], most: int = 10) -> list[Mistake]:
    """Take in turn from every rule and kind, the costliest of each first."""
    queues = [found[kind] for found in groups for kind in KINDS]
    turns = chain.from_iterable(zip_longest(*queues))
    return [mistake for mistake in turns if mistake is not None][:most]


def told(mistake: Mistake, trace: Trace) -> list[Block]:
    """Return one error in words, with the steps it turned on."""
    start = int(mistake.measured.offsets[mistake.place])
    scores = mistake.rule.detector.scores(mistake.measured.take([mistake.place]))
    deltas = [each for each in mistake.rule.detector.needs if isinstance(each, Metric)]
    rows = []
    for t in _steps(mistake, trace):
        delta = float(mistake.measured.deltas(deltas[0])[start + t]) if deltas else None
        mark = " ◀ alarm" if t == mistake.alarm else " ◀ onset" if t == trace.onset else ""
        did, said = _excerpts(trace.steps[t])
        rows.append([f"{t}{mark}", did, said, number_text(delta), number_text(float(scores[t]))])
    return [
        Text(_sentence(mistake, trace, scores)),
        Table(["step", "did", "came back", "delta", "score"], rows, words=3, prose=True),
    ]


def excerpt(text: str | None, cut: int = CUT) -> str:
    """Return a text on one line without invisible characters, at most `cut` characters.

    Examples
    --------
    >>> excerpt("a\\n\\tb\\u202e\\x1b[31mc"), len(excerpt("x" * 500))
    ('a bc', 200)
    """
    clean = MASKS["terminal"](text or "")
    line = " ".join("".join(c if unicodedata.category(c)[0] != "C" else " " for c in clean).split())
    return line if len(line) <= cut else f"{line[: cut - 1]}…"


def _costs(alarms: Ints, labels: Labels) -> dict[str, Ints]:
    late = alarms - labels.onset
    return {
        "false stop": labels.lengths - 1 - alarms,
        "miss": labels.end - labels.onset,
        "premature": -late,
        "late": late,
    }


def _steps(mistake: Mistake, trace: Trace) -> Sequence[int]:
    """The steps the alarm rests on and the next; of a miss the first of the stall."""
    if mistake.alarm < 0:
        first = max(0, (trace.onset or 0) - 1)
        return range(first, min(len(trace.steps), first + ROWS))
    rests = evidence_at(mistake.rule.detector, mistake.measured, mistake.place, mistake.alarm).steps
    wanted = [t for t in dict.fromkeys([*rests[-(ROWS - 1) :], mistake.alarm]) if t >= 0]
    return [*wanted, mistake.alarm + 1] if mistake.alarm + 1 < len(trace.steps) else wanted


def _sentence(mistake: Mistake, trace: Trace, scores: Floats) -> str:
    cost, alarm = counted(mistake.cost, "step"), mistake.alarm
    words = {
        "false stop": f"The run was good and would have been cut at step {alarm}, {cost} before its end.",
        "premature": f"The alarm at step {alarm} came {cost} before the stall began.",
        "late": f"The alarm at step {alarm} came {cost} after the onset, when the stall was over.",
        "miss": f"The stall of {cost} from step {trace.onset} raised no alarm.",
    }[mistake.kind]
    names = [f"{name} {value}" for name in ("task", "problem", "setup") if (value := getattr(trace, name))]
    where = excerpt(", ".join([*names, counted(len(trace.steps), "step")]))
    return f"{words} {_reason(mistake, trace, scores)} ({where})"


def _reason(mistake: Mistake, trace: Trace, scores: Floats) -> str:
    if mistake.kind == "miss":
        onset = trace.onset or 0
        peak = scores[onset : onset + mistake.cost].max(initial=0.0)
        return f"In it the score reached {peak:.3f}, the threshold is {mistake.rule.threshold:.3f}."
    evidence = evidence_at(mistake.rule.detector, mistake.measured, mistake.place, mistake.alarm)
    return f"What the detector saw: {evidence.words}."


def _excerpts(step: Step) -> tuple[str, str]:
    """What a step did and what came back, cut short."""
    said = step.thought if step.state is None or step.output is not None else step.state
    did = view_text(step, "action", MASKS["text"]) if step.has_call else said
    event = f"[{step.event}] " if step.event else ""
    back = step.output if step.output is not None else step.state if step.has_call else None
    return excerpt(f"{event}{did or ''}"), excerpt(back)
