"""Commands for newcomers: the demo, the notebooks."""

import ast
from pathlib import Path
from typing import Annotated, Any

import typer

from driftlab.cli.options import Folder
from driftlab.errors import InputError

app = typer.Typer()


@app.command()
def demo(output: Folder = Path("driftlab-demo")) -> None:
    """Tell the whole story on the data that ships.

    Example: driftlab demo -o driftlab-demo
    """
    from driftlab.demo import demo as tell  # noqa: PLC0415 (loads matplotlib)

    tell(output, typer.echo)


@app.command()
def lab(
    folder: Annotated[Path, typer.Argument(help="Working copy of the notebooks.")] = Path("driftlab-lab"),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address instead.")] = False,
) -> None:
    """Open JupyterLab on a working copy of the notebooks, the demo data beside them.

    Example: driftlab lab driftlab-lab
    """
    from driftlab.lab import open_lab  # noqa: PLC0415

    raise typer.Exit(open_lab(folder, browser=not no_browser))


@app.command()
def notebook(
    name: Annotated[str, typer.Argument(help="Number or beginning of the name, for example 04.")],
    corpus: Annotated[Path | None, typer.Option(help="Your traces. Default: the demo's.")] = None,
    output: Folder = Path("study"),
    change: Annotated[list[str], typer.Option("--set", help="NAME=VALUE for a name in the first cell.")] = [],  # noqa: B006
) -> None:
    """Run one notebook on your traces and write it as one HTML file.

    Example: driftlab notebook 04 --corpus data/demo/loops.jsonl -o study/
    """
    from driftlab.lab.notebook import run_notebook  # noqa: PLC0415

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
