"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, cast

import typer

from driftlab.corpus import Corpus, read
from driftlab.errors import InputError
from driftlab.trace import Direction

Traces = Annotated[Path, typer.Argument(help="Labelled traces: .jsonl, .jsonl.gz or .parquet.", metavar="TRACES")]
Rule = Annotated[Path, typer.Argument(help="A policy written by `driftlab calibrate`.", metavar="RULE")]
Folder = Annotated[Path, typer.Option("-o", "--output", help="Folder for what is written.")]
Signal = Annotated[list[str], typer.Option("--signal", help="NAME:lower or NAME:higher, where a file declares none.")]
MetricSpec = Annotated[list[str], typer.Option("--metric", "-m", help="A metric; repeat for more. Default: the five.")]
Skip = Annotated[bool, typer.Option("--skip-broken", help="Leave broken lines out, with a warning.")]
CacheFolder = Annotated[Path | None, typer.Option("--cache", help="Folder that keeps measured numbers between runs.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Processes for the comparisons; -1 is all cores.")]
Limit = Annotated[float, typer.Option("--max-false-stop", help="Largest share of good runs that may be stopped.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def read_traces(path: Path, signal: list[str], skip: bool) -> Corpus:
    """Read the traces of a command line."""
    return read(path, on_error="skip" if skip else "raise", signals=dict(_direction(text) for text in signal))


def _direction(text: str) -> tuple[str, Direction]:
    name, _, direction = text.rpartition(":")
    if not name or direction not in ("higher", "lower"):
        raise InputError(f"--signal {text!r} is not of the form NAME:higher or NAME:lower, for example error:lower")
    return name, cast(Direction, direction)
