"""driftlab notebook: one notebook on your traces, as one HTML file."""

import ast
from pathlib import Path
from typing import Annotated, Any

import typer

from driftlab._util.errors import InputError
from driftlab.cli.options import Folder

__all__ = ["notebook"]


def notebook(
    name: Annotated[str, typer.Argument(help="Number or beginning of the name, for example 04.")],
    corpus: Annotated[Path | None, typer.Option(help="Your traces. Default: the demo's.")] = None,
    output: Folder = Path("study"),
    change: Annotated[list[str], typer.Option("--set", help="NAME=VALUE for a name in the first cell.")] = [],  # noqa: B006
) -> None:
    """Run one notebook on your traces and write it as one HTML file.

    Example: driftlab notebook 04 --corpus data/demo/loops.jsonl -o study/
    """
    from driftlab.lab.execute import run_notebook  # noqa: PLC0415

    parameters = dict(_parameter(text) for text in change)
    typer.echo(f"written: {run_notebook(name, corpus=corpus, output=output, **parameters)}")


def _parameter(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError) as error:
        raise InputError(
            f"--set {text!r} is not NAME=VALUE with a plain value, for example PATIENCE=[1,2,3]"
        ) from error
