"""Commands that study traces: sweep, report, calibrate."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from driftlab.calibrate import calibrate as find_rule
from driftlab.calibrate.calibration import Calibration, policy_of
from driftlab.calibrate.choose import WORTHS
from driftlab.cli.options import (
    CacheFolder,
    Folder,
    Jobs,
    Limit,
    MetricSpec,
    Prevalence,
    Prices,
    Signal,
    Skip,
    Traces,
    new_file,
    priced,
    read_traces,
)
from driftlab.corpus import Corpus
from driftlab.detectors import Plateau
from driftlab.errors import InputError
from driftlab.provenance import data_hash
from driftlab.spec import between
from driftlab.sweep import Sweep
from driftlab.sweep import sweep as rank

app = typer.Typer()


@app.command()
def sweep(
    traces: Traces,
    output: Folder = Path("study"),
    metric: MetricSpec = [],  # noqa: B006 (typer reads the default, nobody changes it)
    max_false_stop: Limit = 0.05,
    price: Prices = "",
    prevalence: Prevalence = None,
    signal: Signal = [],  # noqa: B006
    skip_broken: Skip = False,
    cache: CacheFolder = None,
    jobs: Jobs = 1,
) -> None:
    """Rank every metric at every patience and threshold; write table, figures and report.

    Example: driftlab sweep data/demo/loops.jsonl -o study/ -m exact -m levenshtein -m signal
    """
    fleet = {"price": priced(price, prevalence), "prevalence": prevalence}
    corpus = read_traces(traces, signal, skip_broken)
    _study(corpus, output, metric, max_false_stop, fleet, calibrated=False, cache=cache, n_jobs=jobs)


@app.command()
def report(
    traces: Traces,
    output: Folder = Path("study"),
    metric: MetricSpec = [],  # noqa: B006
    max_false_stop: Limit = 0.05,
    price: Prices = "",
    prevalence: Prevalence = None,
    signal: Signal = [],  # noqa: B006
    skip_broken: Skip = False,
    cache: CacheFolder = None,
    jobs: Jobs = 1,
) -> None:
    """Sweep, calibrate a rule for each task, and write one report with its evidence and its errors.

    Example: driftlab report data/demo/loops.jsonl -o study/ -m exact -m levenshtein -m signal
    """
    between("--max-false-stop", max_false_stop, 0, 1, words=", neither of them")
    fleet = {"price": priced(price, prevalence), "prevalence": prevalence}
    corpus = read_traces(traces, signal, skip_broken)
    _study(corpus, output, metric, max_false_stop, fleet, calibrated=True, cache=cache, n_jobs=jobs)


def _study(corpus: Corpus, output: Path, metric: list[str], limit: float, fleet: dict[str, Any], **how: Any) -> None:
    from driftlab.report import report as write_report  # noqa: PLC0415 (loads matplotlib)
    from driftlab.report import text_table  # noqa: PLC0415

    calibrated = how.pop("calibrated")
    found = rank(corpus, metric or None, progress=sys.stderr.isatty(), **how)
    typer.echo(text_table(found.best(max_false_stop=limit)))
    for note in found.notes:
        typer.echo(f"note: {note}")
    tasks = _tasks(found.tasks) if calibrated and found.tasks else []
    rules = [_rule(found, corpus, task, max_false_stop=limit, worth=fleet["price"] or "saved") for task in tasks]
    for task, rule in zip(tasks, rules, strict=True):
        typer.echo(f"\n{task or 'all traces'}\n{rule}")
    _tell_untold(corpus, tasks)
    written = write_report(found, rules, corpus=corpus, folder=output, **fleet)
    shown = ", ".join(str(path) for path in written[:4])
    typer.echo(f"\nwritten: {shown}, {len(written) - 4} figures in {output / 'figures'}")


def _rule(found: Sweep, corpus: Corpus, task: str | None, **options: Any) -> Calibration:
    """Calibrate on what the sweep has measured: no text is compared again. The data's hash stays that of the text."""
    cells = [cell for cell in found.cells if cell.task == (task or "") and not cell.blank]
    metrics = list(dict.fromkeys(cell.detector.metric for cell in cells if isinstance(cell.detector, Plateau)))
    made = find_rule(found.evaluations[task or ""].measurements, task=task, metrics=metrics, **options)
    hashed = data_hash(trace for trace in corpus if task is None or trace.task == task)
    return replace(made, provenance=made.provenance | {"data": hashed})


def _tasks(named: Iterable[str]) -> list[str | None]:
    """Return the kinds of work that get a rule each; where no trace has a task, all traces together get one."""
    return [*filter(None, named)] or [None]


def _tell_untold(corpus: Corpus, tasks: Sequence[str | None]) -> None:
    """Say how many traces are in none of the tasks for want of one: a rule for any task would judge the others too."""
    untold = sum(not trace.task for trace in corpus) if any(tasks) else 0
    if untold:
        without = f"{untold} traces have no task: they tuned nothing and no rule is for them"
        typer.echo(f"note: {without}; give them a task, or give none to any trace")


@app.command()
def calibrate(
    traces: Traces,
    output: Annotated[Path, typer.Option("-o", "--output", help="Policy file to write.", callback=new_file)] = Path(
        "rule.toml"
    ),
    max_false_stop: Limit = 0.05,
    task: Annotated[str | None, typer.Option(help="Only this kind of work. Default: one rule a task.")] = None,
    promise: Annotated[str, typer.Option(help="mean: on average; confident: with 90 % confidence.")] = "mean",
    worth: Annotated[str, typer.Option(help=f"What decides among rules: {', '.join(WORTHS)}.")] = "saved",
    nudge: Annotated[float | None, typer.Option(help="A larger limit: a second threshold that only nudges.")] = None,
    price: Prices = "",
    prevalence: Prevalence = None,
    metric: MetricSpec = [],  # noqa: B006
    signal: Signal = [],  # noqa: B006
    skip_broken: Skip = False,
    cache: CacheFolder = None,
    jobs: Jobs = 1,
) -> None:
    """Choose metric, patience and threshold for a false-stop limit; write the tuned policy.

    Example: driftlab calibrate data/demo/loops.jsonl --max-false-stop 0.05 -m levenshtein -m signal -o rule.toml
    """
    between("--max-false-stop", max_false_stop, 0, 1, words=", neither of them")
    if promise not in ("mean", "confident"):
        raise InputError(f"--promise must be 'mean' or 'confident', got {promise!r}")
    prices = priced(price, prevalence)
    if prices is not None and worth != "saved":
        raise InputError(f"--price and --worth {worth} both say what decides among rules; give one of them")
    corpus = read_traces(traces, signal, skip_broken)
    tasks = _tasks(sorted({trace.task or "" for trace in corpus})) if task is None else [task]
    options: dict[str, Any] = {"metrics": metric or None, "cache": cache, "n_jobs": jobs}
    options |= {"max_false_stop": max_false_stop, "promise": cast(Literal["mean", "confident"], promise)}
    options |= {"worth": prices or worth, "nudge": nudge}
    found = [find_rule(corpus, task=name, **options) for name in tasks]
    for name, each in zip(tasks, found, strict=True):
        fine, reasons = each.advice(prevalence=prevalence, price=prices)
        against = [] if fine else [f"advice      {reason}" for reason in reasons]
        typer.echo("\n".join([name or "all traces", str(each), *against, ""]))
    if task is None:
        _tell_untold(corpus, tasks)
    policy_of(found).save(output)
    typer.echo(f"written: {output}")
