"""Lines that this run has not seen before."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from driftlab.metrics.base import TextMetric
from driftlab.metrics.column import StepView, Stream, digest
from driftlab.trace.schema import Step, TraceInfo
from driftlab.trace.views import MASKS, Mask, unpacked

__all__ = ["Novelty"]

SHORTEST = 4  # characters an argument needs before its echo is looked for inside a line
MOST = 50  # arguments looked for inside lines
_VISIBLE = re.compile(r"\w")


@dataclass(frozen=True, repr=False)
class Novelty(TextMetric):
    """Share of an output's non-empty lines that no earlier step of the run has shown.

    What the output repeats of its own call is no news: a line that is a line of an argument, or holds nothing
    but arguments and punctuation, is left out; inside other lines an argument of at least four characters may
    vary. An output without lines after a call is 0; the first output is 1.0; a step without the view is `nan`.
    One minus this delta is what is called `stale`.

    Parameters
    ----------
    view : {"state", "thought", "action", "output", "call"}
        Whose lines are counted; echoes are stripped from ``"output"`` alone.
    mask : str
        How text is rewritten first; ``"volatile"`` where lines carry times or ids.

    Notes
    -----
    Keeps eight bytes for each distinct line of the run.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> outputs = ["a.py", "a.py\\nb.py", "b.py", ""]
    >>> trace = Trace(id="a", steps=[Step(tool="ls", output=output) for output in outputs])
    >>> measure([trace], [Novelty()]).deltas(Novelty()).tolist()
    [1.0, 0.5, 0.0, 0.0]
    """

    name: ClassVar[str] = "novelty"
    view: str = "output"

    def stream(self, info: TraceInfo) -> Stream:
        seen: set[bytes] | None = None

        def push(reading: StepView) -> float:
            nonlocal seen
            text = reading.text(self.view, self.mask)
            if text is None:
                return math.nan
            forms = list(self._lines(text, reading.step))
            known = seen
            seen = known if known is not None else set()
            new = [known is None or seen.isdisjoint(form) for form in forms]
            seen.update(*forms)
            if known is None:
                return 1.0
            return sum(new) / len(new) if new else 0.0

        return push

    def _lines(self, text: str, step: Step) -> Iterator[tuple[bytes, ...]]:
        """Yield the digests of each line that counts: as it is and, where they differ, without echoes."""
        lines = [line for line in map(str.strip, text.split("\n")) if line]
        echoed, inside = _echoes(step, MASKS[self.mask]) if self.view == "output" else (frozenset(), None)
        for line in lines:
            if line in echoed:
                continue
            rest = inside.sub("", line) if inside is not None else line
            if rest == line:
                yield (_short(line),)
            elif _VISIBLE.search(rest):
                yield _short(line), _short(rest)


def _echoes(step: Step, mask: Mask) -> tuple[frozenset[str], re.Pattern[str] | None]:
    """Return the lines of a call's arguments, and a pattern for the arguments of one line."""
    texts = [mask(leaf, output=True) for leaf in _leaves(step.args)]
    lines = frozenset(line for text in texts for line in map(str.strip, text.split("\n")) if line)
    short = {text for text in texts if "\n" not in text and len(text) >= SHORTEST and _VISIBLE.search(text)}
    longest = sorted(short, key=lambda text: (-len(text), text))[:MOST]
    return lines, re.compile("|".join(map(re.escape, longest))) if longest else None


def _leaves(args: Any) -> Iterator[str]:
    """Yield every text inside the arguments, also of arguments that are written as JSON text."""
    if isinstance(args, str):
        yield args
        args = unpacked(args)
    items = args.values() if isinstance(args, Mapping) else args if isinstance(args, list | tuple) else ()
    for item in items:
        yield from _leaves(item)


def _short(line: str) -> bytes:
    return digest(line)[:8]
