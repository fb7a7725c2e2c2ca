"""How far two people, or a person and a program, agree on labels and onsets."""

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab._util.plain import for_json
from driftlab.evaluation.labels import ratio
from driftlab.evaluation.stats import LEVEL, normal_reach, proportion
from driftlab.trace.schema import TraceInfo

__all__ = ["TOLERANCE", "Agreement", "agreement", "kappa"]

TOLERANCE = 2
CEILING = 0.77  # kappa of two careful annotators on whether a run loops (AgentRewardBench, 106 double annotations)


@dataclass(frozen=True)
class Agreement:
    """What two sets of labels of the same traces have in common.

    Attributes
    ----------
    n : int
        Traces that both labelled.
    only_first, only_second : tuple of str
        Traces that only one of them labelled; they are in no figure.
    agreed : (float, float, float)
        Share of equal labels, with its Wilson interval.
    kappa : (float, float, float)
        Cohen's kappa with its interval; `nan` where only one label was used.
    onsets : int
        Traces that both call stalled and mark an onset in.
    within : (float, float, float)
        Share of those whose onsets differ by at most `tolerance` steps, with its Wilson interval.
    tolerance : int
    shift : float
        Median of second onset - first onset, in steps; `nan` without any.
    table : dict of str to dict of str to int
        Counts: label of the first, label of the second.
    disputed : tuple of dict
        Each trace with different labels, or with onsets further apart: id, first, second, first_onset,
        second_onset.

    Examples
    --------
    >>> found = agreement({"a": "good", "b": "stalled"}, {"a": "good", "b": "good"})
    >>> found.agreed[0], [each["id"] for each in found.disputed]
    (0.5, ['b'])
    """

    n: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    agreed: tuple[float, float, float]
    kappa: tuple[float, float, float]
    onsets: int
    within: tuple[float, float, float]
    tolerance: int
    shift: float
    table: dict[str, dict[str, int]]
    disputed: tuple[dict[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for strict JSON."""
        plain: dict[str, Any] = for_json(vars(self))
        return plain

    def __str__(self) -> str:
        lines = [
            f"both labelled {self.n} traces; only one labelled {len(self.only_first)} and {len(self.only_second)}",
            f"equal labels  {_words(self.agreed)}",
            f"kappa         {_words(self.kappa)}; careful people reach {CEILING}",
            f"onsets        {_words(self.within)} of {self.onsets} within {self.tolerance} steps",
            f"disputed      {len(self.disputed)}: {', '.join(each['id'] for each in self.disputed) or 'none'}",
        ]
        return "\n".join(lines)


Labelled = Mapping[str, Any] | Iterable[TraceInfo]


def agreement(first: Labelled, second: Labelled, *, tolerance: int = TOLERANCE, level: float = LEVEL) -> Agreement:
    """Compare two annotators.

    Parameters
    ----------
    first, second : iterable of Trace, or mapping of id to label
        A label is "good", "stalled", "unsure", or the pair of one with an onset, ``("stalled", 6)``; a trace
        whose label is null was not labelled.
    tolerance : int
        Steps by which two onsets may differ, >= 0: annotators seldom agree on the step.
    level : float
        Of the intervals.

    Raises
    ------
    InputError
        When the tolerance is negative or an id occurs twice.

    Examples
    --------
    >>> first = {"a": ("stalled", 6), "b": "good", "c": "good"}
    >>> second = {"a": ("stalled", 7), "b": "good", "d": "good"}
    >>> both = agreement(first, second)
    >>> both.n, both.only_first, both.agreed[0], both.within[0]
    (2, ('c',), 1.0, 1.0)
    """
    if tolerance < 0:
        raise InputError(f"tolerance must be >= 0 steps, got {tolerance!r}")
    one, two = _read(first), _read(second)
    both = sorted(one.keys() & two.keys())
    pairs = [(one[name], two[name]) for name in both]
    equal = sum(a[0] == b[0] for a, b in pairs)
    # Onsets are compared where both saw a stall; where one did not, the labels are what is disputed.
    stalled = [(a[1], b[1]) for a, b in pairs if a[0] == b[0] == "stalled"]
    shifts = [late - early for early, late in stalled if early is not None and late is not None]
    near = sum(abs(shift) <= tolerance for shift in shifts)
    return Agreement(
        n=len(both),
        only_first=tuple(sorted(one.keys() - two.keys())),
        only_second=tuple(sorted(two.keys() - one.keys())),
        agreed=(float(ratio(equal, len(both))), *proportion(equal, len(both), level=level)),
        kappa=kappa([a[0] for a, _ in pairs], [b[0] for _, b in pairs], level=level),
        onsets=len(shifts),
        within=(float(ratio(near, len(shifts))), *proportion(near, len(shifts), level=level)),
        tolerance=tolerance,
        shift=float(np.median(shifts)) if shifts else math.nan,
        table=_table(pairs),
        disputed=tuple(_disputed(both, pairs, tolerance)),
    )


def kappa(first: Iterable[Hashable], second: Iterable[Hashable], *, level: float = LEVEL) -> tuple[float, float, float]:
    """Return Cohen's kappa with its interval (statsmodels); `nan` where both used one and the same label only.

    Examples
    --------
    >>> [round(value, 2) for value in kappa("aabb" * 10, "aabb" * 9 + "abab")]
    [0.9, 0.76, 1.0]
    """
    one, two = list(first), list(second)
    labels = sorted(set(one) | set(two), key=str)
    if len(labels) < 2:
        return math.nan, math.nan, math.nan
    counts = np.zeros((len(labels), len(labels)))
    for a, b in zip(one, two, strict=True):
        counts[labels.index(a), labels.index(b)] += 1
    with np.errstate(invalid="ignore", divide="ignore"):  # one of them used one label only: no test against 0
        estimate = need("statsmodels.stats.inter_rater", "study").cohens_kappa(counts)
    reach = normal_reach(level) * float(estimate.std_kappa)
    # The normal interval may leave the range that kappa has.
    return float(estimate.kappa), max(-1.0, float(estimate.kappa) - reach), min(1.0, float(estimate.kappa) + reach)


Read = tuple[str, int | None]


def _read(labels: Labelled) -> dict[str, Read]:
    if isinstance(labels, Mapping):
        pairs = [(name, value if isinstance(value, tuple | list) else (value, None)) for name, value in labels.items()]
    else:
        pairs = [(info.id, (info.label, info.onset)) for info in labels]
    read: dict[str, Read] = {}
    for name, (label, onset) in pairs:
        if name in read:
            raise InputError(f"trace {name!r} is labelled twice by one annotator; keep one label a trace")
        if label is not None:
            read[name] = (str(label), onset)
    return read


def _table(pairs: list[tuple[Read, Read]]) -> dict[str, dict[str, int]]:
    labels = sorted({label for pair in pairs for label, _ in pair})
    return {a: {b: sum((x[0], y[0]) == (a, b) for x, y in pairs) for b in labels} for a in labels}


def _disputed(names: list[str], pairs: list[tuple[Read, Read]], tolerance: int) -> Iterable[dict[str, Any]]:
    for name, ((a, start), (b, other)) in zip(names, pairs, strict=True):
        apart = start is not None and other is not None and abs(other - start) > tolerance
        if a != b or apart:
            yield {"id": name, "first": a, "second": b, "first_onset": start, "second_onset": other}


def _words(bounds: tuple[float, float, float]) -> str:
    value, low, high = bounds
    return "undefined" if math.isnan(value) else f"{value:.2f} [{low:.2f}, {high:.2f}]"
