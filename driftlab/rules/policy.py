"""Stop rules, the policies they form, the file both are kept in."""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import tomli_w
from msgspec import Struct
from numpy.typing import NDArray

from driftlab._util.errors import InputError
from driftlab._util.files import replacing
from driftlab._util.plain import Plain, for_toml
from driftlab.detectors import Context, Detector, Within, detector, first_alarms, needed, score
from driftlab.metrics.column import Column
from driftlab.metrics.measurements import Measurements
from driftlab.rules import provenance
from driftlab.rules.roles import Role, check_specs, context_of, joined_specs
from driftlab.trace.schema import SignalSpec, Trace

__all__ = ["Policy", "StopRule"]

FORMAT = "driftlab-policy/1"
Action = Literal["flag", "nudge", "stop"]


@dataclass(frozen=True)
class StopRule:
    """A detector and a threshold: the alarm is the first step whose score is at least the threshold.

    Parameters
    ----------
    detector : Detector or str
        What scores a trace.
    threshold : float
        In (0, 1], or ``inf``: watch only, never stop.
    task : str, optional
        The kind of work the rule is for; None is any.
    action : {"flag", "nudge", "stop"}
        What the monitor asks for at the alarm.
    evidence : mapping of str to plain values
        What was measured when the rule was chosen; saved with it.
    signals : mapping of str to SignalSpec
        Directions of the signals it was measured under; saved with it, since a live loop declares none.

    Raises
    ------
    InputError
        When the threshold, the action or a direction is not allowed.

    Examples
    --------
    >>> rule = StopRule("plateau(levenshtein(view='action'), run(3))", 0.9)
    >>> rule.detector.patience
    3
    """

    detector: Detector
    threshold: float
    task: str | None = None
    action: Action = "stop"
    evidence: Mapping[str, Plain] = field(default_factory=dict, compare=True, hash=False)
    signals: Mapping[str, SignalSpec] = field(default_factory=dict, compare=True, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "detector", detector(self.detector))
        object.__setattr__(self, "threshold", _number(self.threshold))
        object.__setattr__(self, "evidence", {key: for_toml(value) for key, value in self.evidence.items()})
        check_specs(self.signals)
        object.__setattr__(self, "signals", dict(self.signals))
        if not (0 < self.threshold <= 1 or self.threshold == math.inf):
            raise InputError(f"threshold must be in (0, 1], or inf to watch only, got {self.threshold!r}")
        if self.action not in ("flag", "nudge", "stop"):
            raise InputError(f"action must be 'flag', 'nudge' or 'stop', got {self.action!r}")

    @property
    def watch_only(self) -> bool:
        """Whether the rule never raises an alarm."""
        return self.threshold == math.inf

    def alarms(self, measurements: Measurements) -> NDArray[np.int64]:
        """Return the alarm step of each trace, -1 where there is none, shape (n_traces,)."""
        return first_alarms(self.detector.scores(measurements), measurements.offsets, self.threshold)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rule as a policy of one rule."""
        Policy((self,)).save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "StopRule":
        """Read a policy that holds exactly one rule.

        Raises
        ------
        InputError
            When the file is no policy, or holds another number of rules.
        """
        rules = Policy.load(path).rules
        if len(rules) != 1:
            raise InputError(f"{path}: holds {len(rules)} rules, not one; read it with dl.Policy.load")
        return rules[0]


@dataclass(frozen=True)
class Policy:
    """An ordered list of stop rules, any of which may raise the alarm.

    Parameters
    ----------
    rules : tuple of StopRule
        Tried in order; of two alarms at one step the earlier rule is named.
    signals : mapping of str to SignalSpec
        Directions for signals that a trace does not declare, beside and before those of the rules; every rule
        of a policy carries all of them. Where `resets` holds ``progress``, a new best of one of these is
        progress; without any, of every signal.
    roles : mapping of str to Role
        What tools are for, by name or pattern (``wait_*``); the first that fits counts.
    resets : tuple of str
        What starts every rule again: ``progress``, ``user`` (a turn of the user), ``compaction`` (unless its
        summary was seen before).
    outages : int
        So many calls in a row that failed because someone else was slow or away (rate limits, networks) count
        as one, >= 1.
    provenance : mapping of str to plain values
        How the policy came to be: data, splits, selection, versions.

    Examples
    --------
    >>> policy = Policy((StopRule("plateau(exact, run(3))", 1.0, task="code"),))
    >>> [rule.threshold for rule in policy.rules_for("code")], policy.rules_for("sql")
    ([1.0], ())
    """

    rules: tuple[StopRule, ...]
    signals: Mapping[str, SignalSpec] = field(default_factory=dict, hash=False)
    provenance: Mapping[str, Plain] = field(default_factory=dict, hash=False)
    roles: Mapping[str, Role] = field(default_factory=dict, hash=False)
    resets: tuple[str, ...] = ()
    outages: int = 1

    def __post_init__(self) -> None:
        rules = tuple(self.rules) if isinstance(self.rules, Iterable) else (self.rules, None)
        if not all(isinstance(rule, StopRule) for rule in rules):
            raise InputError(f"rules must be a tuple of StopRule, got {self.rules!r}")
        check_specs(self.signals)
        object.__setattr__(self, "signals", joined_specs(self.signals, [rule.signals for rule in rules]))
        # Of a rule that is taken out of its policy and saved alone, the directions must not get lost.
        object.__setattr__(self, "rules", tuple(replace(rule, signals=self.signals) for rule in rules))
        object.__setattr__(self, "resets", tuple(self.resets))
        _ = self._context  # raises on what it does not allow
        object.__setattr__(self, "provenance", {key: for_toml(value) for key, value in self.provenance.items()})

    @cached_property
    def _context(self) -> Context | None:
        return context_of(self.roles, self.resets, self.signals, self.outages)

    @classmethod
    def of(cls, policy: "Policy | StopRule") -> "Policy":
        """Return a policy as it is, a rule as a policy of one."""
        return cls((policy,)) if isinstance(policy, StopRule) else policy

    def running(self, rule: StopRule) -> Detector:
        """Return the detector of a rule as this policy runs it: under its roles, its resets."""
        return rule.detector if self._context is None else Within(rule.detector, self._context)

    @property
    def needs(self) -> tuple[Column, ...]:
        """Every column some rule needs."""
        return needed([self.running(rule) for rule in self.rules])

    def rules_for(self, task: str | None) -> tuple[StopRule, ...]:
        """Return the rules for a task: its own, and those for any task."""
        return tuple(rule for rule in self.rules if rule.task is None or rule.task == task)

    def prepared(self, traces: Iterable[Trace]) -> Iterable[Trace]:
        """Yield the traces with the policy's signal directions where they declare none."""
        for trace in traces:
            specs = {**self.signals, **trace.signal_specs}
            yield trace if specs == trace.signal_specs else trace.replace(signal_specs=specs)

    def alarms(self, measurements: Measurements) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return each trace's first alarm and the rule that raised it, both (n_traces,), -1 for none.

        Examples
        --------
        >>> from driftlab.metrics.measurements import measure
        >>> from driftlab.trace.schema import Step
        >>> policy = Policy((StopRule("plateau(exact, run(1))", 1.0), StopRule("steps", 0.5)))
        >>> trace = Trace(id="a", steps=[Step(state="x"), Step(state="x")])
        >>> [values.tolist() for values in policy.alarms(measure([trace], policy.needs))]
        [[1], [0]]
        """
        first = np.full(len(measurements.infos), -1, dtype=np.int64)
        which = first.copy()
        scores = score(measurements, [self.running(rule) for rule in self.rules])
        tasks = np.array([info.task or "" for info in measurements.infos], dtype=object)
        for number, rule in enumerate(self.rules):
            own = first_alarms(scores[self.running(rule)], measurements.offsets, rule.threshold)
            mine = (rule.task is None) | (tasks == rule.task)
            earlier = mine & (own >= 0) & ((first < 0) | (own < first))
            first[earlier], which[earlier] = own[earlier], number
        return first, which

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy as TOML, whole or not at all."""
        with replacing(path) as temporary:
            temporary.write_text(self.text(), encoding="utf-8")

    def text(self) -> str:
        """Return the policy as it is written to a file."""
        rules = [_rule_table(rule) for rule in self.rules]
        table = {
            "format": FORMAT,
            "provenance": {"written_by": f"driftlab {provenance.version()}", **self.provenance},
            "masks": provenance.masks(self.needs),
            "models": provenance.models(self.needs),
            "signals": msgspec.to_builtins(dict(self.signals)),
            "resets": list(self.resets),
            "outages": self.outages if self.outages > 1 else None,
            "roles": msgspec.to_builtins(dict(self.roles)),
            "rules": rules,
        }
        return tomli_w.dumps({key: value for key, value in table.items() if value or key == "rules"})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Policy":
        """Read a policy.

        Raises
        ------
        InputError
            When the file is missing, no TOML, of another format, or names what driftlab does not have.

        Warns
        -----
        DriftlabWarning
            When a mask has changed since the policy was written: its thresholds were measured under the old one.
        """
        try:
            return cls.parse(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
        except InputError as error:
            raise InputError(f"{path}: {error}") from error

    @classmethod
    def parse(cls, text: str) -> "Policy":
        """Read a policy from the text of its file."""
        try:
            file = msgspec.toml.decode(text, type=_File)
        except msgspec.DecodeError as error:
            raise InputError(f"not a {FORMAT} file: {error}") from error
        provenance.check_masks(file.masks)
        origin = {key: value for key, value in file.provenance.items() if key != "written_by"}
        rules = tuple(StopRule(detector(r.detector), r.threshold, r.task, r.action, r.evidence) for r in file.rules)
        policy = cls(rules, file.signals, origin, file.roles, file.resets, file.outages)
        provenance.check_models(policy.needs, file.models)
        return policy


class _Rule(Struct, forbid_unknown_fields=True):
    detector: str
    threshold: float
    task: str | None = None
    action: Action = "stop"
    evidence: dict[str, Plain] = {}


class _File(Struct, forbid_unknown_fields=True):
    format: Literal["driftlab-policy/1"]
    rules: list[_Rule]
    provenance: dict[str, Plain] = {}
    masks: dict[str, str] = {}
    models: dict[str, str] = {}
    signals: dict[str, SignalSpec] = {}
    roles: dict[str, Role] = {}
    resets: tuple[str, ...] = ()
    outages: int = 1


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"threshold must be in (0, 1], or inf to watch only, got {value!r}") from error


def _rule_table(rule: StopRule) -> dict[str, Any]:
    # Every parameter is written out: a default that changes later must not change a saved rule.
    table: dict[str, Any] = {"task": rule.task, "detector": rule.detector.full(), "threshold": rule.threshold}
    table |= {"action": rule.action, "evidence": dict(rule.evidence)}
    return {key: value for key, value in table.items() if value is not None and value != {}}
