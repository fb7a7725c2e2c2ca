"""What the notebooks need that no other part has: numbers that ship, runs worth reading."""

import importlib.util
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from driftlab._util.extras import need
from driftlab._util.resources import data_folder
from driftlab.detectors import needed
from driftlab.metrics import Metric, metric
from driftlab.metrics.cache import Cache, content_key
from driftlab.metrics.column import Column
from driftlab.metrics.embedding import Embedding
from driftlab.metrics.measurements import Measurements, measure
from driftlab.metrics.signal import Signal
from driftlab.trace.corpus import Corpus, read
from driftlab.trace.schema import Trace
from driftlab.trace.views import column
from driftlab.tuning.plan import plan
from driftlab.tuning.sweep import Sweep, grid, sweep

__all__ = [
    "LIGHT",
    "LIMIT",
    "STUDIED",
    "Prepared",
    "hard_runs",
    "incident",
    "light",
    "main_task",
    "prepare",
    "repeated",
    "study",
]

Floats = NDArray[np.float64]

# The demo, as the command, the figures and the README tell it.
METRICS = ("exact", "difflib", "levenshtein", "embedding", "signal")
LIGHT = ("exact", "difflib", "levenshtein", "signal")  # what the rule may use, so that it runs without a model
LIMIT = 0.05
STUDIED = 0.7  # share of problems that are studied; the rules are replayed on the rest


@dataclass(frozen=True, eq=False)
class Prepared:
    """A corpus measured for a sweep.

    Attributes
    ----------
    measured : Measurements
    metrics : tuple of Metric
        What was measured, for `dl.sweep`.
    notes : tuple of str
        What was left out, in words.
    """

    measured: Measurements
    metrics: tuple[Metric, ...]
    notes: tuple[str, ...]


def prepare(
    corpus: Corpus, metrics: Iterable[str | Metric] | None = None, *, cache: str | os.PathLike[str] | None = None
) -> Prepared:
    """Measure a corpus, taking embedding deltas from the numbers that ship wherever they fit.

    Parameters
    ----------
    corpus : Corpus
    metrics : iterable of str or Metric, optional
        As in `dl.sweep`. An embedding that neither ships nor can be computed here is left out, with a note.
    cache : path, optional
        Folder that keeps what was measured.

    Examples
    --------
    >>> from driftlab.trace.schema import Step, Trace
    >>> found = prepare(Corpus([Trace(id="a", label="good", steps=[Step(state="x")])]), ["exact"])
    >>> found.metrics, found.notes
    ((exact,), ())
    """
    asked = plan(corpus, metrics)
    wanted = asked.metrics if metrics is not None else _with_shipped(corpus, asked.metrics)
    ready: dict[Column, Floats] = {each: column for each in wanted if (column := _shipped(corpus, each)) is not None}
    kept = tuple(each for each in wanted if each in ready or not _heavy(each) or _installed())
    notes = tuple(f"{each!r} left out: run pip install 'driftlab[embedding]'" for each in wanted if each not in kept)
    inputs = needed(grid(plan(corpus, kept)))
    measured = measure(corpus, [each for each in inputs if each not in ready], cache=cache)
    return Prepared(Measurements(measured.infos, measured.offsets, {**measured.columns, **ready}), kept, notes)


def light(corpus: Corpus, metrics: Iterable[str | Metric] | None = None) -> list[Metric]:
    """Return the metrics that need no model, with one `signal` for all, so that a rule made of them runs anywhere.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> [each.name for each in light(Corpus([Trace(id="a", steps=[Step.of(state="x", reward=1, cost=2)])]))]
    ['exact', 'difflib', 'levenshtein', 'signal']
    """
    asked = plan(corpus, metrics)
    kept = [Signal() if isinstance(each, Signal) else each for each in asked.metrics if not _heavy(each)]
    return list(dict.fromkeys(kept))


