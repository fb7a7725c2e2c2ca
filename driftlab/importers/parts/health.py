"""What an import found, dropped, could not read."""

import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab.trace.schema import Step, Trace

__all__ = ["COUNTS", "HealthReport"]

SHOWN = 50  # problems kept word for word; the rest are counted

# Each count has one line in the report; the order is the order of printing.
COUNTS = {
    "calls_without_result": "calls that no result answers",
    "empty_outputs": "calls whose result is empty text",
    "results_without_call": "results that answer no call (dropped)",
    "duplicated_ids": "trace ids met again (renamed id#2, id#3, ...)",
    "rewritten": "records written again in a stream (the last wins)",
    "replayed": "records that repeat earlier history (dropped)",
    "truncated": "fields cut short by the writer",
    "out_of_order": "records out of time order (sorted)",
    "dangling_parents": "records whose parent is nowhere (file order kept)",
    "capture_off": "spans without content: capture was switched off",
    "joined": "files that continue another file (joined)",
    "missing_parts": "runs that go on in a file that is not here",
    "repaired": "values changed so that they can be kept",
}

_CUT = re.compile(
    r"(?:\[|<|\(|\.\.\.|\u2026)[^\n\[\]<>()]{0,60}(?:truncated|clipped|omitted|elided)[^\n\[\]<>()]{0,60}(?:\]|>|\)|\.\.\.|\u2026|$)"
    r"|\.\.\.\[\d+ chars? cut\]|\u2026 ?\+\d+ lines",
)
_EDGE = 200  # characters at either end of a text that are searched for a mark of truncation
_CUT_LENGTH = 80  # texts shorter than this have equal lengths by chance


@dataclass
class HealthReport:
    """Counts of one import, filled while it runs.

    Attributes
    ----------
    files : Counter of str
        Files by format.
    traces, steps : int
    counts : Counter of str
        What `COUNTS` names.
    unknown : Counter of str
        Kinds of record that no importer knows, and how often each was met.
    problems : list of str
        Each names file, position, reason; at most `SHOWN` of them.
    n_problems : int
        All of them.

    Examples
    --------
    >>> report = HealthReport()
    >>> report.saw(Trace(id="a", steps=[Step(tool="ls"), Step(tool="ls", output="")]))
    >>> report.counts["calls_without_result"], report.counts["empty_outputs"]
    (1, 1)
    """

    files: Counter[str] = field(default_factory=Counter)
    traces: int = 0
    steps: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    n_problems: int = 0
    strict: bool = False
    _filled: Counter[str] = field(default_factory=Counter, repr=False)
    _longest: dict[str, tuple[int, int, int]] = field(default_factory=dict, repr=False)

    def count(self, name: str, number: int = 1) -> None:
        """Add to one of the counts that `COUNTS` names."""
        if number:
            self.counts[name] += number

    def unknown_kind(self, kind: object) -> None:
        """Count a kind of record that no importer knows."""
        self.unknown[str(kind)[:80]] += 1

    def problem(self, message: str) -> None:
        """Note what could not be read; raise it instead when the import is strict.

        Raises
        ------
        InputError
            With `message`, when `strict`.
        """
        if self.strict:
            raise InputError(message)
        self.n_problems += 1
        if len(self.problems) < SHOWN:
            self.problems.append(message)

    def saw(self, trace: Trace) -> None:
        """Count a finished trace."""
        self.traces += 1
        self.steps += len(trace.steps)
        for step in trace.steps:
            self._saw_step(step)

    def _saw_step(self, step: Step) -> None:
        if step.has_call:
            if step.output is None:
                self.counts["calls_without_result"] += 1
            elif not step.output:
                self.counts["empty_outputs"] += 1
        for name, text in (("state", step.state), ("output", step.output), ("thought", step.thought)):
            if text:
                self._filled[name] += 1
                self._saw_text(name, text)
        self._filled["call"] += step.has_call

    def _saw_text(self, name: str, text: str) -> None:
        ends = text if len(text) <= 2 * _EDGE else f"{text[:_EDGE]}\n{text[-_EDGE:]}"
        if _hints(low := ends.lower()) and _CUT.search(low):
            self.counts["truncated"] += 1
        length = len(text)
        longest, times, digest = self._longest.get(name, (0, 0, 0))
        if length > longest:
            self._longest[name] = (length, 1, hash(text))
        elif length == longest and hash(text) != digest:
            self._longest[name] = (length, times + 1, digest)

    @property
    def cut_at(self) -> dict[str, int]:
        """Fields whose three or more longest, different texts have one length: probably a limit of the writer."""
        return {
            name: length for name, (length, times, _) in self._longest.items() if times >= 3 and length >= _CUT_LENGTH
        }

    @property
    def empty_columns(self) -> list[str]:
        """Columns that no step of the import fills."""
        return [name for name in ("state", "call", "output", "thought") if self.steps and not self._filled[name]]

    @property
    def capture_off(self) -> bool:
        """Whether some span came without its content."""
        return self.counts["capture_off"] > 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "files": dict(self.files),
            "traces": self.traces,
            "steps": self.steps,
            **{name: self.counts[name] for name in COUNTS},
            "cut_at": self.cut_at,
            "unknown_kinds": dict(self.unknown.most_common()),
            "empty_columns": self.empty_columns,
            "problems": list(self.problems),
            "n_problems": self.n_problems,
        }

    def warn(self) -> None:
        """Warn once when something could not be read."""
        if self.n_problems:
            message = f"{self.n_problems} problems while importing; the first: {self.problems[0]}"
            warnings.warn(message, DriftlabWarning, stacklevel=3)

    def __str__(self) -> str:
        lines = [f"files    {', '.join(f'{name} {count}' for name, count in self.files.most_common()) or 'none'}"]
        lines.append(f"traces   {self.traces}, {self.steps} steps")
        lines += [f"{self.counts[name]:>8} {text}" for name, text in COUNTS.items() if self.counts[name]]
        lines += [f"         {name} is never longer than {size} characters: cut?" for name, size in self.cut_at.items()]
        lines += [f"{count:>8} of unknown kind {kind!r}" for kind, count in self.unknown.most_common(20)]
        if len(self.unknown) > 20:
            lines.append(f"         and {len(self.unknown) - 20} more unknown kinds")
        lines += [f"         every step lacks {name}" for name in self.empty_columns]
        lines += [f"problem  {message}" for message in self.problems]
        if self.n_problems > len(self.problems):
            lines.append(f"         and {self.n_problems - len(self.problems)} more problems")
        return "\n".join(lines)


def _hints(low: str) -> bool:
    # Looking for words costs a tenth of the pattern, which most texts need not see.
    return (
        "truncat" in low or "omitted" in low or "clipped" in low or "elided" in low or " cut]" in low or "\u2026" in low
    )
