"""Runs the demo loops and writes them down: python data/demo/record.py [--check] [--problems N] [-o FILE]."""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from recorder.incident import incident
from recorder.plan import PROBLEMS, SEED, plans
from recorder.session import record

HERE = Path(__file__).resolve().parent
LOOPS = HERE / "loops.jsonl"
INCIDENT = "incident.jsonl"
STEPS = "incident_steps.jsonl"


def line(trace: dict[str, Any]) -> bytes:
    """A trace as one line of a file."""
    return json.dumps(trace, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def loops(problems: int) -> list[bytes]:
    """The lines of the loops; how many processes share the work does not change them, since map keeps the order."""
    with ProcessPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        return [line(trace) for trace in pool.map(record, plans(problems), chunksize=4)]


def by_id(lines: list[bytes]) -> dict[str, bytes]:
    """Lines by the id of their trace."""
    return {json.loads(text)["id"]: text for text in lines}


def check(recorded: list[bytes], path: Path, *, whole: bool) -> str:
    """The name of the first trace that differs from the file, or nothing."""
    fresh, shipped = by_id(recorded), by_id(path.read_bytes().splitlines(keepends=True))
    if whole and list(fresh) != list(shipped):
        return next(
            (name for name in [*fresh, *shipped] if name not in fresh or name not in shipped), "the order of the traces"
        )
    return next((name for name, text in fresh.items() if shipped.get(name) != text), "")


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="record again, compare with the files, write nothing")
    parser.add_argument(
        "--problems", type=int, default=PROBLEMS, help="only the first N problems of each task (of %(default)s)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=LOOPS, help=f"file of the loops; {INCIDENT} is written beside it"
    )
    return parser.parse_args()


def main() -> int:
    """Record, then write the files or compare with them."""
    options = arguments()
    run = incident(SEED)
    files = {options.output: loops(options.problems), options.output.parent / INCIDENT: [line(run)]}
    for path, lines in files.items():
        if not options.check:
            path.write_bytes(b"".join(lines))
            continue
        name = check(lines, path, whole=options.problems == PROBLEMS)
        if name:
            print(f"{path}: {name} differs from what was recorded now; run python data/demo/record.py", file=sys.stderr)
            return 1
    return shipped_steps(b"".join(line(step) for step in run["steps"]), options.output.parent / STEPS, options.check)


def shipped_steps(lines: bytes, path: Path, only_check: bool) -> int:
    """Write the incident's steps as a live loop would send them, one a line, or compare with what is there."""
    if not only_check:
        path.write_bytes(lines)
    elif path.read_bytes() != lines:
        print(f"{path}: differs from what was recorded now; run python data/demo/record.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
