"""Small made-up studies for tests of the evaluation: labels, spans, problems, scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from driftlab.evaluation.labels import Labels
from driftlab.metrics import metric
from driftlab.metrics.column import Event
from driftlab.metrics.measurements import Measurements
from driftlab.trace.schema import Span, TraceInfo

COLUMN = metric("levenshtein")
Run = tuple[str | None, tuple[int, int] | None, list[float]]


@st.composite
def runs(draw: st.DrawFn, max_size: int = 12) -> list[Run]:
    """Labelled runs with scores on a coarse grid, so that ties and equal maxima happen; runs of 0 and 1 step too."""
    out: list[Run] = []
    for _ in range(draw(st.integers(0, max_size))):
        scores = draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), max_size=9))
        label = draw(st.sampled_from(["stalled", "good", "unsure", None] if scores else ["good", None]))
        span = None
        if label == "stalled":
            start = draw(st.integers(0, len(scores) - 1))
            span = (start, draw(st.integers(start + 1, len(scores))))
        out.append((label, span, scores))
    return out


def labels_of(runs: Sequence[Run]) -> tuple[Labels, NDArray[np.float64], NDArray[np.int64]]:
    """Labels, scores one after the other, offsets."""
    infos = [
        TraceInfo(id=str(n), label=label, stalls=() if span is None else (Span(*span),))  # type: ignore[arg-type]
        for n, (label, span, _) in enumerate(runs)
    ]
    lengths = np.array([len(scores) for *_, scores in runs], dtype=np.int64)
    flat = np.array([score for *_, scores in runs for score in scores], dtype=np.float64)
    return Labels.of(infos, lengths), flat, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def study(
    stalled: Sequence[Sequence[float]], good: Sequence[Sequence[float]], onset: int = 0, **fields: Sequence[Any]
) -> Measurements:
    """Wrap one staleness a step of stalled and of good runs as deltas of `COLUMN`."""
    rows = [*stalled, *good]
    infos = tuple(
        TraceInfo(
            id=f"t{n}",
            label="stalled" if n < len(stalled) else "good",
            stalls=(Span(onset),) if n < len(stalled) else (),
            **{name: values[n] for name, values in fields.items()},
        )
        for n in range(len(rows))
    )
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    flat = np.array([x for row in rows for x in row], dtype=np.float64)
    return Measurements(infos, offsets, {COLUMN: 1 - flat, Event(): np.zeros(len(flat), dtype=np.int64)})


def drawn(seed: int, m: int, n: int, shift: float = 1.0, length: int = 9) -> Measurements:
    """Runs of equal length, the stalled ones more stale by `shift` standard deviations."""
    from scipy.stats import norm

    random = np.random.default_rng(seed)
    z = random.standard_normal((m + n, length))
    z[:m] += shift
    u = norm.cdf(z)
    return study(u[:m].tolist(), u[m:].tolist())
