"""The command line: one file a command, listed in the order of `--help`."""

import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import typer

from driftlab._util.errors import DriftlabWarning, InputError, MissingExtra
from driftlab.cli import (
    agree,
    calibrate,
    demo,
    gate,
    import_,
    inspect,
    lab,
    masks,
    notebook,
    redact,
    replay,
    report,
    sweep,
    transfer,
    watch,
)

__all__ = ["app", "main"]

COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.demo,
    "lab": lab.lab,
    "notebook": notebook.notebook,
    "inspect": inspect.inspect,
    "import": import_.import_,
    "redact": redact.redact,
    "masks": masks.masks,
    "sweep": sweep.sweep,
    "report": report.report,
    "calibrate": calibrate.calibrate,
    "gate": gate.gate,
    "transfer": transfer.transfer,
    "agree": agree.agree,
    "replay": replay.replay,
    "watch": watch.watch,
}

app = typer.Typer(
    help="Which measurement tells that an agent loop has stalled, at what patience, how sure, at what cost.",
    epilog="Bad input is one line and exit code 2; --debug anywhere shows the traceback.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for name, command in COMMANDS.items():
    app.command(name)(command)


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