def _with_shipped(corpus: Corpus, metrics: tuple[Metric, ...]) -> tuple[Metric, ...]:
    own = metric("embedding")
    return metrics if own in metrics or _shipped(corpus, own) is None else (*metrics, own)


def _shipped(corpus: Corpus, wanted: Column) -> Floats | None:
    """The deltas of a model for exactly these traces, where they ship; the model itself is not loaded."""
    folder = data_folder() / "demo" / "measured"
    if not isinstance(wanted, Embedding) or not folder.is_dir() or not len(corpus):
        return None
    found = Cache(folder).load(_key(wanted, folder))
    keys = [content_key(trace) for trace in corpus]
    return np.concatenate([found[key] for key in keys]) if all(key in found for key in keys) else None


def _key(wanted: Embedding, folder: Path) -> str:
    """The key of a model's deltas; where the model is not installed, that of the revision that ships."""
    try:
        return wanted.key
    except ImportError:
        start = f"{super(Embedding, wanted).key} model "
        read_schema = need("pyarrow.parquet", "study").read_schema
        kept = [(read_schema(path).metadata or {}) for path in sorted(folder.glob("*/*.parquet"))]
        known = [each.get(b"driftlab_key", b"").decode() for each in kept]
        return next((key for key in known if key.startswith(start)), start)


def _heavy(wanted: Metric) -> bool:
    return isinstance(wanted, Embedding)


def _installed() -> bool:
    return importlib.util.find_spec("sentence_transformers") is not None


def incident() -> Trace:
    """Return the run of 41 steps that the notebooks begin with.

    Examples
    --------
    >>> len(incident().steps)
    41
    """
    return read(data_folder() / "demo" / "incident.jsonl")[0]


def hard_runs(corpus: Corpus) -> list[Trace]:
    """Return two runs that the eye gets wrong: the good one that repeats most, the stalled one that repeats least.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, Step, Trace
    >>> busy = Trace(id="busy", label="good", steps=[Step(state="x"), Step(state="x")])
    >>> quiet = Trace(id="quiet", label="stalled", stalls=[Span(1)], steps=[Step(state="x"), Step(state="y")])
    >>> [trace.id for trace in hard_runs(Corpus([quiet, busy]))]
    ['busy', 'quiet']
    """
    good, stalled = (list(corpus.filter(label=label)) for label in ("good", "stalled"))
    found = [max(good, key=repeated, default=None), min(stalled, key=repeated, default=None)]
    return [trace for trace in found if trace is not None]


def main_task(corpus: Corpus) -> str:
    """Return the task with most to learn from: most runs of its rarer label; empty where runs have no task.

    Examples
    --------
    >>> from driftlab.trace.schema import Step, Trace
    >>> runs = [Trace(id=f"{task}{n}", task=task, label="good", steps=[]) for task in ("a", "b") for n in (1, 2)]
    >>> main_task(Corpus([*runs, Trace(id="c", task="b", label="stalled", steps=[])]))
    'b'
    """
    tasks = sorted({trace.task or "" for trace in corpus})
    counts = Counter((trace.task or "", trace.label) for trace in corpus)
    return max(tasks, key=lambda task: min(counts[task, "good"], counts[task, "stalled"]), default="")


def repeated(trace: Trace) -> float:
    """Return the share of steps whose call (or, without calls, state) the run had made before.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> repeated(Trace(id="a", steps=[Step(state=s) for s in "abab"]))
    0.5
    """
    view = "call" if any(step.has_call for step in trace.steps) else "state"
    symbols = column(trace.steps, view, "text").symbols
    spoken = symbols[symbols >= 0]
    return 1 - len(np.unique(spoken)) / len(spoken) if len(spoken) else 0.0


def study(corpus: Corpus) -> Sweep:
    """Sweep the five metrics; the embedding's deltas ship as numbers, so that no model is loaded."""
    prepared = prepare(corpus, METRICS)
    return sweep(prepared.measured, prepared.metrics)
