"""Speed of the metrics against what they are built on; ratios within one run, so that the machine cancels out.

    python benchmarks/metrics.py [--quick]

Exits with 1 when a ratio falls short of what driftlab promises.
"""

import argparse
import difflib
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein as Peer

import driftlab as dl
from driftlab.metrics.models import served
from driftlab.metrics.vectors import vectors

WORDS = ["error", "line", "value", "module", "test", "passed", "failed", "file", "read", "write", "call", "none", "in"]
Pair = tuple[str, str]


def text(draw: random.Random, size: int) -> str:
    parts: list[str] = []
    while sum(map(len, parts)) + len(parts) < size:
        parts.append(draw.choice(WORDS) + (str(draw.randrange(100)) if draw.random() < 0.3 else ""))
    return " ".join(parts)[:size]


def pairs(count: int, size: int) -> list[Pair]:
    """Return pairs of texts, half of them nearly equal, half unrelated."""
    draw = random.Random(7)
    out: list[Pair] = []
    for n in range(count):
        first = text(draw, size)
        words = first.split(" ")
        for _ in range(5):
            words[draw.randrange(len(words))] = draw.choice(WORDS)
        out.append((first, " ".join(words) if n % 2 else text(draw, size)))
    return out


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest of several runs."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


def difflib_row(sample: Sequence[Pair], timed: int) -> tuple[str, float, float, bool]:
    metric = dl.metric("difflib")

    def standard(some: Sequence[Pair]) -> list[float]:
        return [1.0 - difflib.SequenceMatcher(None, a, b, autojunk=False).ratio() for a, b in some]

    fast = seconds(lambda: metric.deltas(sample[:timed]))
    slow = seconds(lambda: standard(sample[:timed]), 1)
    short = pairs(len(sample) - timed, 400)
    equal = metric.deltas(sample[:timed]).tolist() == standard(sample[:timed])
    equal &= metric.deltas(short).tolist() == standard(short)
    note = f"equal on {timed} pairs of 2 kB, {len(short)} of 400 characters" if equal else "RESULTS DIFFER"
    return f"difflib, 2 kB: times the standard library ({note})", slow / fast, 10.0, equal and slow / fast >= 10


def levenshtein_row(sample: Sequence[Pair], name: str) -> tuple[str, float, float, bool]:
    metric = dl.metric("levenshtein")
    alone = seconds(lambda: [Peer.normalized_distance(a, b) for a, b in sample], 7)
    ours = seconds(lambda: metric.deltas(sample), 7)
    return f"levenshtein, {name}: time over rapidfuzz alone", ours / alone, 1.3, ours / alone <= 1.3


def embedding_row(count: int) -> tuple[str, float, float, bool]:
    draw = random.Random(3)
    texts = [text(draw, draw.randrange(60, 900)) for _ in range(count)]
    model = served("minilm")
    model.model.encode(texts[:8])
    alone = ours = float("inf")
    for _ in range(2):
        alone = min(alone, seconds(lambda: model.model.encode(texts), 1))
        model.vectors.clear()
        ours = min(ours, seconds(lambda: vectors("minilm", texts), 1))
    return f"embedding, {count} distinct texts: time over one model.encode", ours / alone, 1.2, ours / alone <= 1.2


def cache_row(count: int) -> tuple[str, float, float, bool]:
    draw = random.Random(9)
    traces = [
        dl.Trace(id=f"run-{n}", steps=[dl.Step(state=text(draw, 2_000)) for _ in range(10)]) for n in range(count)
    ]
    with tempfile.TemporaryDirectory() as folder:
        first = seconds(lambda: dl.measure(traces, ["difflib"], cache=folder), 1)
        found = dl.measure(traces, ["difflib"], cache=folder).deltas("difflib")
        again = seconds(lambda: dl.measure(traces, ["difflib"], cache=folder))
    same = np.array_equal(found, dl.measure(traces, ["difflib"]).deltas("difflib"))
    return (
        f"cache, {10 * count} steps under difflib: times a first run",
        first / again,
        20.0,
        same and first / again >= 20,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="compare fewer pairs; the limits stay")
    quick = parser.parse_args().quick
    warnings.simplefilter("error", dl.DriftlabWarning)
    sample = pairs(1_000, 2_000)
    rows = [
        difflib_row(sample, 60 if quick else 1_000),
        levenshtein_row(sample, "2 kB"),
        levenshtein_row(pairs(4_000, 120), "120 characters"),
        embedding_row(60 if quick else 200),
        cache_row(100 if quick else 300),
    ]
    for name, ratio, limit, holds in rows:
        print(f"{'ok  ' if holds else 'FAIL'} {ratio:8.2f}  (limit {limit:g})  {name}")
    return 0 if all(holds for *_, holds in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
