"""Made-up studies whose truth is known, as measurements: no text is needed to test an evaluation."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from driftlab.evaluation.ranking import Ranking, Stratum
from driftlab.metrics import metric
from driftlab.metrics.measurements import Measurements
from driftlab.trace.schema import Span, TraceInfo

COLUMN = metric("levenshtein")  # the name under which made-up deltas are stored
Floats = NDArray[np.float64]


def measurements(
    staleness: list[Floats], stalled: NDArray[np.bool_], problems: list[str] | None = None
) -> Measurements:
    """Wrap one staleness a step, 0..1, as deltas of `COLUMN`; stalls begin at step 0."""
    names = problems or [str(n) for n in range(len(staleness))]
    infos = tuple(
        TraceInfo(id=str(n), problem=name, label="stalled" if bad else "good", stalls=(Span(0),) if bad else ())
        for n, (name, bad) in enumerate(zip(names, stalled, strict=True))
    )
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in staleness])]).astype(np.int64)
    return Measurements(infos, offsets, {COLUMN: 1 - np.concatenate(staleness)})


def skilled(random: np.random.Generator, n: int, shift: float, share: float = 0.4, length: int = 20) -> Measurements:
    """Traces of equal length whose stalled ones are `shift` standard deviations more stale at every step."""
    stalled = np.arange(n) < round(share * n)
    z = random.standard_normal((n, length)) + shift * stalled[:, None]
    return measurements(list(norm.cdf(z)), stalled)


def binormal(random: np.random.Generator, auc: float, m: int, n: int, *, alike: float = 0.0, runs: int = 1) -> Floats:
    """One score a trace, m * runs stalled ones first; runs of one problem share a part `alike` of their variance."""
    problem = np.repeat(random.standard_normal(m + n), runs)
    z = np.sqrt(alike) * problem + np.sqrt(1 - alike) * random.standard_normal((m + n) * runs)
    z[: m * runs] += np.sqrt(2) * norm.ppf(auc)
    return z


def complete(m: int, n: int) -> Ranking:
    """Every one of m stalled traces against every one of n good ones, one step each."""
    return Ranking((Stratum(np.arange(m), np.arange(m, m + n), 0, 1),))
