"""Agreement of the static embedding (wordllama, no torch) with MiniLM on adjacent steps of real runs.

    python benchmarks/static.py [--shared ../shared] [--pairs 500]

Spearman correlation of the deltas, on two samples: adjacent different actions, outputs of the agents study; the same
texts against themselves with one word replaced, where a static mean sees least.
"""

import argparse
import importlib.util
import random
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from scipy.stats import spearmanr

import driftlab as dl
from driftlab.trace.views import column

FILE = "llm_agents_study.jsonl.gz"
Pair = tuple[str, str]


def adjacent(shared: Path, count: int) -> list[Pair]:
    """Return different adjacent actions, outputs of at most 1,200 characters, drawn with a fixed seed."""
    found: set[Pair] = set()
    for trace in dl.read(shared / "corpora" / FILE):
        for view in ("action", "output"):
            texts = [text for text in column(trace.steps, view, "text").texts if text and len(text) <= 1_200]
            found.update(pair for pair in pairwise(texts) if pair[0] != pair[1])
    return random.Random(0).sample(sorted(found), min(count, len(found)))


def edited(pairs: Sequence[Pair]) -> list[Pair]:
    draw = random.Random(1)
    out = []
    for first, second in pairs:
        words, other = first.split(" "), second.split(" ")
        words[draw.randrange(len(words))] = draw.choice(other)
        out.append((first, " ".join(words)))
    return [(first, second) for first, second in out if first != second]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="folder of corpora/")
    parser.add_argument("--pairs", type=int, default=500)
    options = parser.parse_args()
    missing = [name for name in ("wordllama", "sentence_transformers") if importlib.util.find_spec(name) is None]
    if missing or not (options.shared / "corpora" / FILE).exists():
        print(f"skipped: needs {', '.join(missing) or options.shared / 'corpora' / FILE}")
        return 0
    sample = adjacent(options.shared, options.pairs)
    for name, pairs in (("adjacent steps", sample), ("one word replaced", edited(sample))):
        deltas = {}
        for model in ("minilm", "wordllama"):
            started = time.perf_counter()
            deltas[model] = dl.metric(f"embedding(model={model!r})").deltas(pairs)
            print(f"{name}, {model}: {len(pairs)} pairs in {time.perf_counter() - started:.1f} s")
        print(f"{name}: Spearman {spearmanr(deltas['minilm'], deltas['wordllama']).statistic:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
