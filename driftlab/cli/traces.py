"""Commands about traces: what a file holds, other formats, secrets, masks."""

import json
from pathlib import Path
from typing import Annotated

import typer

from driftlab.cli.options import AsJson, Signal, Skip, Traces, new_traces, read_traces
from driftlab.corpus import write
from driftlab.errors import InputError
from driftlab.importers import stream
from driftlab.importers.health import HealthReport
from driftlab.mask_report import mask_changes
from driftlab.redact import redact as cleaned

app = typer.Typer()


@app.command()
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


@app.command("import")
def import_(
    paths: Annotated[list[Path], typer.Argument(help="Logs of any known format; folders are searched.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.", callback=new_traces)] = Path(
        "traces.jsonl"
    ),
    format: Annotated[str | None, typer.Option(help="Force a format instead of recognising it.")] = None,
    extract: Annotated[list[str], typer.Option(help="Read task signals from outputs, for example pytest.")] = [],  # noqa: B006
    column: Annotated[list[str], typer.Option(help="FIELD=NAME, for plain JSON lines and CSV.")] = [],  # noqa: B006
    as_json: AsJson = False,
) -> None:
    """Turn logs of other tools into traces, with a report on their health.

    Exits with 1 when something was lost on the way: the report says what.

    Example: driftlab import tests/fixtures/openai_messages.jsonl -o traces.jsonl
    """
    missing = next((path for path in paths if not path.exists()), None)
    if missing is not None:
        raise InputError(f"{missing}: no such file or folder; name logs, or folders that hold them")
    report = HealthReport()
    columns = dict(_column(text) for text in column) or None
    write(stream(paths, format=format, extractors=extract, columns=columns, report=report), output)
    typer.echo(json.dumps(report.to_dict(), indent=2) if as_json else str(report))
    typer.echo(f"written: {output}", err=as_json)
    raise typer.Exit(1 if report.n_problems else 0)


def _column(text: str) -> tuple[str, str]:
    field, _, name = text.partition("=")
    if not field or not name:
        raise typer.BadParameter(f"{text!r} is not of the form FIELD=NAME, for example state=observation")
    return field, name


@app.command()
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


@app.command()
def masks(
    traces: Traces,
    mask: Annotated[list[str], typer.Option(help="Only these masks; repeat for more.")] = [],  # noqa: B006
    skip_broken: Skip = False,
) -> None:
    """Show what each mask changes on your traces: stalls found, progress hidden.

    Example: driftlab masks data/demo/loops.jsonl
    """
    rows = mask_changes(read_traces(traces, [], skip_broken), masks=mask or None)
    typer.echo(
        f"{'mask':<10} {'view':<8} {'made equal':>10} {'in stalls':>10} {'in good':>10} {'hid a gain':>10}  example"
    )
    for row in rows:
        counts = f"{row.merged:>10} {row.stalls_found:>10} {row.progress_hidden:>10} {row.gains_hidden:>10}"
        typer.echo(f"{row.mask:<10} {row.view:<8} {counts}  {row.example[:60]}")
