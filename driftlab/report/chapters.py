"""What the report says in words, computed from a sweep."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from driftlab._util.wording import counted, interval_text, number_text, share_text
from driftlab.evaluation.evaluation import Evaluation
from driftlab.evaluation.stats import FEW
from driftlab.report.decision import Decision, saved_at
from driftlab.report.document import Block, Bullets, Code, Table, Text
from driftlab.tuning.calibrate import Calibration
from driftlab.tuning.naming import auc_text, best_of, cell_name, is_steps, leader, task_name, why_not
from driftlab.tuning.sweep import LIMIT, Cell, Sweep

__all__ = ["certificate", "controls_say", "fooling", "in_short", "looked_at"]

RARE = 0.1  # share of stalled runs for which precision is told again


def in_short(sweep: Sweep, decisions: Iterable[Decision]) -> list[Block]:
    """What wins on each task, whether to deploy."""
    if not sweep.tasks:
        return [Text("There is no trace to judge.", strong="Do not deploy.")]
    winners = [_winner(sweep, task) for task in sweep.tasks]
    return [Bullets(winners), *(Text(each.reason, strong=each.headline) for each in decisions)]


def looked_at(sweep: Sweep) -> list[Block]:
    """How many traces of which kind there were, a task at a time."""
    heads = ["task", "traces", "stalled", "good", "in no rate", "problems", "setups", "shortest", "longest", "horizon"]
    rows = []
    for task, evaluation in sweep.evaluations.items():
        labels, lengths = evaluation.labels, evaluation.measurements.lengths
        stalled, good, n = int(labels.stalled.sum()), int(labels.good.sum()), len(lengths)
        counts = [n, stalled, good, n - stalled - good, len(set(evaluation.groups)), evaluation.setups]
        spread = [int(lengths.min(initial=0 if not n else lengths[0])), int(lengths.max(initial=0))]
        rows.append(
            [
                task_name(task),
                *map(str, [*counts, *spread]),
                "–" if evaluation.horizon is None else str(evaluation.horizon),
            ]
        )
    return [Table(heads, rows), Text(_horizon_words())]


def controls_say(sweep: Sweep) -> list[Block]:
    """What counting steps, noise, the setup reach, a task at a time."""
    return [Bullets([words for task in sweep.tasks for words in _controls(sweep, task)])]


def certificate(found: Calibration) -> list[Block]:
    """A calibrated rule, its evidence, the file to load where it does more than watch."""
    origin = found.provenance
    told = [f"{name.replace('_', ' ')} {value}" for name, value in origin.items()]
    chosen = f"How it was chosen: {', '.join(told) or 'not told'}."
    blocks: list[Block] = [Code(str(found)), Text(chosen)]
    return blocks if found.rule.watch_only else [*blocks, Text("The policy as it is saved:"), Code(found.policy.text())]


def fooling(sweep: Sweep, calibrations: Sequence[Calibration]) -> list[Block]:
    """What may make these numbers look better than the truth."""
    found = [words for task in sweep.tasks for words in _traps(sweep, task)]
    found += [words for each in calibrations for words in _rule_traps(each)]
    found += [
        "Failing is not stalling: a run may fail without repeating itself, and a run that repeats itself may still "
        "succeed. "
        "This report says only whether stalls are detected.",
        f"Precision, recall, saved steps and false stops of the tables are quoted at a threshold chosen on the same "
        f"traces "
        f"(at most {share_text(LIMIT)} false stops there): they describe these traces, only a calibrated rule makes "
        f"a promise.",
        "A threshold holds for the agent, the kind of work and the masks it was measured with; after a change of "
        "any, calibrate again.",
        "Labels are opinions: two people who label the same runs agree on about nine of ten, so no detector can "
        "look perfect.",
    ]
    return [Bullets(found)]


def _winner(sweep: Sweep, task: str) -> str:
    why, name = why_not(sweep, task), task_name(task)
    if why:
        return f"{name}: cannot be judged, {why}."
    cells = [cell for cell in best_of(sweep, task) if not is_steps(cell) and not math.isnan(cell.ranked.auc)]
    best = leader(cells)
    if best is None:
        return f"{name}: no metric may be judged by these labels."
    beats = sum(cell.verdict.startswith("beats") for cell in cells)
    if not beats:
        most = f"The highest, {cell_name(best)}, reaches AUC {auc_text(best)}: {best.verdict}."
        return f"{name}: no metric is better than its controls. {most}"
    words = best.verdict.partition("; ")[2]
    how = f" with {best.accumulator}" if best.accumulator else ""
    return (
        f"{name}: {cell_name(best)}{how} tells stalls best, AUC {auc_text(best)}, "
        f"{words}. "
        f"{beats} of {counted(len(cells), 'metric')} {'is' if beats == 1 else 'are'} better than counting steps and "
        f"than noise."
    )


def _controls(sweep: Sweep, task: str) -> Iterable[str]:
    evaluation, name = sweep.evaluations[task], task_name(task)
    if evaluation.undefined:
        yield f"{name}: {evaluation.undefined}."
        return
    yield from _steps_say(sweep, task)
    best = leader(best_of(sweep, task))
    if best is not None:
        placebo = evaluation.placebo(best.detector)
        area = interval_text(placebo.auc, *placebo.interval())
        yield f"{name}, placebo: noise through the same accumulator ranks at AUC {area}."
    yield f"{name}, setup: {_setup_says(evaluation)}."


def _setup_says(evaluation: Evaluation) -> str:
    setup = evaluation.setup()
    if not math.isnan(setup.auc):
        return f"who produced the run ranks at AUC {interval_text(setup.auc, *setup.interval())}"
    return (
        "cannot be told, there is only one" if evaluation.setups < 2 else "cannot be told, too few traces of one fold"
    )


def _steps_say(sweep: Sweep, task: str) -> Iterable[str]:
    for counter in (cell for cell in sweep.cells if cell.task == task and is_steps(cell)):
        area, saved = number_text(counter.auc_trace), share_text(saved_at(counter, LIMIT))
        yield (
            f"{task_name(task)}, steps: counting them ranks whole traces at AUC {area} and saves {saved} of stalled "
            f"steps within {share_text(LIMIT)} false stops; at equal age it is 0.50."
        )


def _traps(sweep: Sweep, task: str) -> Iterable[str]:
    evaluation, name = sweep.evaluations[task], task_name(task)
    labelled = [info for info in evaluation.measurements.infos if info.label in ("good", "stalled")]
    if labelled:
        sources = Counter(info.label_source or "(not told)" for info in labelled)
        made = ", ".join(f"{source} {count}" for source, count in sorted(sources.items()))
        knows = "A label made from a signal or a rule knows only what that signal or rule knows."
        yield f"{name}: who made the labels: {made}. {knows}"
    unused = int((~evaluation.labels.stalled & ~evaluation.labels.good).sum())
    if unused:
        yield f"{name}: {counted(unused, 'trace')} without a usable label {'is' if unused == 1 else 'are'} in no rate."
    best = leader(best_of(sweep, task))
    if not evaluation.undefined and best is not None:
        yield from _chosen_traps(best, name)


def _chosen_traps(best: Cell, name: str) -> Iterable[str]:
    yield (
        f"{name}: the accumulator of {cell_name(best)} is the best of {best.tried} tried on the same traces; its "
        "verdict allows for that, its AUC does not."
    )
    stalled, good = best.ranked.problems
    if min(stalled, good) < FEW:
        yield (
            f"{name}: only {counted(stalled, 'problem')} of stalled and {good} of good traces are compared; "
            f"intervals are wide, and the figures show no band."
        )
    yield from _rarer(best, name)


def _rarer(cell: Cell, name: str) -> Iterable[str]:
    """Precision where stalls are rarer than in these traces."""
    found = cell.curve
    place = next((i for i, x in enumerate(found.thresholds) if x == found.at_limit(LIMIT)), None)
    prevalence = found.n_stalled / (found.n_stalled + found.n_good)
    if place is None or not found.hit[place] or prevalence <= RARE:
        return
    hit, wrong = found.hit[place] / found.n_stalled, (found.premature[place] + found.late[place]) / found.n_stalled
    stops = found.false_stop_rate[place]
    rare = RARE * hit / (RARE * (hit + wrong) + (1 - RARE) * stops)
    yield (
        f"{name}: precision depends on how many runs stall. Here {share_text(prevalence)} of the labelled ones do "
        f"and {cell_name(cell)} has "
        f"{found.precision[place]:.2f}; where {share_text(RARE)} do, the same rule would have {rare:.2f}."
    )


def _rule_traps(found: Calibration) -> Iterable[str]:
    name, tally = task_name(found.rule.task), found.tally
    if tally.premature:
        yield f"{name}: {counted(tally.premature, 'alarm')} of the rule came before the marked onset: wrong."
    if tally.undetectable:
        short = counted(tally.undetectable, "stall")
        yield f"{name}: on the certifying problems {short} ended before the rule's patience: missed."
    tried = len(found.candidates)
    yield f"{name}: the rule is the best of {tried} tried on other problems; that choice is not in its interval."


def _horizon_words() -> str:
    return (
        "Ranking compares a stalled trace, over the first horizon steps from its onset, with every good trace of "
        "its task that still "
        "runs then, over the same steps. So no score gains by runs being long. A setting whose patience exceeds the "
        "horizon is unreachable."
    )
