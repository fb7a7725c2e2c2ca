"""driftlab agree: two annotators by each other."""

import json
from pathlib import Path
from typing import Annotated

import typer

from driftlab.cli.options import AsJson
from driftlab.evaluation.agreement import TOLERANCE, agreement
from driftlab.trace.corpus import read

__all__ = ["agree"]


def agree(
    first: Annotated[Path, typer.Argument(help="Traces with the labels of one annotator.")],
    second: Annotated[Path, typer.Argument(help="The same traces with the labels of another.")],
    tolerance: Annotated[int, typer.Option(help="How many steps two onsets may be apart.")] = TOLERANCE,
    as_json: AsJson = False,
) -> None:
    """Show how far two annotators agree: labels, kappa, onsets, the disputed traces.

    Example: driftlab agree data/demo/loops.jsonl data/demo/loops.jsonl
    """
    found = agreement(read(first), read(second), tolerance=tolerance)
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))
