"""The command line."""

import sys
import traceback
import warnings
from typing import Any

import typer

from driftlab.cli import judge, live, story, study, traces
from driftlab.errors import DriftlabWarning, InputError, MissingExtra

app = typer.Typer(
    help="Which measurement tells that an agent loop has stalled, at what patience, how sure, at what cost.",
    epilog="Bad input is one line and exit code 2; --debug anywhere shows the traceback.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for part in (story, traces, study, judge, live):
    app.add_typer(part.app)


def main() -> None:
    """Run the command line; bad input is one line on standard error, exit code 2, `--debug` the traceback."""
    debug = "--debug" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--debug"]
    warnings.showwarning = _one_line  # type: ignore[assignment]
    warnings.simplefilter("always", DriftlabWarning)
    try:
        app()
    except (InputError, MissingExtra, OSError) as error:
        if debug:
            traceback.print_exc()
        typer.echo(f"driftlab: {error}", err=True)
        sys.exit(2)


def _one_line(message: Warning | str, *_: Any) -> None:
    typer.echo(f"driftlab: warning: {message}", err=True)
