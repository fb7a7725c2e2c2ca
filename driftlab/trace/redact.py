"""Takes secrets, names of people, paths out of traces."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from driftlab._util.errors import InputError
from driftlab._util.spec import unknown
from driftlab.trace.schema import Step, Trace

__all__ = ["PATTERNS", "PROFILES", "RedactionReport", "check", "redact"]

# The order matters: a key may hold what looks like a path, a URL holds a password.
PATTERNS: dict[str, tuple[str, ...]] = {
    "keys": (
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        r"\b(?:sk|pk|rk)-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{16,}",
        r"\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|hf|xox[abprs]|npm|pypi)[_-][A-Za-z0-9_-]{16,}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"\bAIza[A-Za-z0-9_-]{35}",
    ),
    "tokens": (
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        r"(?i)(?<=bearer )[A-Za-z0-9._~+/=-]{8,}",
        r"(?i)(?<=basic )[A-Za-z0-9+/=]{12,}",
        r"""(?i)(?:(?<=password)|(?<=passwd)|(?<=secret)|(?<=token)|(?<=api_key)|(?<=apikey)|(?<=api-key))["']?\s*[=:]\s*["']?[^\s"',;)}\]]{4,}""",
        r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)",
    ),
    "emails": (r"\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}\b",),
    "ips": (r"\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b",),
    "paths": (r"(?<=/home/)[^/\s:'\"]+", r"(?<=/Users/)[^/\s:'\"]+", r"(?i)(?<=[A-Z]:\\Users\\)[^\\\s:'\"]+"),
}
PROFILES: dict[str, tuple[str, ...]] = {
    "secrets": ("keys", "tokens"),
    "personal": ("keys", "tokens", "emails", "paths"),
    "strict": ("keys", "tokens", "emails", "ips", "paths"),
}
_NAMED = re.compile(
    r"(?i)^(?:.*[_-])?(?:password|passwd|secret|token|api[_-]?key|authorization|cookie|private[_-]?key)$"
)


@dataclass
class RedactionReport:
    """What was replaced: how often by kind, and in which fields.

    Examples
    --------
    >>> _, report = redact([Trace(id="a", steps=[Step(output="mail ann@example.org")])], profile="personal")
    >>> report.kinds["emails"], report.fields["output"]
    (1, 1)
    """

    kinds: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    traces: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"traces": self.traces, "kinds": dict(self.kinds), "fields": dict(self.fields)}

    def __str__(self) -> str:
        found = ", ".join(f"{kind} {count}" for kind, count in self.kinds.most_common()) or "nothing"
        where = ", ".join(f"{name} {count}" for name, count in self.fields.most_common())
        return f"replaced {found} in {self.traces} traces" + (f" ({where})" if where else "")


def redact(
    traces: Iterable[Trace], *, profile: str = "personal", dry_run: bool = False
) -> tuple[list[Trace], RedactionReport]:
    """Return the traces with secrets replaced by marks, and a report of what was replaced.

    Equal secrets become equal marks and different ones different marks (``<emails:1>``, ``<emails:2>``) within a
    trace, so that nothing that was new starts to look repeated.

    Parameters
    ----------
    traces : iterable of Trace
    profile : {"secrets", "personal", "strict"}
        "secrets": keys and tokens; "personal": e-mails and names in paths too; "strict": addresses as well.
    dry_run : bool
        Count only: the traces come back as they were.

    Raises
    ------
    InputError
        When the profile is unknown.

    Examples
    --------
    >>> found, report = redact([Trace(id="a", steps=[Step(output="Bearer abcdefgh12345")])])
    >>> found[0].steps[0].output, str(report)
    ('Bearer <tokens:1>', 'replaced tokens 1 in 1 traces (output 1)')
    """
    if profile not in PROFILES:
        raise unknown("profile", profile, PROFILES)
    report = RedactionReport()
    out = []
    for trace in traces:
        clean = _Cleaner(PROFILES[profile], report).trace(trace)
        report.traces += clean != trace
        out.append(trace if dry_run else clean)
    return out, report


class _Cleaner:
    """Replaces secrets in one trace."""

    def __init__(self, kinds: Iterable[str], report: RedactionReport) -> None:
        self._patterns = [(kind, re.compile(pattern)) for kind in kinds for pattern in PATTERNS[kind]]
        self._report = report
        self._marks: dict[str, dict[str, int]] = {}

    def trace(self, trace: Trace) -> Trace:
        steps = tuple(self._step(step) for step in trace.steps)
        named = {
            name: self._text(getattr(trace, name), name)
            for name in ("problem", "agent", "setup")
            if getattr(trace, name)
        }
        return trace.replace(steps=steps, extra=self._value(trace.extra, "extra"), **named)

    def _step(self, step: Step) -> Step:
        fields = {name: getattr(step, name) for name in Step.__struct_fields__}
        for name in ("state", "thought", "output", "node", "args", "extra"):
            fields[name] = self._value(fields[name], name)
        return Step(**fields)

    def _value(self, value: Any, name: str) -> Any:
        if isinstance(value, str):
            return self._text(value, name)
        if isinstance(value, list):
            return [self._value(item, name) for item in value]
        if isinstance(value, dict):
            return {self._text(key, name): self._held(key, item, name) for key, item in value.items()}
        return value

    def _held(self, key: str, item: Any, name: str) -> Any:
        # A key that is called password says what its value is, whatever it looks like.
        return (
            self._mark("tokens", item, name)
            if isinstance(item, str) and item and _NAMED.match(key)
            else self._value(item, name)
        )

    def _text(self, text: str, name: str) -> str:
        for kind, pattern in self._patterns:
            text = pattern.sub(self._replacer(kind, name), text)
        return text

    def _replacer(self, kind: str, name: str) -> Callable[[re.Match[str]], str]:
        def replace(match: re.Match[str]) -> str:
            lead = re.match(r"""["']?\s*[=:]\s*["']?""", match[0]) if kind == "tokens" else None
            found = match[0][lead.end() :] if lead else match[0]
            return match[0] if found.startswith("<") else (lead[0] if lead else "") + self._mark(kind, found, name)

        return replace

    def _mark(self, kind: str, secret: str, name: str) -> str:
        seen = self._marks.setdefault(kind, {})
        self._report.kinds[kind] += 1
        self._report.fields[name] += 1
        return f"<{kind}:{seen.setdefault(secret, len(seen) + 1)}>"


def check(traces: Iterable[Trace], *, profile: str = "strict") -> None:
    """Raise when a trace still holds something that the profile would replace.

    Raises
    ------
    InputError
        Naming what was found and how often.

    Examples
    --------
    >>> check([Trace(id="a", steps=[Step(output="nothing here")])])
    """
    _, report = redact(traces, profile=profile, dry_run=True)
    if report.kinds:
        raise InputError(f"{report}; run redact(traces, profile={profile!r}) first")
