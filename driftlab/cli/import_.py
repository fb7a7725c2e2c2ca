"""driftlab import: logs of other tools to traces."""

import json
from pathlib import Path
from typing import Annotated

import typer

from driftlab._util.errors import InputError
from driftlab.cli.options import AsJson, new_traces
from driftlab.importers.load import stream
from driftlab.importers.parts.health import HealthReport
from driftlab.trace.corpus import write

__all__ = ["import_"]


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
