"""driftlab lab: JupyterLab on the notebooks."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["lab"]


def lab(
    folder: Annotated[Path, typer.Argument(help="Working copy of the notebooks.")] = Path("driftlab-lab"),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address instead.")] = False,
) -> None:
    """Open JupyterLab on a working copy of the notebooks, the demo data beside them.

    Example: driftlab lab driftlab-lab
    """
    from driftlab.lab.notebooks import open_lab  # noqa: PLC0415

    raise typer.Exit(open_lab(folder, browser=not no_browser))
