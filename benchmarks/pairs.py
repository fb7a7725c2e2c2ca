"""Which metric agrees with the repetition labels of a study, pair by pair: AUC and average precision.

    python benchmarks/pairs.py [--shared ../shared] [--markdown benchmarks/pairs.md]

Every metric x view x agent on `llm_agents_study_pairs.jsonl.gz`: 1,648 adjacent pairs of steps, positive where the
relation is "Repetition", scored by 1 - delta. Pair level, so there is no length effect. Intervals are percentiles of
a bootstrap over traces: pairs of one run are not independent. Takes about ten minutes of CPU, nearly all of it MiniLM.
"""

import argparse
import gzip
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

import driftlab as dl
from driftlab.trace.views import VIEWS

FILES = ("llm_agents_study.jsonl.gz", "llm_agents_study_pairs.jsonl.gz")
PAIRWISE = ("exact", "difflib", "levenshtein", "jaccard", "containment", "embedding")
AGENTS = ("all", "AutoCodeRover", "OpenHands", "RepairAgent")
DRAWS = 1_000
Floats = NDArray[np.float64]


def specs(static: bool) -> list[str]:
    """Return every metric under every view it can read."""
    texts = [f"{name}(view={view!r})" for view in VIEWS for name in PAIRWISE]
    texts += [f"embedding(view={view!r}, model='wordllama')" for view in VIEWS if static]
    texts += [f"{name}(view={view!r})" for view in ("action", "output", "thought") for name in ("repeat", "novelty")]
    nearest = [f"levenshtein(view={view!r}, lag=8, nearest=True)" for view in ("action", "output")]
    return ["arguments", *texts, *nearest, "noise"]


def labelled(path: Path) -> dict[tuple[str, int], tuple[str, bool]]:
    """Return agent, whether the pair is a repetition, by trace and later step."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {(row["id"], row["step"]): (row["agent"], row["relation"] == "Repetition") for row in rows}


def draws(labels: NDArray[np.bool_], scores: Floats, runs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return AUC, average precision of resampled runs, shape (n_draws, 2); draws with one class are left out."""
    random = np.random.default_rng(0)
    count = int(runs.max()) + 1
    out = []
    for _ in range(DRAWS):
        weights = np.bincount(random.integers(0, count, count), minlength=count)[runs].astype(float)
        kept = weights > 0
        if 0 < (weights[kept] * labels[kept]).sum() < weights.sum():
            out.append(both(labels[kept], scores[kept], weights[kept]))
    return np.array(out)


def both(labels: NDArray[np.bool_], scores: Floats, weights: Floats | None = None) -> tuple[float, float]:
    """Return AUC and average precision; weights count a pair several times."""
    order = np.argsort(scores, kind="stable")
    scores, labels = scores[order], labels[order]
    heavy = np.ones(len(scores)) if weights is None else weights[order]
    starts = np.flatnonzero(np.r_[True, np.diff(scores) != 0])
    good, bad = (np.add.reduceat(heavy * part, starts) for part in (labels, ~labels))
    below = np.cumsum(bad) - bad
    auc = float((good * (below + bad / 2)).sum() / (good.sum() * bad.sum()))
    hits, alarms = np.cumsum(good[::-1]), np.cumsum((good + bad)[::-1])
    return auc, float((good[::-1] * hits / alarms).sum() / good.sum())


def shown(value: float, low: float, high: float) -> str:
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def row(labels: NDArray[np.bool_], scores: Floats, runs: NDArray[np.int64]) -> tuple[str, str, int]:
    """Return AUC and average precision with intervals, and how many pairs have no opinion."""
    known = ~np.isnan(scores)
    labels, scores, runs = labels[known], scores[known], np.unique(runs[known], return_inverse=True)[1]
    if not 0 < labels.sum() < len(labels):
        return "nan (one class)", "nan", int((~known).sum())
    values = both(labels, scores)
    assert np.allclose(values, (roc_auc_score(labels, scores), average_precision_score(labels, scores)))
    low, high = np.percentile(draws(labels, scores, runs), [2.5, 97.5], axis=0)
    cells = [shown(value, low[i], high[i]) for i, value in enumerate(values)]
    return cells[0], cells[1], int((~known).sum())


def table(shared: Path) -> list[str]:
    """Return the lines of the table."""
    corpus = list(dl.read(shared / "corpora" / FILES[0]))
    known = labelled(shared / "corpora" / FILES[1])
    chosen = specs(importlib.util.find_spec("wordllama") is not None)
    measured = dl.measure(corpus, chosen)
    rows, agents, labels, runs = places(measured, known)
    lines = [
        "| agent | pairs | repetitions | metric | AUC [95 %] | average precision [95 %] | no opinion |",
        "|---|---|---|---|---|---|---|",
    ]
    for agent in AGENTS:
        mine = np.array([agent == "all" or name.lower() == agent.lower() for name in agents])
        for spec in chosen:
            scores = 1.0 - measured.deltas(spec)[rows][mine]
            auc, precision, absent = row(labels[mine], scores, runs[mine])
            counts = f"{mine.sum()} | {labels[mine].sum()}"
            lines.append(f"| {agent} | {counts} | `{spec}` | {auc} | {precision} | {absent} |")
    return lines


def places(
    measured: dl.Measurements, known: dict[tuple[str, int], tuple[str, bool]]
) -> tuple[NDArray[np.int64], list[str], NDArray[np.bool_], NDArray[np.int64]]:
    """Return row, agent, label and run of each labelled pair."""
    found: list[tuple[int, str, bool, int]] = []
    for n, info in enumerate(measured.infos):
        for t in range(int(measured.lengths[n])):
            if (info.id, t) in known:
                found.append((int(measured.offsets[n]) + t, *known[info.id, t], n))
    if len(found) != len(known):
        raise SystemExit(f"{len(known) - len(found)} labelled pairs have no step in {FILES[0]}")
    rows, agents, labels, runs = zip(*found, strict=True)
    return np.array(rows), list(agents), np.array(labels), np.array(runs)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="folder of corpora/")
    parser.add_argument("--markdown", type=Path, help="also write the table to this file")
    options = parser.parse_args(arguments)
    missing = [name for name in FILES if not (options.shared / "corpora" / name).exists()]
    if missing:
        print(f"skipped: {options.shared / 'corpora'} lacks {', '.join(missing)}; pass --shared FOLDER")
        return 0
    lines = table(options.shared)
    print("\n".join(lines))
    if options.markdown:
        head = "Printed by `python benchmarks/pairs.py --markdown benchmarks/pairs.md` on `../shared/corpora`.\n\n"
        options.markdown.write_text(head + _legend() + "\n".join(lines) + "\n", encoding="utf-8")
    return 0


def _legend() -> str:
    return (
        "Adjacent steps of three agents, positive where the study's label is Repetition, scored by 1 - delta.\n"
        f"Intervals are percentiles of {DRAWS:,} bootstrap draws of whole traces. `noise` is the placebo. That\n"
        "people, not a model, made every label is unverified. OpenHands cannot be estimated well: 17 of its 29\n"
        'repetitions lie in one run. "No opinion" counts pairs at which the metric is `nan`; they are left out.\n\n'
    )


if __name__ == "__main__":
    sys.exit(main())
