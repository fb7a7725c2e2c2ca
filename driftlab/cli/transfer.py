"""driftlab transfer: what a rule tuned on some runs does on others."""

from typing import Annotated

import typer

from driftlab.cli.options import Limit, MetricSpec, Signal, Skip, Traces, read_traces
from driftlab.tuning.transfer import transfer as try_elsewhere

__all__ = ["transfer"]


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
    table = try_elsewhere(corpus, by, metric or None, left_out=left_out, max_false_stop=max_false_stop)
    shown = ["tuned_on", "tried_on", "recall", "saved", "false_stop_rate", "n_stalled", "n_good", "detector", "note"]
    typer.echo(table[shown].to_string(index=False, float_format="{:.3f}".format, na_rep="-"))
