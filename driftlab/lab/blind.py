"""Where each metric is blind."""

import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab.metrics import METRICS, Metric, Pairwise, metric
from driftlab.metrics.measurements import measure
from driftlab.metrics.signal import Signal
from driftlab.trace.schema import Trace

HEAD = " ".join(
    f"check {n}: module {['alpha', 'beta', 'gamma', 'delta'][n % 4]} has no unused import." for n in range(60)
)
BLOCK = "open the file, read its first ten lines, close it again. "


@dataclass(frozen=True)
class Change:
    """A small change between two texts, and whether it is news.

    Attributes
    ----------
    name : str
        What changed.
    earlier, later : str
        The texts.
    news : bool
        Whether the later text says something the earlier one did not.
    """

    name: str
    earlier: str
    later: str
    news: bool


CHANGES = (
    Change("one count moved", "5 failed, 37 passed", "4 failed, 38 passed", True),
    Change("one word turns the meaning", "the release was published", "the release was not published", True),
    Change("the next page", "sed -n 1,40p billing.py", "sed -n 41,80p billing.py", True),
    Change("the tail of a long text", f"{HEAD} ERROR: permission denied", f"{HEAD} All checks passed", True),
    Change("order of a list", '{"files":["a.py","b.py"]}', '{"files":["b.py","a.py"]}', True),
    Change("a flag, a quote", "grep discount", 'grep -i "discount"', False),
    Change("order of keys", '{"path": "src", "depth": 2}', '{"depth": 2, "path": "src"}', False),
    Change("other words", "I will now look at the parser.", "Next, I am going to examine the parser.", False),
    Change(
        "order of results", "a.py: 3 hits\nb.py: 1 hit\nc.py: 7 hits", "c.py: 7 hits\na.py: 3 hits\nb.py: 1 hit", False
    ),
    Change("clock, id", "12:30:01 run 3f9ac21b failed", "12:31:44 run 77be01aa failed", False),
    Change("the same again, longer", BLOCK * 3, BLOCK * 5, False),
    Change("what cannot be seen", "plan ready", "pl\u200ban\u00a0ready", False),
    Change("letter case", "Plan Ready", "plan ready", False),
)


def blind_spots(
    metrics: Iterable[str | Metric] | None = None, changes: Sequence[Change] = CHANGES
) -> list[dict[str, Any]]:
    """Return what each pairwise metric makes of small changes, one row a change.

    Parameters
    ----------
    metrics : iterable of str or Metric, optional
        By default every pairwise metric that is installed, under its default mask.
    changes : sequence of Change
        By default those that users met.

    Returns
    -------
    list of dict
        ``change``, ``news`` (whether the later text says something new), then one delta a metric: one that is small
        where `news` is True, or large where it is False, is a blind spot. ``pandas.DataFrame(rows)`` is a table.

    Examples
    --------
    >>> row = next(r for r in blind_spots(["exact", "arguments"]) if r["change"] == "order of keys")
    >>> row["news"], row["exact"], row["arguments"]
    (False, 1.0, 0.0)
    """
    chosen = [metric(m) for m in metrics] if metrics is not None else _installed()
    return [
        {"change": change.name, "news": change.news}
        | {repr(m): m.compare(change.earlier, change.later) for m in chosen if isinstance(m, Pairwise)}
        for change in changes
    ]


def under_every_metric(
    trace: Trace, metrics: Iterable[str | Metric] | None = None, *, view: str | None = None
) -> dict[str, NDArray[np.float64]]:
    """Return one run as every metric sees it.

    Parameters
    ----------
    trace : Trace
        The run.
    metrics : iterable of str or Metric, optional
        By default everything registered and installed, with one `signal` for each signal of the run.
    view : str, optional
        What the text metrics read; by default each metric's own.

    Returns
    -------
    dict of str to (n_steps,) array
        Deltas by the metric's spec; `nan` where it has no opinion.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> run = Trace(id="a", steps=[Step(state="a b"), Step(state="b a")])
    >>> {name: deltas.tolist() for name, deltas in under_every_metric(run, ["exact", "jaccard"]).items()}
    {'exact': [1.0, 1.0], 'jaccard': [1.0, 0.0]}
    """
    chosen = [metric(m) for m in metrics] if metrics is not None else _for_run(trace)
    if view is not None:
        chosen = [m.replace(view=view) if _has_view(m) else m for m in chosen]
    found = measure([trace], chosen)
    return {repr(m): found.deltas(m) for m in dict.fromkeys(chosen)}


def _for_run(trace: Trace) -> list[Metric]:
    names = sorted({name for step in trace.steps for name in step.signals or {}})
    return [*(m for m in _installed() if m.name != "signal"), *(Signal(name) for name in names)]


def _installed() -> list[Metric]:
    with_model = importlib.util.find_spec("sentence_transformers") is not None
    return [kind() for kind in METRICS.values() if with_model or kind.name != "embedding"]


def _has_view(found: Metric) -> bool:
    return found.name != "arguments" and "view" in {field.name for field in fields(found)}  # type: ignore[arg-type]
