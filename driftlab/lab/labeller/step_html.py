"""One step of a run as HTML: what is new stands out, what was seen before is dimmed."""

from collections.abc import Iterator
from functools import cached_property
from html import escape

import msgspec

from driftlab.lab.labeller.diff import lines, to_html
from driftlab.trace.schema import Step, Trace
from driftlab.trace.views import MASKS, canonical

__all__ = ["Reader"]

FIELDS = ("thought", "action", "output", "state")
WIDEST, TALLEST = 4_000, 600  # characters of a line, lines of a text that are shown


class Reader:
    """A run, read step by step against what it said before.

    Parameters
    ----------
    trace : Trace

    Examples
    --------
    >>> run = Reader(Trace(id="a", steps=[Step(state="x"), Step(state="x")]))
    >>> run.news(0), run.news(1)
    (1, 0)
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @cached_property
    def texts(self) -> list[dict[str, str]]:
        """What each step says, by field; absent fields are left out."""
        return [_fields(step) for step in self.trace.steps]

    @cached_property
    def _first(self) -> dict[tuple[str, str], int]:
        """The step at which each line of each field was first seen."""
        found: dict[tuple[str, str], int] = {}
        for t, own in enumerate(self.texts):
            for name, text in own.items():
                for line in text.splitlines():
                    found.setdefault((name, line), t)
        return found

    def seen(self, t: int, field: str) -> set[str]:
        """Return the lines of a field of step `t` that some earlier step had."""
        return {line for line in self.texts[t][field].splitlines() if self._first[field, line] < t}

    def before(self, t: int, field: str) -> str | None:
        """Return the last text of a field before step `t`, None when there is none."""
        return next((own[field] for own in reversed(self.texts[:t]) if field in own), None)

    def news(self, t: int) -> int:
        """Count the lines of step `t` that the run had not said before."""
        own = self.texts[t]
        return sum(len(set(text.splitlines()) - self.seen(t, name)) for name, text in own.items())

    def html(self, t: int, *, most: int = 60) -> str:
        """Return step `t` as HTML.

        Parameters
        ----------
        t : int
        most : int
            Lines of a field that are shown.
        """
        rows = [self._row(t, name, most) for name in FIELDS if name in self.texts[t]]
        facts = "".join(f'<span class="fact">{escape(text)}</span>' for text in _facts(self.trace.steps[t]))
        news = self.news(t)
        told = f"{news} new line{'s' * (news != 1)}" if news else "nothing new"
        told = f'<b>step {t}</b><span class="{"some" if news else "none"}">{told}</span>'
        body = "".join(rows) or '<div class="cut">the step says nothing</div>'
        return f'<div class="step"><div class="step-head">{told}{facts}</div>{body}</div>'

    def _row(self, t: int, name: str, most: int) -> str:
        text = self.texts[t][name]
        found = lines(self.before(t, name), text, self.seen(t, name))
        known = text and all(line.mark != "new" for line in found)
        tag = '<span class="again">seen before</span>' if known else ""
        body = to_html(found, most=most) or '<div class="cut">(empty)</div>'
        return f'<div class="field"><div class="name">{name}{tag}</div><div class="text">{body}</div></div>'


def _fields(step: Step) -> dict[str, str]:
    clean = MASKS["terminal"]
    own = {"thought": step.thought, "state": step.state}
    if step.has_call:
        arguments = "" if step.args is None else canonical(step.args)
        own |= {"action": f"{step.tool or ''} {arguments}".strip(), "output": step.output or ""}
    elif step.output is not None:
        own["output"] = step.output
    return {name: _cut(clean(own[name] or "")) for name in FIELDS if own.get(name) is not None}


def _cut(text: str) -> str:
    """Bound what is compared and shown: a run may print megabytes."""
    rows = text.splitlines()
    if len(rows) > TALLEST:
        rows = [*rows[: TALLEST // 2], f"… {len(rows) - TALLEST} lines cut …", *rows[-TALLEST // 2 :]]
    return "\n".join(row if len(row) <= WIDEST else f"{row[:WIDEST]} … {len(row) - WIDEST} more" for row in rows)


def _facts(step: Step) -> Iterator[str]:
    for name, value in (step.signals or {}).items():
        if value is not None:
            yield f"{name} {value:g}"
    for name in ("node", "event", "tokens", "seconds"):
        value = getattr(step, name)
        if value is not None:
            yield f"{name} {value}"
    if step.error:
        yield "error"
    if step.extra:
        yield f"extra: {msgspec.json.encode(step.extra).decode()[:80]}"
