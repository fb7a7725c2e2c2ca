"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, cast

import typer

from driftlab._util.errors import InputError
from driftlab._util.files import file_to_write, folder_to_write
from driftlab._util.spec import between, share
from driftlab.trace.corpus import SUFFIXES, Corpus, read
from driftlab.trace.schema import Direction
from driftlab.tuning.objective import Price

__all__ = [
    "AsJson",
    "CacheFolder",
    "Folder",
    "Jobs",
    "Limit",
    "MetricSpec",
    "Prevalence",
    "Prices",
    "Rule",
    "Signal",
    "Skip",
    "Traces",
    "a_share",
    "new_file",
    "new_traces",
    "priced",
    "read_traces",
]


def _before_work(check: Callable[[str, Path], None], option: str) -> Callable[[Path | None], Path | None]:
    """Return a callback that refuses a place where nothing can be written, before any work."""

    def callback(path: Path | None) -> Path | None:
        if path is not None:
            check(option, path)
        return path

    return callback


new_file = _before_work(file_to_write, "--output")
new_folder = _before_work(folder_to_write, "--output")
kept_numbers = _before_work(folder_to_write, "--cache")


def new_traces(path: Path) -> Path:
    """Refuse, before any work, an output where no traces can be written."""
    if not path.name.endswith(SUFFIXES):
        raise InputError(f"--output {str(path)!r} must end in one of {', '.join(SUFFIXES)}")
    new_file(path)
    return path


def a_share(limit: float) -> float:
    """Refuse a limit that is no share."""
    share("--max-false-stop", limit)
    return limit


Traces = Annotated[Path, typer.Argument(help="Labelled traces: .jsonl, .jsonl.gz or .parquet.", metavar="TRACES")]
Rule = Annotated[Path, typer.Argument(help="A policy written by `driftlab calibrate`.", metavar="RULE")]
Folder = Annotated[Path, typer.Option("-o", "--output", help="Folder for what is written.", callback=new_folder)]
Signal = Annotated[list[str], typer.Option("--signal", help="NAME:lower or NAME:higher, where a file declares none.")]
MetricSpec = Annotated[list[str], typer.Option("--metric", "-m", help="A metric; repeat for more. Default: the five.")]
Skip = Annotated[bool, typer.Option("--skip-broken", help="Leave broken lines out, with a warning.")]
CacheFolder = Annotated[
    Path | None,
    typer.Option("--cache", help="Folder that keeps measured numbers between runs.", callback=kept_numbers),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Processes for the comparisons; -1 is all cores.")]
Limit = Annotated[
    float, typer.Option("--max-false-stop", help="Largest share of good runs that may be stopped.", callback=a_share)
]
Prices = Annotated[
    str, typer.Option("--price", metavar="<a>:<b>", help="What a false stop and a wasted step cost you, as in 30:1.")
]
Prevalence = Annotated[
    float | None, typer.Option("--prevalence", help="Share of your runs that stall. Default: as in the traces.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def read_traces(path: Path, signal: list[str], skip: bool) -> Corpus:
    """Read the traces of a command line."""
    return read(path, on_error="skip" if skip else "raise", signals=dict(_direction(text) for text in signal))


def priced(text: str, prevalence: float | None) -> Price | None:
    """Read prices as they are typed; None where none were."""
    if prevalence is not None:
        between("--prevalence", prevalence, 0, 1, words=", neither of them")
    if not text:
        return None
    false_stop, _, wasted_step = text.partition(":")
    try:
        return Price(float(false_stop), float(wasted_step), prevalence)
    except ValueError as error:
        wrong = f"--price {text!r} is not of the form FALSE_STOP:WASTED_STEP, for example 30:1"
        raise InputError(f"{wrong}, in one currency, each >= 0") from error


def _direction(text: str) -> tuple[str, Direction]:
    name, _, direction = text.rpartition(":")
    if not name or direction not in ("higher", "lower"):
        raise InputError(f"--signal {text!r} is not of the form NAME:higher or NAME:lower, for example error:lower")
    return name, cast(Direction, direction)
