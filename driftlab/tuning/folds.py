"""Which problems a fold leaves out."""

from collections.abc import Sequence

import numpy as np

from driftlab.evaluation.labels import Ints, Labels
from driftlab.trace.schema import TraceInfo

__all__ = ["deal"]


def deal(infos: Sequence[TraceInfo], labels: Labels, folds: int, repeats: int, seed: int) -> Ints | None:
    """Return the fold of each trace in each repeat, (n_repeats, n_traces); None where no fold can hold both classes.

    Problems are dealt out in turn: those with stalled traces only, with both, with good ones only. Every fold
    then gets its share of each kind, and both classes, which scikit-learn's grouped splitter does not promise.

    Examples
    --------
    >>> from driftlab.trace.schema import Span
    >>> infos = [TraceInfo(id=f"l{n}", label="stalled", stalls=(Span(0),)) for n in range(4)]
    >>> infos += [TraceInfo(id=f"w{n}", label="good") for n in range(4)]
    >>> fold = deal(infos, Labels.of(infos, np.ones(8, dtype=int)), folds=2, repeats=1, seed=0)[0]
    >>> np.bincount(fold[:4]).tolist(), np.bincount(fold[4:]).tolist()
    ([2, 2], [2, 2])
    """
    groups = [info.group for info in infos]
    names = {name: place for place, name in enumerate(sorted(set(groups)))}  # whatever the order of the traces
    problem, size = np.array([names[group] for group in groups], dtype=np.int64), len(names)
    stalled, good = (np.bincount(problem[rows], minlength=size) > 0 for rows in (labels.stalled, labels.good))
    count = min(folds, int(stalled.sum()), int(good.sum()))
    if count < 2:
        return None
    kind = good.astype(np.int64) - stalled  # a problem without labels is in no rate, whatever fold it is in
    out = np.zeros((repeats, len(problem)), dtype=np.int64)
    for repeat in range(repeats):
        mixed = np.random.default_rng((seed, repeat)).permutation(np.flatnonzero(stalled | good))
        fold = np.zeros(size, dtype=np.int64)
        fold[mixed[np.argsort(kind[mixed], kind="stable")]] = np.arange(len(mixed)) % count
        out[repeat] = fold[problem]
    return out
