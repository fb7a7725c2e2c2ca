"""The sweep against the bare cost of its comparisons, and against the plain loop it replaces.

    python -m benchmarks.sweep [--corpus intercode_gpt.jsonl.gz]

Goals: the sweep of the four text metrics over run(1..8) at every threshold takes at most 2 times the bare library calls
on the same different pairs (the embedding on every 8th trace); it is at least 200 times faster than a textbook plateau
detector that is run again for each patience and each of 100 thresholds (on every 20th trace, scaled up). The ratio for
metrics that cost next to nothing is printed too, without a goal: there the evaluation itself is what takes time.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import driftlab as dl
from driftlab.metrics import Pairwise
from driftlab.metrics.pairs import pairing
from driftlab.trace.views import column

LIGHT = ("exact", "difflib", "levenshtein", "jaccard")
FOUR = ("exact", "difflib", "levenshtein", "embedding")
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


def pairwise(names: Sequence[str]) -> list[Pairwise]:
    """Return the metrics of some names."""
    return [found for name in names if isinstance(found := dl.metric(name), Pairwise)]


def bare(corpus: dl.Corpus, names: Sequence[str]) -> float:
    """Seconds of the library calls alone, on the different pairs of states one step apart; a model is loaded before."""
    probe = pairwise(["levenshtein"])[0]
    pairs = pairing(probe, [column(trace.steps, "state", "text") for trace in corpus]).pairs
    return sum(timed(lambda m=metric: m.deltas(pairs), 1 if metric.batched else 3) for metric in pairwise(names))


def swept(corpus: dl.Corpus, names: Sequence[str], repeats: int = 3) -> float:
    """Seconds of the whole sweep."""
    return timed(lambda: dl.sweep(corpus, names, patience=PATIENCE, decay=()), repeats)


def plain_loop(corpus: dl.Corpus, names: Sequence[str]) -> int:
    """Run a textbook plateau detector for each metric, patience and threshold: compare, count, stop."""
    alarms = 0
    for metric in pairwise(names):
        for patience in PATIENCE:
            for threshold in THRESHOLDS:
                alarms += sum(stopped(metric, trace, patience, threshold) for trace in corpus)
    return alarms


def stopped(metric: Pairwise, trace: dl.Trace, patience: int, threshold: float) -> bool:
    """Whether so many states in a row are as similar to the one before as the threshold asks."""
    run, before = 0, None
    for step in trace.steps:
        state = step.state or ""
        delta = 1.0 if before is None else 0.0 if state == before else metric.delta(before, state)
        run = run + 1 if 1 - delta >= threshold else 0
        before = state
        if run >= patience:
            return True
    return False


def main() -> int:
    """Print the ratios; return 1 when one falls short."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=SHARED if SHARED.exists() else SHIPPED)
    corpus = dl.read(parser.parse_args().corpus)
    few, fewer = dl.Corpus(corpus.traces[::8]), dl.Corpus(corpus.traces[::20])
    dl.metric("embedding").compare("load the", "model")
    # Vectors are kept by content: each side gets its first look at the texts in a half of its own.
    half = [dl.Corpus(few.traces[::2]), dl.Corpus(few.traces[1::2])]
    four = swept(half[0], FOUR, 1) / max(bare(half[0], FOUR[:3]) + bare(half[1], FOUR[3:]), 1e-9)
    light, calls = swept(corpus, LIGHT), bare(corpus, LIGHT)
    loop = timed(lambda: plain_loop(fewer, LIGHT), 1) * len(corpus) / len(fewer)
    print(f"{', '.join(FOUR)}: sweep {four:.2f} times the bare calls (goal: at most 2), {len(few)} traces")
    print(f"{', '.join(LIGHT)}: sweep {light:.2f} s, bare calls {calls:.2f} s: {light / calls:.2f} times, no goal")
    print(f"plain loop {loop:.0f} s, scaled from {len(fewer)} of {len(corpus)} traces; sweep {light:.2f} s", end=": ")
    print(f"{loop / light:.0f} times (goal: at least 200)")
    return 0 if four <= 2 and loop >= 200 * light else 1


if __name__ == "__main__":
    sys.exit(main())
