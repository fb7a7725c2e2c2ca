"""Seeded chance that gives the same numbers on every machine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Draws built on `random()` alone, the only method whose sequence Python promises to keep."""

    def __init__(self, *seed: object) -> None:
        self._random = random.Random("/".join(str(part) for part in seed))

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self._random.random() < probability

    def between(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.between(0, len(items) - 1)]

    def weighted(self, weights: dict[T, float]) -> T:
        """One of the keys, as often as its weight says."""
        left = self._random.random() * sum(weights.values())
        for key, weight in weights.items():
            left -= weight
            if left < 0:
                return key
        return next(reversed(weights))

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items in random order."""
        pool = list(items)
        return [pool.pop(self.between(0, len(pool) - 1)) for _ in range(count)]
