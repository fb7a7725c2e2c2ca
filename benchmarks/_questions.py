"""Three questions that are never mixed: does it detect stalls, predict failure, agree with people."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab._util.spec import choice
from driftlab.evaluation.auc import Auc
from driftlab.evaluation.bootstrap import Bootstrap
from driftlab.evaluation.ranking import Ranking, Stratum
from driftlab.evaluation.stats import cluster_weights
from driftlab.metrics import Metric
from driftlab.metrics.measurements import Measurements, measure
from driftlab.trace.schema import Span, Trace, TraceInfo
from driftlab.tuning.plan import plan
from driftlab.tuning.sweep import Sweep, sweep

Question = Literal["stall", "stall, failed runs as good", "failure"]
QUESTIONS: tuple[Question, ...] = ("stall", "stall, failed runs as good", "failure")


def ask(
    question: Question,
    traces: Iterable[Trace] | Measurements,
    metrics: Iterable[str | Metric] | None = None,
    *,
    outcome_source: str | None = None,
    **options: Any,
) -> Sweep:
    """Sweep the same detectors against what one question counts as stalled and as good.

    Parameters
    ----------
    question : str
        "stall": labels and spans, as `dl.sweep`. "stall, failed runs as good": the same where runs that failed
        without a label count as good, to see what leaving them out hides. "failure": failed against solved runs,
        over their first H steps; a "hit" is an alarm on a run that fails, whatever step.
    traces : corpus, iterable of Trace, or Measurements
    metrics : iterable, optional
        As in `dl.sweep`.
    outcome_source : str, optional
        For "failure": where the outcome came from, "signal:NAME" or "rule:SPEC". By default the label's source,
        since a signal that made the label mostly made the outcome; what it names is hidden.
    **options
        Those of `dl.sweep`.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> runs = [Trace(id=str(n), outcome=n % 2 == 0, steps=[Step(state=s) for s in "abc"]) for n in range(50)]
    >>> ask("failure", runs, ["exact"], patience=[1], decay=[], draws=50).cells[0].verdict
    'not better than steps'
    """
    choice("question", question, QUESTIONS)
    if isinstance(traces, Measurements):
        pairs = zip(traces.infos, traces.lengths, strict=True)
        infos = tuple(relabelled(info, question, int(n), outcome_source) for info, n in pairs)
        return sweep(Measurements(infos, traces.offsets, traces.columns), metrics, **options)
    walked = [relabelled(trace, question, len(trace.steps), outcome_source) for trace in traces]
    return sweep(walked, metrics, **options)


def relabelled(info: Any, question: Question, length: int, source: str | None = None) -> Any:
    """Return a trace, or its info, labelled as a question asks.

    Examples
    --------
    >>> relabelled(TraceInfo(id="a", outcome=False), "failure", 9).stalls
    (Span(start=0, end=None, kind=None, extra=None),)
    """
    change: dict[str, Any] = {"label_source": source} if source is not None else {}
    if question == "failure":
        fails = info.outcome is False and length > 0
        label = "stalled" if fails else "good" if info.outcome else None
        change |= {"label": label, "stalls": (Span(0),) if fails else ()}
    elif question == "stall, failed runs as good" and info.label is None and info.outcome is False:
        change |= {"label": "good", "stalls": ()}
    return msgspec.structs.replace(info, **change)


def people(
    traces: Sequence[Trace],
    labels: Iterable[Mapping[str, Any]],
    metrics: Iterable[str | Metric],
    *,
    positive: Iterable[str] = ("Repetition",),
    by: str = "agent",
    **options: Any,
) -> Any:
    """Compare a metric with what people said of single steps: does 1 - delta rank the repetitions highest?

    No trace is longer than another here, so there is no length effect: the cleanest test of a metric.

    Parameters
    ----------
    traces : sequence of Trace
    labels : iterable of mapping
        One row a labelled step: id (of the trace), step (from 0), relation (to the step before).
    metrics : iterable of str or Metric
    positive : iterable of str
        Relations that a high similarity should find.
    by : {"agent", "task", "setup", "source"}
        One row each, and one for all.
    **options
        ``draws`` (1000), ``seed`` (0), and those of `dl.measure`.

    Returns
    -------
    pandas.DataFrame
        Columns: verdict, `by`, metric, n_pairs, n_positive, n_unknown (steps the metric has no opinion on: left
        out), traces, problems, auc, auc_low, auc_high (bootstrap over problems, or Newcombe where they are
        few), average_precision, prevalence.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> trace = Trace(id="a", agent="x", steps=[Step(state=s) for s in "abbc"])
    >>> relations = {1: "Follow-up", 2: "Repetition", 3: "Follow-up"}
    >>> said = [{"id": "a", "step": step, "relation": relation} for step, relation in relations.items()]
    >>> people([trace], said, ["exact"])[["agent", "n_pairs", "n_positive", "auc"]].values.tolist()
    [['(all)', 3, 1, 1.0], ['x', 3, 1, 1.0]]
    """
    choice("by", by, ("agent", "task", "setup", "source"))
    draws, seed = options.pop("draws", 1000), options.pop("seed", 0)
    asked = plan(traces, metrics)
    measured = measure(asked.traces, asked.metrics, **options)
    trace, rows, said = _pairs(measured, labels, frozenset(positive))
    kinds = np.array([getattr(info, by) or "(none)" for info in measured.infos], dtype=object)[trace]
    weights = cluster_weights([info.group for info in measured.infos], draws, seed)[trace]
    table = []
    for each in asked.metrics:
        similar = 1 - measured.deltas(each)[rows]
        for kind in ("(all)", *sorted(set(kinds))):
            inside = np.flatnonzero((kinds == kind) | (kind == "(all)"))
            circular = f"circular: {each.name} made the label" if each.name in asked.rules else ""
            row = {"verdict": circular, by: kind, "metric": repr(each)}
            table.append(row | _agreed(similar[inside], said[inside], trace[inside], weights[inside], measured.infos))
    return need("pandas", "study").DataFrame(table)


Said = Iterable[Mapping[str, Any]]


def _pairs(measured: Measurements, labels: Said, positive: frozenset[str]) -> tuple[Any, Any, Any]:
    """Trace, row and whether it is positive of each labelled step."""
    places = {info.id: place for place, info in enumerate(measured.infos)}
    trace, rows, said = [], [], []
    for label in labels:
        if label["id"] not in places:
            raise InputError(f"step label for trace {label['id']!r}, which is not among the {len(places)} traces")
        place, step = places[label["id"]], int(label["step"])
        if not 0 <= step < measured.lengths[place]:
            has = f"which has {measured.lengths[place]} steps"
            raise InputError(f"step label for step {step} of trace {label['id']!r}, {has}")
        trace.append(place)
        rows.append(measured.offsets[place] + step)
        said.append(label["relation"] in positive)
    return np.array(trace, dtype=np.int64), np.array(rows, dtype=np.int64), np.array(said, dtype=bool)


def _agreed(similar: Any, said: Any, trace: Any, weights: Any, infos: Sequence[TraceInfo]) -> dict[str, Any]:
    known = ~np.isnan(similar)
    similar, said, trace, weights = similar[known], said[known], trace[known], weights[known]
    groups = [infos[i].group for i in trace]
    yes, no = np.flatnonzero(said), np.flatnonzero(~said)
    row: dict[str, Any] = {"n_pairs": len(said), "n_positive": len(yes), "n_unknown": int((~known).sum())}
    row |= {"traces": len(set(trace.tolist())), "problems": len(set(groups))}
    if not (len(yes) and len(no)):
        names = ("auc", "auc_low", "auc_high", "average_precision", "prevalence")
        return row | dict.fromkeys(names, math.nan)
    # Each labelled step is a trace of one step here.
    ranking, offsets = Ranking((Stratum(yes, no, 0, 1),)), np.arange(len(said) + 1)
    problems = len({groups[i] for i in yes}), len({groups[i] for i in no})
    designs = ranking.design(range(len(said))), ranking.design(groups)
    compared = ranking.compared(similar, offsets)
    areas = Bootstrap(ranking, weights).areas(compared)
    ranked = Auc(float(ranking.areas(compared)[0]), areas, len(yes), len(no), problems, *designs)
    low, high = ranked.interval()
    found = need("sklearn.metrics", "study").average_precision_score(said, similar)
    row |= {"auc": ranked.auc, "auc_low": low, "auc_high": high, "average_precision": float(found)}
    return row | {"prevalence": float(said.mean())}


__all__ = ["QUESTIONS", "ask", "people", "relabelled"]
