"""Commands that study traces: sweep, report, calibrate."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from driftlab.calibrate import calibrate as find_rule
from driftlab.calibrate.calibration import policy_of
from driftlab.cli.options import (
    CacheFolder,
    Folder,
    Jobs,
    Limit,
    MetricSpec,
    Signal,
    Skip,
    Traces,
    read_traces,
)
from driftlab.corpus import Corpus
from driftlab.errors import InputError
from driftlab.sweep import sweep as rank

app = typer.Typer()


@app.command()
def sweep(
    traces: Traces,
    output: Folder = Path("study"),
    metric: MetricSpec = [],  # noqa: B006 (typer reads the default, nobody changes it)
    max_false_stop: Limit = 0.05,
    signal: Signal = [],  # noqa: B006
    skip_broken: Skip = False,
    cache: CacheFolder = None,
    jobs: Jobs = 1,
) -> None:
    """Rank every metric at every patience and threshold; write table, figures and report.

    Example: driftlab sweep data/demo/loops.jsonl -o study/ -m exact -m levenshtein -m signal
    """
    corpus = read_traces(traces, signal, skip_broken)
    _study(corpus, output, metric, max_false_stop, calibrated=False, cache=cache, n_jobs=jobs)


@app.command()
def report(
    traces: Traces,
    output: Folder = Path("study"),
    metric: MetricSpec = [],  # noqa: B006
    max_false_stop: Limit = 0.05,
    signal: Signal = [],  # noqa: B006
    skip_broken: Skip = False,
    cache: CacheFolder = None,
    jobs: Jobs = 1,
) -> None:
    """Sweep, calibrate a rule for each task, and write one report with its evidence and its errors.

    Example: driftlab report data/demo/loops.jsonl -o study/ -m exact -m levenshtein -m signal
    """
    corpus = read_traces(traces, signal, skip_broken)
    _study(corpus, output, metric, max_false_stop, calibrated=True, cache=cache, n_jobs=jobs)


def _study(corpus: Corpus, output: Path, metric: list[str], limit: float, **how: Any) -> None:
    from driftlab.report import report as write_report  # noqa: PLC0415 (loads matplotlib)
    from driftlab.report import text_table  # noqa: PLC0415

    calibrated = how.pop("calibrated")
    if not 0 <= limit <= 1:
        raise InputError(f"--max-false-stop must be between 0 and 1, got {limit}")
    found = rank(corpus, metric or None, progress=sys.stderr.isatty(), **how)
    typer.echo(text_table(found.best(max_false_stop=limit)))
    for note in found.notes:
        typer.echo(f"note: {note}")
    tasks = [task or None for task in found.tasks if calibrated]
    rules = [find_rule(corpus, task=task, max_false_stop=limit, metrics=metric or None, **how) for task in tasks]
    for task, rule in zip(tasks, rules, strict=True):
        typer.echo(f"\n{task or 'all traces'}\n{rule}")
    written = write_report(found, rules, corpus=corpus, folder=output)
    shown = ", ".join(str(path) for path in written[:4])
    typer.echo(f"\nwritten: {shown}, {len(written) - 4} figures in {output / 'figures'}")


@app.command()
def calibrate(
    traces: Traces,
    output: Annotated[Path, typer.Option("-o", "--output", help="Policy file to write.")] = Path("rule.toml"),
    max_false_stop: Limit = 0.05,
    task: Annotated[str | None, typer.Option(help="Only this kind of work. Default: one rule a task.")] = None,
    promise: Annotated[str, typer.Option(help="mean: on average; confident: with 90 % confidence.")] = "mean",
    metric: MetricSpec = [],  # noqa: B006
    signal: Signal = [],  # noqa: B006
    skip_broken: Skip = False,
    cache: CacheFolder = None,
    jobs: Jobs = 1,
) -> None:
    """Choose metric, patience and threshold for a false-stop limit; write the tuned policy.

    Example: driftlab calibrate data/demo/loops.jsonl --max-false-stop 0.05 -m levenshtein -m signal -o rule.toml
    """
    if promise not in ("mean", "confident"):
        raise InputError(f"--promise must be 'mean' or 'confident', got {promise!r}")
    corpus = read_traces(traces, signal, skip_broken)
    known: list[str | None] = [*sorted({trace.task for trace in corpus if trace.task})]
    tasks = [task] if task is not None else known or [None]
    options: dict[str, Any] = {"metrics": metric or None, "cache": cache, "n_jobs": jobs}
    options |= {"max_false_stop": max_false_stop, "promise": cast(Literal["mean", "confident"], promise)}
    found = [find_rule(corpus, task=name, **options) for name in tasks]
    for name, each in zip(tasks, found, strict=True):
        typer.echo(f"{name or 'all traces'}\n{each}\n")
    untold = sum(not trace.task for trace in corpus) if task is None and known else 0
    if untold:
        typer.echo(f"note: {untold} traces have no task and tuned nothing; give them one, or all none")
    policy_of(found, corpus.signal_specs()).save(output)
    typer.echo(f"written: {output}")
