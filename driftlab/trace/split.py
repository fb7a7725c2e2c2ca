"""Problems drawn for one side of a split."""

from collections.abc import Iterable

import numpy as np

from driftlab._util.spec import between

__all__ = ["problems"]


def problems(groups: Iterable[tuple[str, str]], share: float, seed: int) -> set[tuple[str, str]]:
    """Draw about `share` of the problems of each task.

    Parameters
    ----------
    groups : iterable of (str, str)
        Task and problem of each trace.
    share : float
        In (0, 1).
    seed : int

    Raises
    ------
    InputError
        When `share` is not between 0 and 1.
    """
    between("share", share, 0, 1)
    random = np.random.default_rng(seed)
    names = sorted(set(groups))
    first: set[tuple[str, str]] = set()
    for task in sorted({task for task, _ in names}):
        own = [name for name in names if name[0] == task]
        first.update(own[place] for place in random.permutation(len(own))[: round(share * len(own))])
    return first
