"""driftlab inspect: what a file of traces holds."""

import json

import typer

from driftlab.cli.options import AsJson, Signal, Skip, Traces, read_traces

__all__ = ["inspect"]


def inspect(
    traces: Traces,
    as_json: AsJson = False,
    signal: Signal = [],  # noqa: B006 (typer reads the default, nobody changes it)
    skip_broken: Skip = False,
) -> None:
    """Count what a file holds: traces, labels and their sources, tasks, problems, signals, missing fields.

    Example: driftlab inspect data/demo/loops.jsonl
    """
    found = read_traces(traces, signal, skip_broken).summary()
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))
