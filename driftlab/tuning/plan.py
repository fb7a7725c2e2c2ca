"""What a sweep of a corpus may look at."""

import importlib.util
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from driftlab._util.checks import several
from driftlab._util.errors import InputError
from driftlab._util.spec import unknown
from driftlab.detectors import Detector
from driftlab.metrics import Metric, metric
from driftlab.metrics.column import Value
from driftlab.metrics.measurements import Measurements
from driftlab.metrics.signal import Signal
from driftlab.trace.messages import short
from driftlab.trace.schema import Trace, TraceInfo

__all__ = ["Plan", "plan"]


@dataclass(frozen=True, eq=False)
class Plan:
    """What is measured, and what was left out or assumed.

    Attributes
    ----------
    traces : sequence of Trace
    metrics : tuple of Metric
    hidden : frozenset of str
        Signals that made a label.
    rules : frozenset of str
        Metrics and detectors that made a label, by name.
    notes : tuple of str
        In words.
    carried : frozenset of str
        Hidden signals that a step may carry: what reads a signal without naming it reads them too.
    """

    traces: Sequence[Trace]
    metrics: tuple[Metric, ...]
    hidden: frozenset[str]
    rules: frozenset[str]
    notes: tuple[str, ...]
    carried: frozenset[str] = frozenset()

    def circular(self, detector: Detector) -> str:
        """Say why a detector must not be judged by these labels; empty when it may.

        A label source of ``signal:NAME`` hides that signal; one of ``rule:SPEC`` marks the metrics and
        detectors the spec names.
        """
        # A detector that reads what made the labels would be judged by itself, and win.
        read = {getattr(each, "signal", None) for each in detector.needs}
        for name in sorted(self.hidden & read or (self.carried if "" in read else frozenset())):
            return f"circular: signal {name!r} made the label"
        for name in (detector.name, *(each.name for each in detector.needs)):
            if name in self.rules:
                return f"circular: {name} made the label"
        return ""


def plan(traces: Iterable[Trace] | Measurements, metrics: Iterable[str | Metric] | None) -> Plan:
    """Choose the metrics of a sweep; name the signals that made the labels, which it will hide.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> trace = Trace(id="a", label="good", label_source="signal:reward", steps=[Step.of(state="x", reward=1, tests=3)])
    >>> found = plan([trace], None)
    >>> sorted(found.hidden), [m for m in found.metrics if m.name == "signal"]
    (['reward'], [signal('reward'), signal('tests')])
    """
    asked = None if metrics is None else _parsed(metrics)  # before any trace is read: a misspelt name costs nothing
    if isinstance(traces, Measurements):
        infos: Sequence[TraceInfo] = traces.infos
        runs: Sequence[Trace] = ()
        signals = _measured_signals(traces)
        chosen = [m for m in _default(signals, "state") if m in traces.columns] if asked is None else asked
    else:
        runs = traces if isinstance(traces, Sequence) else list(traces)
        strange = next((each for each in runs if not isinstance(each, Trace)), None)
        if strange is not None:
            raise InputError(f"expected traces, got {short(strange)}; read a file with dl.read(path)")
        infos, signals = runs, _signals(runs)
        # Where agents write no state, the call is what they do.
        view = "state" if any(step.state is not None for trace in runs for step in trace.steps) else "call"
        chosen = _default(signals, view) if asked is None else asked
    hidden, rules = _sources(infos)
    expanded = [each for m in chosen for each in _named(m, sorted(signals))]
    notes = [f"signal {name!r} made the labels: hidden from every detector" for name in sorted(hidden)]
    notes += _assumed(infos, [m.signal for m in expanded if isinstance(m, Signal) and m.signal not in hidden])
    notes += _left_out(asked, expanded)
    carried = hidden if isinstance(traces, Measurements) else hidden & signals
    return Plan(runs, tuple(dict.fromkeys(expanded)), hidden, rules, tuple(notes), carried)


def _parsed(metrics: Iterable[str | Metric]) -> list[Metric]:
    if isinstance(metrics, str | Metric):
        return [metric(metrics)]
    return [metric(each) for each in several("metrics", metrics, "['exact', 'signal']")]


def _default(signals: Iterable[str], view: str) -> list[Metric]:
    """The five metrics of the field; embedding where it can run."""
    texts = ["exact", "difflib", "levenshtein"] + (["embedding"] if _installed() else [])
    return [*(metric(f"{name}(view={view!r})") for name in texts), *(Signal(name) for name in sorted(signals))]


def _installed() -> bool:
    return importlib.util.find_spec("sentence_transformers") is not None


def _named(wanted: Metric, signals: Sequence[str]) -> Sequence[Metric]:
    """Read `signal` without a name as every signal of the corpus."""
    if not isinstance(wanted, Signal):
        return (wanted,)
    if wanted.signal:
        if wanted.signal not in signals:
            raise unknown("signal", wanted.signal, signals or ["(the corpus has no signals)"])
        return (wanted,)
    return [wanted.replace(signal=name) for name in signals]


def _signals(traces: Iterable[Trace]) -> set[str]:
    return {name for trace in traces for step in trace.steps for name in step.signals or {}}


def _measured_signals(measured: Measurements) -> set[str]:
    return {each.signal for each in measured.columns if isinstance(each, Signal | Value)}


def _sources(infos: Iterable[TraceInfo]) -> tuple[frozenset[str], frozenset[str]]:
    """Read from the labels' sources which signals and which rules made them."""
    made: dict[str, set[str]] = {"signal": set(), "rule": set()}
    for source in {info.label_source for info in infos if info.label is not None and info.label_source}:
        kind, _, name = source.partition(":")
        if kind in made and name:
            made[kind].add(name.strip())
    return frozenset(made["signal"]), frozenset(word for name in made["rule"] for word in _words(name))


def _words(rule: str) -> list[str]:
    """Return the detectors, metrics and accumulators that a spec names; nothing where it is a sentence.

    Examples
    --------
    >>> _words("plateau(exact, run(patience=3))"), _words("plateau(jaccard(view='output'))"), _words("by hand")
    (['plateau', 'exact', 'run'], ['plateau', 'jaccard'], [])
    """
    if not re.fullmatch(r"[a-z_]\w*(\(.*\).*)?", rule, re.DOTALL):
        return []
    return re.findall(r"\b[a-z_]\w*\b(?!\s*=[^=])", re.sub(r"'[^']*'|\"[^\"]*\"", "", rule))


def _assumed(infos: Iterable[TraceInfo], signals: Iterable[str]) -> list[str]:
    declared = {name for info in infos for name in info.signal_specs}
    open_names = [name for name in dict.fromkeys(signals) if name not in declared]
    return [
        f"signal {name!r}: no trace says its direction, higher counts as better (--signal {name}:lower)"
        for name in open_names
    ]


def _left_out(asked: object, kept: Iterable[Metric]) -> list[str]:
    names = {each.name for each in kept}
    notes = []
    if asked is None and "embedding" not in names:
        notes.append("embedding left out: run pip install 'driftlab[embedding]'")
    if asked is None and "signal" not in names:
        notes.append("signal left out: the traces carry none")
    return notes
