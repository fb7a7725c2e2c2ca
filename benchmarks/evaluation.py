"""What a report's whole evaluation costs beside the measuring it judges.

    python -m benchmarks.evaluation [--corpus intercode_gpt.jsonl.gz] [--draws 2000]

Sweep, every table of the report, and a rule for each task with 5 x 5 nested folds, on measured traces, against one
measuring pass with the compiled text metrics and one with levenshtein alone. Everything is run once before it is
timed, so no import counts; of each part the least of three runs is taken and printed, so that a miss can be seen
where it arises. Then the figures, which cost more than all of that.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import driftlab as dl
from driftlab.detectors import needed
from driftlab.metrics.measurements import Measurements
from driftlab.report import report
from driftlab.trace.corpus import Corpus
from driftlab.tuning.plan import plan
from driftlab.tuning.sweep import Sweep, grid

METRICS = ("exact", "levenshtein")
TEXT = ("exact", "difflib", "levenshtein")
SHARED = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "intercode_gpt.jsonl.gz"
SHIPPED = Path(__file__).resolve().parents[1] / "data" / "demo" / "loops.jsonl"
GOAL = 3.0  # passes with the text metrics
RUNS = 3
LEAST = 20  # good and stalled traces without which no rule is calibrated


def least(action: Callable[[], Any]) -> float:
    """Return the seconds of the fastest of some runs, after one that is not timed."""
    action()
    found = []
    for _ in range(RUNS):
        start = time.perf_counter()
        action()
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> int:
    """Print every part as a multiple of both passes; return 1 where the whole exceeds the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=SHARED if SHARED.exists() else SHIPPED)
    parser.add_argument("--draws", type=int, default=2000)
    asked = parser.parse_args()
    corpus = dl.read(asked.corpus)
    passes = {len(names): least(lambda names=names: dl.measure(corpus, names)) for names in (TEXT, TEXT[-1:])}
    whole, one = passes[len(TEXT)], passes[1]
    print(
        f"{len(corpus)} traces, {asked.draws} draws; a measuring pass with {', '.join(TEXT)}: {whole:.3f} s; ", end=""
    )
    print(f"with levenshtein alone: {one:.3f} s")
    total = 0.0
    for name, seconds in parts(corpus, asked.draws).items():
        total += seconds
        print(f"  {name}: {seconds:.3f} s")
    reached = total <= GOAL * whole
    print(f"  all: {total:.3f} s, {total / whole:.1f} passes with all three (goal {GOAL:g}: ", end="")
    print(f"{'reached' if reached else 'NOT reached'}), {total / one:.1f} with levenshtein alone")
    seconds, figures = drawn(corpus)
    print(f"  then report.html, report.md and {figures} figures: {seconds:.1f} s")
    return 0 if reached else 1


def parts(corpus: Corpus, draws: int) -> dict[str, float]:
    """Return the least seconds of every part of the evaluation of measured traces, each time on a fresh sweep."""
    measured = dl.measure(corpus, needed(grid(plan(corpus, METRICS))))
    once(measured, draws)
    found = [once(measured, draws) for _ in range(RUNS)]
    return {name: min(each[name] for each in found) for name in found[0]}


def once(measured: Measurements, draws: int) -> dict[str, float]:
    """Return the seconds of each part, one after the other as a report asks for them."""
    found: dict[str, float] = {}

    def part(name: str, action: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        made = action()
        found[name] = time.perf_counter() - start
        return made

    sweep = part("sweep, 23 cells a task", lambda: dl.sweep(measured, METRICS, draws=draws))
    for name in ("best", "controls", "points", "table"):
        part(f"table: {name}", getattr(sweep, name))
    part("rules, 5 x 5 nested folds", lambda: rules(measured))
    return found


def rules(measured: Measurements) -> list[Any]:
    """Calibrate each task that has enough of both labels."""
    found = []
    for task in sorted({info.task or "" for info in measured.infos}):
        labels = [info.label for info in measured.infos if (info.task or "") == task]
        if min(labels.count("good"), labels.count("stalled")) >= LEAST:
            found.append(dl.calibrate(measured, task=task or None, metrics=METRICS))
    return found


def drawn(corpus: Corpus) -> tuple[float, int]:
    """Return the seconds that writing the report takes, and how many figures it has."""
    found: Sweep = dl.sweep(corpus, METRICS)
    made = rules(dl.measure(corpus, needed(grid(plan(corpus, METRICS)))))
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        written = report(found, made, corpus=corpus, folder=folder)
        return time.perf_counter() - start, sum(path.suffix == ".png" for path in written)


if __name__ == "__main__":
    sys.exit(main())
