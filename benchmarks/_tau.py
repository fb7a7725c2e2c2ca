"""The length-control table of the tau corpus: seven scores, pooled, length-matched, within the problem."""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import driftlab as dl
from benchmarks._questions import relabelled
from driftlab.evaluation.labels import Labels
from driftlab.evaluation.ranking import Ranking, Stratum
from driftlab.evaluation.strata import matched, whole_trace
from driftlab.trace.schema import Trace

SHARED = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "tau_support.jsonl.gz"
# Published: airline pooled, matched, within, retail pooled, matched, airline landmark at step 8.
PUBLISHED = {
    "steps": (0.683, 0.538, 0.426, 0.716, 0.574, None),
    "exact repeat count": (0.543, 0.494, 0.534, 0.560, 0.525, 0.505),
    "lag-1 similarity, max": (0.607, 0.439, 0.551, 0.607, 0.547, 0.550),
    "lag-1 similarity, mean": (0.519, 0.457, 0.625, 0.638, 0.569, None),
    "lag 1-10 similarity, max": (None, None, None, None, None, 0.598),
    "lag 1-10 similarity, leaky 0.9": (0.681, 0.544, 0.466, 0.673, 0.483, None),
    "stale x similar, leaky 0.9": (0.609, 0.531, 0.528, 0.547, 0.474, 0.517),
    "pure noise, max": (0.578, None, None, 0.563, None, None),
}
COLUMNS = ("airline pooled", "matched", "within", "retail pooled", "matched", "landmark 8")
_WORD = re.compile(r"[a-z0-9_]+")
_DECAY = 0.9
Turns = list[tuple[str, str]]


def table() -> dict[str, tuple[float, ...]]:
    """Compute the table from the shared file."""
    corpus = dl.read(SHARED)
    airline, retail = (_Task([t for t in corpus if word in (t.task or "")]) for word in ("airline", "retail"))
    early = _Task([trace for trace in airline.traces if len(turns(trace)) >= 8], first=8)
    out = {}
    for name in PUBLISHED:
        areas = [airline.area(name, kind) for kind in ("pooled", "matched", "within")]
        areas += [retail.area(name, "pooled"), retail.area(name, "matched"), early.area(name, "pooled")]
        out[name] = tuple(areas)
    return out


class _Task:
    def __init__(self, traces: list[Trace], first: int | None = None) -> None:
        self.traces, self.turns = traces, [turns(trace)[:first] for trace in traces]
        self.lengths = np.array([len(each) for each in self.turns], dtype=np.int64)
        infos = [relabelled(t.info, "failure", int(n)) for t, n in zip(traces, self.lengths, strict=True)]
        labels = Labels.of(infos, self.lengths)
        self.rankings = {"pooled": whole_trace(labels), "matched": matched(labels)}
        self.rankings["within"] = self.rankings["pooled"].within([trace.group for trace in traces])

    def area(self, name: str, kind: str) -> float:
        ranking = _one_number_each(self.rankings[kind])
        if name == "pure noise, max":
            return self._noise(ranking)
        values = np.array([score(name, each) for each in self.turns], dtype=np.float64)
        return ranking.auc(values, np.arange(len(values) + 1))

    def _noise(self, ranking: Ranking) -> float:
        """Expected area of the maximum of independent draws: L1 / (L1 + L0) a pair."""
        shares = [
            (self.lengths[s.stalled][:, None] / (self.lengths[s.stalled][:, None] + self.lengths[s.good])).ravel()
            for s in ranking.strata
        ]
        return float(np.mean(np.concatenate(shares))) if shares else float("nan")


def _one_number_each(ranking: Ranking) -> Ranking:
    """The same pairs where every trace is one number, each pair counting once."""
    return Ranking(tuple(Stratum(s.stalled, s.good, 0, 1) for s in ranking.strata), by_pair=True)


def turns(trace: Trace) -> Turns:
    """What the agent did and what came back; user steps are the result of what it said."""
    later = [step.state for step in trace.steps[1:]] + [None]
    out = []
    for step, answer in zip(trace.steps, later, strict=True):
        if step.event != "user":
            called = (f"{step.tool} {step.args}", step.output or "")
            out.append(called if step.tool is not None else (f"respond {step.state}", answer or ""))
    return out


def score(name: str, of: Turns) -> float:
    """Return one number a run."""
    if name == "steps":
        return len(of)
    if name == "exact repeat count":
        actions = [action for action, _ in of]
        return max(actions.count(action) for action in actions)
    alike = _alike(of)
    if name.startswith("lag-1"):
        last = [float(alike[i, i - 1]) if i else 0.0 for i in range(len(of))]
        return max(last) if name.endswith("max") else float(np.mean(last))
    near = [float(alike[i, max(0, i - 10) : i].max(initial=0.0)) for i in range(len(of))]
    if name.startswith("stale"):
        results = [re.sub(r"\d+", "0", result.lower()) for _, result in of]
        near = [near[i] * (bool(results[i]) and results[i] in results[:i]) for i in range(len(of))]
    return max(near) if name.endswith("max") else _leaky(near)


def _alike(of: Turns) -> NDArray[np.float64]:
    sets = [set(_WORD.findall(action.lower())) for action, _ in of]
    return np.array([[len(a & b) / len(a | b) if a | b else 1.0 for b in sets] for a in sets])


def _leaky(values: list[float]) -> float:
    level, highest = 0.0, 0.0
    for value in values:
        level = _DECAY * level + (1 - _DECAY) * value
        highest = max(highest, level)
    return highest


__all__ = ["COLUMNS", "PUBLISHED", "SHARED", "table"]
