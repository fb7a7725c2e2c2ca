"""Speed and memory of detectors: `python benchmarks/detectors.py` prints the table of benchmarks/detectors.md.

Exits non-zero when a floor is missed: scoring all detectors (those with an accumulator at run 1..8 and three ewma)
costs less than measuring with `levenshtein`; a monitor step with the default policy stays under 100 us beyond reading
its columns, flat from step 10 to 10,000, in flat memory. "StepView" is every column made from the step: the metric
`novelty`, and the policy's own text columns (results of equal calls, turns, errors, phrases, resets). A further row
counts registered metrics alone as metric calls; a further grid sets the patience of every other detector too.
"""

import dataclasses
import gc
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from driftlab.detectors import DETECTORS, Detector, Ewma, Run, needed, score
from driftlab.metrics import Metric
from driftlab.metrics.column import StepReader
from driftlab.metrics.measurements import measure
from driftlab.monitor.monitor import Monitor
from driftlab.rules.presets.default import default_policy
from driftlab.trace.corpus import read
from driftlab.trace.schema import Step, TraceInfo

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "intercode_gpt.jsonl.gz"
RUNS = range(1, 9)
DECAYS = (0.6, 0.8, 0.9)
LIMIT_US = 100.0
STEPS = 10_000
REPEATS = 5


def grid(*, patience: bool) -> list[Detector]:
    """Return every registered detector at run 1..8 and three ewma; with `patience` the others at 1..8 too."""
    out: list[Detector] = []
    for kind in DETECTORS.values():
        fields = {field.name for field in dataclasses.fields(kind)}
        if "accumulator" in fields:
            out += [kind(accumulator=each) for each in [*map(Run, RUNS), *map(Ewma, DECAYS)]]
        elif patience and "patience" in fields:
            out += [kind(patience=each) for each in RUNS]
        else:
            out.append(kind())
    return out


def batch() -> tuple[float, dict[int, float]]:
    """Return seconds to measure with levenshtein, and to score each grid, by the number of settings in it."""
    corpus, grids = read(CORPUS), (grid(patience=False), grid(patience=True))
    measured = measure(corpus, needed(grids[1]))
    measuring = min(timed(lambda: measure(corpus, ["levenshtein"])) for _ in range(REPEATS))
    scoring = {len(g): min(timed(lambda g=g: score(measured, g)) for _ in range(REPEATS)) for g in grids}
    return measuring, scoring


def timed(work: Callable[[], object]) -> float:
    """Return the processor seconds that some work takes: other programs on the machine do not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def steps(count: int) -> Iterator[Step]:
    """Yield an endless good run over a fixed set of texts: the signal rises, now and then a result is new."""
    pages = ["\n".join(f"{page}:{line} value {page * line % 97}" for line in range(20)) for page in range(60)]
    for t in range(count):
        args = {"path": f"/srv/{t % 60}.py", "line": t % 15}
        yield Step(tool=("read", "edit", "bash")[t % 3], args=args, output=pages[t * 7 % 60], signals={"p": t // 4})


def online(count: int) -> tuple[list[float], list[float]]:
    """Return microseconds of each whole update, and of reading the same step's columns alone."""
    monitor = Monitor(default_policy())
    info = TraceInfo(id="alone")
    reader = StepReader(info)
    streams = [column.stream(info) for column in default_policy().needs]
    whole, reading = [], []
    for step in steps(count):
        start = time.perf_counter_ns()
        now = reader.read(step)
        for read_column in streams:
            read_column(now)
        middle = time.perf_counter_ns()
        monitor.update(step)
        whole.append((time.perf_counter_ns() - middle) / 1e3)
        reading.append((middle - start) / 1e3)
    return whole, reading


@cache
def passes() -> list[tuple[list[float], list[float]]]:
    """Return several passes over the same steps: other programs on the machine disturb some of them."""
    return [online(STEPS) for _ in range(3)]


def quietest(part: slice) -> tuple[float, float]:
    """Return the medians of whole steps, of reading, in the pass with the smallest difference."""
    medians = [(statistics.median(whole[part]), statistics.median(reading[part])) for whole, reading in passes()]
    return min(medians, key=lambda pair: pair[0] - pair[1])


def strict() -> tuple[float, float]:
    """Return median microseconds of a whole update, and of its registered metrics alone (here `novelty`)."""
    monitor, info = Monitor(default_policy()), TraceInfo(id="alone")
    reader = StepReader(info)
    metrics = [c.stream(info) for c in default_policy().needs if isinstance(getattr(c, "input", c), Metric)]
    whole, alone = [], []
    for step in steps(1_000):
        start = time.perf_counter_ns()
        now = reader.read(step)
        for read_column in metrics:
            read_column(now)
        middle = time.perf_counter_ns()
        monitor.update(step)
        whole.append((time.perf_counter_ns() - middle) / 1e3)
        alone.append((middle - start) / 1e3)
    return statistics.median(whole), statistics.median(alone)


def grown(first: int, last: int) -> float:
    """Return by how many kilobytes a monitor grows from one step to another."""
    monitor = Monitor(default_policy())
    tracemalloc.start()
    held = 0
    for t, step in enumerate(steps(last)):
        monitor.update(step)
        if t == first:
            held = live()
    end = live()
    tracemalloc.stop()
    return (end - held) / 1e3


def live() -> int:
    """Return the bytes in use, without garbage that waits for its collection."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def main() -> int:
    """Print the table; return 1 when a floor is missed."""
    failed = []
    if CORPUS.exists():
        measuring, scoring = batch()
        print(f"| measuring InterCode (8,432 steps) with levenshtein | {measuring * 1e3:.0f} ms |")
        for count, seconds in scoring.items():
            shown = f"{seconds * 1e3:.0f} ms, ratio {seconds / measuring:.2f}"
            print(f"| scoring {count} detector settings on it | {shown} |")
        if min(scoring.values()) >= measuring:
            failed.append("scoring costs more than measuring with levenshtein")
    early, late = quietest(slice(10, 1_000)), quietest(slice(STEPS - 1_000, STEPS))
    for name, (whole, reading) in (("10..1,000", early), ("9,000..10,000", late)):
        shown = f"{whole:.0f} us, of which reading {reading:.0f}, beyond {whole - reading:.0f}"
        print(f"| monitor step {name}, median | {shown} |")
        if whole - reading >= LIMIT_US:
            failed.append(f"a monitor step costs {whole - reading:.0f} us beyond the metrics at steps {name}")
    whole, metrics = min((strict() for _ in range(3)), key=lambda pair: pair[0] - pair[1])
    print(f"| the same, where only registered metrics count as metric calls | beyond {whole - metrics:.0f} us |")
    ratio = late[0] / early[0]
    growth = grown(1_000, STEPS)
    print(f"| late steps against early ones | {ratio:.2f} |")
    print(f"| memory from step 1,000 to 10,000 | {growth:+.1f} kB |")
    if ratio > 1.2:
        failed.append(f"late monitor steps cost {ratio:.2f} times early ones")
    if growth > 64:
        failed.append(f"the monitor grew by {growth:.0f} kB over texts it had seen")
    for line in failed:
        print(f"MISSED: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
