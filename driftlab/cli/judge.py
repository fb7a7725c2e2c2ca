"""Commands that judge: a rule on held-out traces, on other sources, two annotators by each other."""

import json
from pathlib import Path
from typing import Annotated

import typer

from driftlab.calibrate.gate import gate as judge
from driftlab.calibrate.transfer import leave_one_out
from driftlab.calibrate.transfer import transfer as try_elsewhere
from driftlab.cli.options import AsJson, Limit, MetricSpec, Rule, Signal, Skip, Traces, read_traces
from driftlab.corpus import read
from driftlab.evaluate.agreement import TOLERANCE, agreement
from driftlab.rule import Policy

app = typer.Typer()


@app.command()
def gate(
    rule: Rule,
    traces: Traces,
    min_recall: Annotated[float | None, typer.Option(help="What the lower bound of recall must reach.")] = None,
    max_false_stop: Annotated[float | None, typer.Option(help="What the upper bound of false stops may reach.")] = None,
    min_saved: Annotated[float | None, typer.Option(help="Share of stalled steps that must be saved.")] = None,
    as_json: AsJson = False,
    skip_broken: Skip = False,
) -> None:
    """Judge a rule on held-out traces by confidence bounds; exit with 1 and the reason when it fails.

    Example: driftlab gate --max-false-stop 0.1 data/rules/demo.toml data/demo/loops.jsonl
    """
    corpus = read_traces(traces, [], skip_broken)
    policy = Policy.load(rule)
    found = judge(policy, corpus, min_recall=min_recall, max_false_stop=max_false_stop, min_saved=min_saved)
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))
    raise typer.Exit(found.exit_code)


@app.command()
def transfer(
    traces: Traces,
    by: Annotated[str, typer.Option(help="task, agent, setup or source.")] = "source",
    left_out: Annotated[bool, typer.Option("--left-out", help="Tune on all but one instead of on one.")] = False,
    metric: MetricSpec = [],  # noqa: B006 (typer reads the default, nobody changes it)
    max_false_stop: Limit = 0.05,
    signal: Signal = [],  # noqa: B006
    skip_broken: Skip = False,
) -> None:
    """Show what a rule tuned on some runs does on others: thresholds rarely travel.

    Example: driftlab transfer data/demo/loops.jsonl --by task -m exact -m levenshtein
    """
    corpus = read_traces(traces, signal, skip_broken)
    tried = leave_one_out if left_out else try_elsewhere
    found = tried(corpus, by, metric or None, max_false_stop=max_false_stop)
    shown = ["tuned_on", "tried_on", "recall", "saved", "false_stop_rate", "n_stalled", "n_good", "detector", "note"]
    typer.echo(found[shown].to_string(index=False, float_format="{:.3f}".format, na_rep="-"))


@app.command()
def agree(
    first: Annotated[Path, typer.Argument(help="Traces with the labels of one annotator.")],
    second: Annotated[Path, typer.Argument(help="The same traces with the labels of another.")],
    tolerance: Annotated[int, typer.Option(help="How many steps two onsets may be apart.")] = TOLERANCE,
    as_json: AsJson = False,
) -> None:
    """Show how far two annotators agree: labels, kappa, onsets, the disputed traces.

    Example: driftlab agree data/demo/loops.jsonl data/demo/loops.jsonl
    """
    found = agreement(read(first), read(second), tolerance=tolerance)
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))
