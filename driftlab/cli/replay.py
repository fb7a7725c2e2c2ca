"""driftlab replay: a policy over finished runs."""

from pathlib import Path
from typing import Annotated

import typer

from driftlab._util.files import replacing
from driftlab.cli.options import Rule, Signal, Skip, Traces, new_file, read_traces
from driftlab.fleet.replay import replay as shadow
from driftlab.rules.policy import Policy

__all__ = ["replay"]


def replay(
    rule: Rule,
    traces: Traces,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file for one row a run.", callback=new_file)
    ] = None,
    signal: Signal = [],  # noqa: B006 (typer reads the default, nobody changes it)
    skip_broken: Skip = False,
) -> None:
    """Shadow run: which finished runs the policy would have stopped, where and why.

    Example: driftlab replay data/rules/demo.toml data/demo/loops.jsonl
    """
    found = shadow(Policy.load(rule), read_traces(traces, signal, skip_broken))
    for run in found.runs:
        if run.alarm is not None:
            typer.echo(f"{run.id}: {run.action} at step {run.alarm} of {run.steps} ({run.outcome}): {run.why}")
    typer.echo(str(found))
    if output is not None:
        with replacing(output) as temporary:
            found.table().to_csv(temporary, index=False)
        typer.echo(f"written: {output}")
