"""What tools are for, what starts the counting again."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar

from driftlab._util.errors import InputError
from driftlab._util.spec import Spec, choice, whole
from driftlab.metrics.column import StepView
from driftlab.metrics.columns.steps import said_text
from driftlab.metrics.jaccard import unlike
from driftlab.metrics.words import words

__all__ = ["RESETS", "Context"]

ROLES = ("reader", "writer", "poller", "constant", "exempt")
RESETS = ("progress", "user", "compaction")
SAME_SUMMARY = 0.1  # word sets at most so different are one summary: its counters move
KEPT_SUMMARIES = 10


@dataclass(frozen=True, repr=False)
class Context(Spec):
    """What tools are for and what starts the counting again.

    Parameters
    ----------
    tools : tuple of (str, str, int)
        Name pattern (``*`` and ``?``), role, patience; the first pattern that fits counts. Roles: ``reader`` (a
        new question is new, whatever the answer), ``writer`` (a new action says nothing, the same one again is
        stale), ``constant`` (its output says nothing), ``poller`` (any output not seen before is entirely new),
        ``exempt`` (not seen at all). Patience k: k calls in a row that bring nothing new count as one.
    ignore : tuple of (str, str)
        Name pattern of tools and an argument that does not make a call different.
    resets : tuple of str
        ``progress`` (a new best of a signal), ``user`` (a turn of the user), ``compaction`` (unless its summary
        was seen before). Counters start again; after the last two also what was seen is forgotten.
    signals : tuple of str
        Whose new best is progress; empty: any signal's.
    outages : int
        So many calls in a row that failed because someone else was slow or away (rate limits, networks) count as
        one, >= 1.

    Examples
    --------
    >>> Context(tools=(("wait_*", "poller", 3),)).role("wait_for_output")
    ('poller', 3)
    """

    name: ClassVar[str] = "context"
    tools: tuple[tuple[str, str, int], ...] = ()
    ignore: tuple[tuple[str, str], ...] = ()
    resets: tuple[str, ...] = RESETS
    signals: tuple[str, ...] = ()
    outages: int = 1

    def __post_init__(self) -> None:
        whole("outages", self.outages, 1)
        for field in ("tools", "ignore"):
            object.__setattr__(self, field, tuple(tuple(entry) for entry in getattr(self, field)))
        for field in ("resets", "signals"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        for entry in self.tools:
            if len(entry) != 3:
                raise InputError(f"tools must hold (pattern, role, patience), got {entry!r}")
            choice("role", entry[1], ("", *ROLES))  # empty: its patience alone
            whole(f"patience of {entry[0]!r}", entry[2], 1)
        for word in self.resets:
            choice("reset", word, RESETS)

    def role(self, tool: str | None) -> tuple[str, int] | None:
        """Return role, patience of a tool; None when the policy says nothing of it."""
        found = (entry for entry in self.tools if tool is not None and fnmatchcase(tool, entry[0]))
        return next(((role, patience) for _, role, patience in found), None)

    def ignored(self, tool: str | None) -> frozenset[str]:
        """Return the arguments that do not make a call of this tool different."""
        return frozenset(name for pattern, name in self.ignore if tool is not None and fnmatchcase(tool, pattern))

    def forgetting(self) -> Callable[[StepView], bool]:
        """Return a function that tells of each reading whether what was seen is forgotten there."""
        summaries: deque[frozenset[str]] = deque(maxlen=KEPT_SUMMARIES)

        def forgets(reading: StepView) -> bool:
            event = reading.step.event
            if event == "compaction" and event in self.resets:
                return not _seen_summary(reading, summaries)
            return event == "user" and event in self.resets

        return forgets


def _seen_summary(reading: StepView, summaries: "deque[frozenset[str]]") -> bool:
    """Whether a compaction's summary is nearly one of the last ones; keep it."""
    text = said_text(reading, "digits") or reading.text("output", "digits") or ""
    summary = frozenset(word for word in words(text) if word.isalnum() and not word.isdigit())
    seen = any(unlike(summary, earlier) <= SAME_SUMMARY for earlier in summaries)
    summaries.append(summary)
    return seen
