"""The sweep against the bare cost of its comparisons, and against the plain loop it replaces.

    python -m benchmarks.sweep [--corpus intercode_gpt.jsonl.gz]

Two goals: the sweep of four text metrics over run(1..8) at every threshold takes at most 2 times the bare library
calls on the same different pairs; it is at least 200 times faster than running a textbook plateau detector again
for each patience and each of 100 thresholds (timed on every 20th trace and one metric, scaled up).
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import driftlab as dl
from driftlab.metrics import Pairwise
from driftlab.metrics.pairs import pair_places
from driftlab.text import column

METRICS = ("exact", "difflib", "levenshtein", "jaccard")
PATIENCE = range(1, 9)
THRESHOLDS = [(k + 1) / 100 for k in range(100)]
SHARED = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "intercode_gpt.jsonl.gz"
SHIPPED = Path(__file__).resolve().parents[1] / "data" / "demo" / "loops.jsonl"


def timed(action: Callable[[], object], repeats: int = 3) -> float:
    """Return the least seconds of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def different_pairs(corpus: dl.Corpus) -> list[tuple[str, str]]:
    """Return each pair of different states one step apart, once."""
    probe = dl.metric("levenshtein")
    assert isinstance(probe, Pairwise)
    found = {}
    for trace in corpus:
        texts = column(trace.steps, "state", "text")
        for first, second in pair_places(probe, texts).tolist():
            pair = (texts.texts[first] or "", texts.texts[second] or "")
            if pair[0] != pair[1]:
                found[pair] = None
    return list(found)


def bare(pairs: list[tuple[str, str]]) -> float:
    """Seconds of the library calls alone."""
    metrics = [dl.metric(name) for name in METRICS]
    return sum(timed(lambda m=metric: m.deltas(pairs)) for metric in metrics if isinstance(metric, Pairwise))


def plain_loop(corpus: dl.Corpus) -> int:
    """Run a textbook plateau detector for each patience and threshold: compare, count, stop."""
    levenshtein, alarms = dl.metric("levenshtein"), 0
    assert isinstance(levenshtein, Pairwise)
    for patience in PATIENCE:
        for threshold in THRESHOLDS:
            for trace in corpus:
                run, before = 0, None
                for step in trace.steps:
                    delta = 1.0 if before is None else levenshtein.compare(before, step.state)
                    run = run + 1 if 1 - delta >= threshold else 0
                    before = step.state
                    if run >= patience:
                        alarms += 1
                        break
    return alarms


def main() -> int:
    """Print both ratios; return 1 when one falls short."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=SHARED if SHARED.exists() else SHIPPED)
    corpus = dl.read(parser.parse_args().corpus)
    pairs = different_pairs(corpus)
    sweep = timed(lambda: dl.sweep(corpus, METRICS, patience=PATIENCE, decay=()))
    calls = bare(pairs)
    subset = dl.Corpus(corpus.traces[::20])
    one = timed(lambda: dl.sweep(corpus, ["levenshtein"], patience=PATIENCE, decay=()))
    loop = timed(lambda: plain_loop(subset), repeats=1) * len(corpus) / len(subset)
    print(f"{len(corpus)} traces, {len(pairs)} different pairs of states, {len(METRICS)} metrics, run(1..8)")
    print(f"sweep {sweep:.2f} s, bare calls {calls:.2f} s: {sweep / calls:.2f} times (goal: at most 2)")
    print(
        f"plain loop {loop:.1f} s, scaled from {len(subset)} traces; sweep {one:.2f} s: {loop / one:.0f} times (goal: 200)"
    )
    return 0 if sweep <= 2 * calls and loop >= 200 * one else 1


if __name__ == "__main__":
    sys.exit(main())
