"""driftlab redact: traces without secrets."""

from pathlib import Path
from typing import Annotated

import typer

from driftlab.cli.options import Skip, Traces, new_traces, read_traces
from driftlab.trace.corpus import write
from driftlab.trace.redact import redact as cleaned

__all__ = ["redact"]


def redact(
    traces: Traces,
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.")] = Path("redacted.jsonl"),
    profile: Annotated[str, typer.Option(help="secrets, personal or strict.")] = "personal",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would be taken out; write nothing.")] = False,
    skip_broken: Skip = False,
) -> None:
    """Take secrets, names of people and paths out of traces.

    Example: driftlab redact data/demo/loops.jsonl --dry-run
    """
    if not dry_run:
        new_traces(output)
    found, report = cleaned(read_traces(traces, [], skip_broken), profile=profile, dry_run=dry_run)
    typer.echo(str(report))
    if not dry_run:
        write(found, output)
        typer.echo(f"written: {output}")
