"""Columns that say how a call ended."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from driftlab.metrics.column import Column, StepView, Stream
from driftlab.trace.schema import Step, TraceInfo
from driftlab.trace.views import ABSENT, MASKS

__all__ = ["Failure", "error_line", "is_outage", "without_echo"]

SUCCESS, OUTAGE = 0, 1
HEAD = 4_000  # characters of an output in which an error is looked for

_ERROR = re.compile(
    r"^[^\w\n]{0,3}(?:[Ee]rror|ERROR|[Ff]atal|[Pp]anic)\b(?! (?:rate|count)|\"\s*:)"  # how a line begins
    r"|^(?:\w+\.)*\w*(?:Error|Exception)\b"  # the last line of a traceback
    r"|\b(?:ERROR|FATAL)\b"  # a log level
    r"|command not found|No such file or directory|[Pp]ermission denied|Invalid action"
    r"|\b[Tt]ool .{1,60} (?:not found|is not available)"
    r"|\bexit(?:ed)?(?: with)? (?:code|status)[:= ]+(?:[1-9]|-\d)"
    r'|"error"\s*:(?!\s*(?:null|false|""|\[\]|\{\}))',
    re.MULTILINE,
)
_OUTAGE = re.compile(
    r"\b(?:429|502|503|504)\b|rate.?limit|too many requests|overloaded|unavailable|bad gateway|gateway time-?out"
    r"|connection (?:refused|reset|aborted|timed out)|econn(?:refused|reset)|etimedout|could not resolve host"
    r"|network is unreachable|quota exceeded|retry.?(?:after|in)\b|try again (?:later|in)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, repr=False)
class Failure(Column):
    """How a call ended: 0 well, 1 an outage (rate limits, networks), 2 and more an error, equal ones alike; -1 no call.

    The step's `error` flag decides where it is set; else the first 4,000 characters of the output do: a
    line that begins with "error", an exception, a non-zero exit code, "command not found" and the like. An
    error is known by that line, masked, without what the call itself said (its arguments).

    Parameters
    ----------
    mask : str
        How the line is rewritten before it is compared.

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> from driftlab.trace.schema import Trace
    >>> outputs = ["ok", "error: disk full", "0 failed", "HTTP 503 error\\nerror: 503", "error: disk full"]
    >>> streamed(Failure(), Trace(id="a", steps=[Step(tool="sh", output=o) for o in outputs])).tolist()
    [0, 2, 0, 1, 2]
    """

    name: ClassVar[str] = "failure"
    positional: ClassVar[int] = 1
    dtype: ClassVar[Any] = np.int64
    mask: str = "volatile"

    def __post_init__(self) -> None:
        MASKS.check(self.mask)

    def stream(self, info: TraceInfo) -> Stream:
        seen: dict[str, int] = {}
        mask = MASKS[self.mask]

        def read(reading: StepView) -> int:
            step = reading.step
            if not step.has_call:
                return ABSENT
            line = error_line(step)
            if line is None:
                return SUCCESS
            if is_outage(step):
                return OUTAGE
            return seen.setdefault(mask(without_echo(line, step), output=True), len(seen) + OUTAGE + 1)

        return read


def error_line(step: Step) -> str | None:
    """Return the line that says what went wrong; None when nothing did.

    Examples
    --------
    >>> error_line(Step(tool="py", output="Traceback (most recent call last):\\n  ...\\nKeyError: 'a'"))
    "KeyError: 'a'"
    >>> error_line(Step(tool="py", output="KeyError: 'a'", error=False)) is None
    True
    """
    return None if step.error is False else _error_line(step.output or "", bool(step.error))


@lru_cache(maxsize=256)
def _error_line(output: str, failed: bool) -> str | None:
    found = _ERROR.search(output, 0, HEAD)
    if found is None:
        return next((line.strip() for line in output.splitlines() if line.strip()), "") if failed else None
    start, end = output.rfind("\n", 0, found.start() + 1) + 1, output.find("\n", found.end())
    return output[start : end if end >= 0 else HEAD].strip()


def is_outage(step: Step) -> bool:
    """Whether a call failed because someone else was slow or away.

    Examples
    --------
    >>> is_outage(Step(tool="post", output='{"error": "rate_limited", "status": 429}'))
    True
    """
    line = error_line(step)
    return line is not None and _OUTAGE.search(line) is not None


def without_echo(line: str, step: Step) -> str:
    """Return the line without the texts that the call's arguments brought in.

    Examples
    --------
    >>> without_echo("cannot open /srv/a.txt: read-only", Step(tool="open", args={"path": "/srv/a.txt"}))
    'cannot open <arg>: read-only'
    """
    for text in sorted(set(_strings(step.args)), key=len, reverse=True):
        line = line.replace(text, "<arg>")
    return line


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts in arguments that are long enough to be recognised in an output."""
    if isinstance(value, str):
        if len(value) > 3:
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
