"""Problems drawn for one side of a split."""

from collections.abc import Iterable

import numpy as np

from driftlab.errors import InputError
from driftlab.trace import TraceInfo


def problems(traces: Iterable[TraceInfo], share: float, seed: int) -> set[tuple[str, str]]:
    """Draw about `share` of the problems of each task.

    Raises
    ------
    InputError
        When `share` is not between 0 and 1.
    """
    if not 0 < share < 1:
        raise InputError(f"share must be between 0 and 1, got {share!r}")
    random = np.random.default_rng(seed)
    groups = sorted({trace.group for trace in traces})
    first: set[tuple[str, str]] = set()
    for task in sorted({task for task, _ in groups}):
        own = [group for group in groups if group[0] == task]
        first.update(own[place] for place in random.permutation(len(own))[: round(share * len(own))])
    return first
