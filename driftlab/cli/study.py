"""What `sweep` and `report` do alike: rank, calibrate where asked, write."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from driftlab.detectors import Plateau
from driftlab.rules.provenance import data_hash
from driftlab.trace.corpus import Corpus
from driftlab.tuning.calibrate import calibrate as find_rule
from driftlab.tuning.calibration import Calibration
from driftlab.tuning.objective import Price
from driftlab.tuning.sweep import Sweep
from driftlab.tuning.sweep import sweep as rank

__all__ = ["note_untold", "study", "tasks_of"]


def study(corpus: Corpus, output: Path, metric: list[str], limit: float, fleet: dict[str, Any], **how: Any) -> None:
    from driftlab.report import report as write_report  # noqa: PLC0415 (loads matplotlib)
    from driftlab.report import text_table  # noqa: PLC0415

    calibrated = how.pop("calibrated")
    found = rank(corpus, metric or None, progress=sys.stderr.isatty(), **how)
    typer.echo(text_table(found.best(max_false_stop=limit)))
    for note in found.notes:
        typer.echo(f"note: {note}")
    tasks = tasks_of(found.tasks) if calibrated and found.tasks else []
    rules = [_rule(found, corpus, task, limit, fleet["price"] or "saved") for task in tasks]
    for task, rule in zip(tasks, rules, strict=True):
        typer.echo(f"\n{task or 'all traces'}\n{rule}")
    note_untold(corpus, tasks)
    written = write_report(found, rules, corpus=corpus, folder=output, **fleet)
    shown = ", ".join(str(path) for path in written[:4])
    typer.echo(f"\nwritten: {shown}, {len(written) - 4} figures in {output / 'figures'}")


def _rule(found: Sweep, corpus: Corpus, task: str | None, limit: float, objective: str | Price) -> Calibration:
    """Calibrate on what the sweep has measured: no text is compared again. The data's hash stays that of the text."""
    cells = [cell for cell in found.cells if cell.task == (task or "") and not cell.blank]
    metrics = list(dict.fromkeys(cell.detector.metric for cell in cells if isinstance(cell.detector, Plateau)))
    numbers = found.evaluations[task or ""].measurements
    made = find_rule(numbers, task=task, metrics=metrics, max_false_stop=limit, objective=objective)
    hashed = data_hash(trace for trace in corpus if task is None or trace.task == task)
    return replace(made, provenance=made.provenance | {"data": hashed})


def tasks_of(named: Iterable[str]) -> list[str | None]:
    """Return the kinds of work that get a rule each; where no trace has a task, all traces together get one."""
    return [*filter(None, named)] or [None]


def note_untold(corpus: Corpus, tasks: Sequence[str | None]) -> None:
    """Say how many traces are in none of the tasks for want of one: a rule for any task would judge the others too."""
    untold = sum(not trace.task for trace in corpus) if any(tasks) else 0
    if untold:
        without = f"{untold} traces have no task: they tuned nothing and no rule is for them"
        typer.echo(f"note: {without}; give them a task, or give none to any trace")
