"""driftlab calibrate: a rule for a false-stop limit."""

from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from driftlab._util.errors import InputError
from driftlab._util.spec import between
from driftlab.cli.options import (
    CacheFolder,
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
from driftlab.cli.study import note_untold, tasks_of
from driftlab.tuning.calibrate import calibrate as find_rule
from driftlab.tuning.calibration import policy_of
from driftlab.tuning.objective import OBJECTIVES

__all__ = ["calibrate"]


def calibrate(
    traces: Traces,
    output: Annotated[Path, typer.Option("-o", "--output", help="Policy file to write.", callback=new_file)] = Path(
        "rule.toml"
    ),
    max_false_stop: Limit = 0.05,
    task: Annotated[str | None, typer.Option(help="Only this kind of work. Default: one rule a task.")] = None,
    promise: Annotated[str, typer.Option(help="mean: on average; confident: with 90 % confidence.")] = "mean",
    objective: Annotated[str, typer.Option(help=f"What decides among rules: {', '.join(OBJECTIVES)}.")] = "saved",
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
    if prices is not None and objective != "saved":
        raise InputError(f"--price and --objective {objective} both say what decides among rules; give one of them")
    corpus = read_traces(traces, signal, skip_broken)
    tasks = tasks_of(sorted({trace.task or "" for trace in corpus})) if task is None else [task]
    options: dict[str, Any] = {"metrics": metric or None, "cache": cache, "n_jobs": jobs}
    options |= {"max_false_stop": max_false_stop, "promise": cast(Literal["mean", "confident"], promise)}
    options |= {"objective": prices or objective, "nudge": nudge}
    found = [find_rule(corpus, task=name, **options) for name in tasks]
    for name, each in zip(tasks, found, strict=True):
        fine, reasons = each.advice(prevalence=prevalence, price=prices)
        against = [] if fine else [f"advice      {reason}" for reason in reasons]
        typer.echo("\n".join([name or "all traces", str(each), *against, ""]))
    if task is None:
        note_untold(corpus, tasks)
    policy_of(found).save(output)
    typer.echo(f"written: {output}")
