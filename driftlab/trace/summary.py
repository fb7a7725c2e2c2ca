"""Counts of what a corpus holds, for people and for programs."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from driftlab.trace.schema import SignalSpec, Step, Trace, TraceInfo

__all__ = ["Summary", "shared_specs", "summarise"]

ABSENT = "(none)"


@dataclass(frozen=True)
class Summary:
    """What a corpus holds.

    Attributes
    ----------
    traces, steps : int
    lengths : tuple of int
        Shortest, median and longest trace in steps; zeros when there is no trace.
    labels, label_sources, tasks, outcomes : dict of str to int
        Traces by value.
    problems, setups, agents : int
        Different ones; traces without a problem count as one each.
    onsets : int
        Stalled traces with a marked stall.
    signals : dict of str to str
        Direction of each signal; "higher (assumed)" where no trace declares it.
    missing : dict of str to int
        Steps (of `steps`) without each field.
    """

    traces: int
    steps: int
    lengths: tuple[int, int, int]
    labels: dict[str, int]
    label_sources: dict[str, int]
    tasks: dict[str, int]
    outcomes: dict[str, int]
    problems: int
    setups: int
    agents: int
    onsets: int
    signals: dict[str, str]
    missing: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"traces     {self.traces}, {self.steps} steps (shortest, median, longest: {_join(self.lengths)})"]
        lines += [f"{name:<10} {_counts(getattr(self, name))}" for name in ("tasks", "labels")]
        lines += [f"{'sources':<10} {_counts(self.label_sources)}", f"{'outcomes':<10} {_counts(self.outcomes)}"]
        lines += [f"{'groups':<10} {self.problems} problems, {self.setups} setups, {self.agents} agents"]
        lines += [f"{'onsets':<10} {self.onsets} of {self.labels.get('stalled', 0)} stalled traces have a marked stall"]
        lines += [f"{'signals':<10} {', '.join(f'{k}: {v}' for k, v in self.signals.items()) or ABSENT}"]
        absent = {name: count for name, count in self.missing.items() if count}
        lines += [f"{'missing':<10} {_counts(absent)} (steps without the field)" if absent else "missing    nothing"]
        return "\n".join(lines)


def summarise(traces: Iterable[Trace]) -> Summary:
    """Walk the traces once and count.

    Examples
    --------
    >>> found = summarise([Trace(id="a", label="good", steps=[Step.of(passed=1)])])
    >>> found.labels, found.signals, found.missing["state"]
    ({'good': 1}, {'passed': 'higher (assumed)'}, 1)
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("task", "label", "label_source", "outcome")}
    groups: dict[str, set[Any]] = {name: set() for name in ("group", "setup", "agent")}
    missing: Counter[str] = Counter({name: 0 for name in Step.__struct_fields__ if name not in ("extra", "event")})
    lengths: list[int] = []
    signals: dict[str, str] = {}
    onsets = 0
    for trace in traces:
        for name, counter in counts.items():
            value = getattr(trace, name)
            counter[ABSENT if value is None else str(value).lower() if name == "outcome" else str(value)] += 1
        for name, found in groups.items():
            found.add(getattr(trace, name))
        lengths.append(len(trace.steps))
        onsets += trace.label == "stalled" and trace.onset is not None
        signals |= _signals(trace, signals)
        missing.update(name for step in trace.steps for name in missing if getattr(step, name) is None)
    return Summary(
        traces=len(lengths),
        steps=sum(lengths),
        lengths=_spread(lengths),
        labels=_sorted(counts["label"]),
        label_sources=_sorted(counts["label_source"]),
        tasks=_sorted(counts["task"]),
        outcomes=_sorted(counts["outcome"]),
        problems=len(groups["group"]),
        setups=len(groups["setup"] - {None}),
        agents=len(groups["agent"] - {None}),
        onsets=onsets,
        signals=signals,
        missing=dict(missing),
    )


def shared_specs(traces: Iterable[TraceInfo]) -> dict[str, SignalSpec]:
    """Return what traces declare of their signals; a goal only where all of them have the same.

    Examples
    --------
    >>> shared_specs([TraceInfo(id="a", signal_specs={"error": SignalSpec("lower")})])["error"].direction
    'lower'
    """
    found: dict[str, SignalSpec] = {}
    for trace in traces:
        for name, spec in trace.signal_specs.items():
            same = found.setdefault(name, spec).goal == spec.goal
            found[name] = spec if same else SignalSpec(spec.direction)
    return found


def _signals(trace: Trace, known: dict[str, str]) -> dict[str, str]:
    found = {name: known.get(name, "higher (assumed)") for step in trace.steps for name in step.signals or {}}
    return found | {name: spec.direction for name, spec in trace.signal_specs.items()}


def _spread(lengths: list[int]) -> tuple[int, int, int]:
    ordered = sorted(lengths)
    return (ordered[0], ordered[len(ordered) // 2], ordered[-1]) if ordered else (0, 0, 0)


def _sorted(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _counts(found: dict[str, int]) -> str:
    return ", ".join(f"{key} {count}" for key, count in found.items()) or ABSENT


def _join(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
