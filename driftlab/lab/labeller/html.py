"""What a labelling session looks like, as parts of HTML."""

from html import escape
from pathlib import Path

from driftlab.lab.labeller.session import KEYS, Session
from driftlab.lab.labeller.sparklines import to_html

STYLE = (Path(__file__).parent / "labeller.css").read_text(encoding="utf-8")
CAPS = {"ArrowLeft": "←", "ArrowRight": "→", "PageUp": "PgUp", "PageDown": "PgDn"}
_BUTTONS = ("p", "ArrowLeft", "ArrowRight", "[", "]", "x", "g", "s", "u", "z", "Enter")


def parts(session: Session) -> dict[str, str]:
    """Return what changes while labelling: head, strips (without the step in view), step, marks, foot, note.

    Examples
    --------
    >>> import tempfile
    >>> from driftlab.trace.schema import Step, Trace
    >>> run = Trace(id="run-1", steps=[Step(state="x")])
    >>> found = parts(Session([run], Path(tempfile.mkdtemp()) / "labels.jsonl"))
    >>> sorted(found), "run-1" in found["head"]
    (['foot', 'head', 'marks', 'note', 'step', 'strips'], True)
    """
    return {
        "head": _head(session),
        "strips": _strips(session, None),
        "step": _step(session),
        "marks": _marks(session),
        "foot": _foot(session),
        "note": session.draft.note,
    }


def page(session: Session) -> str:
    """Return the session as HTML that needs no kernel: what would be on the screen now, buttons without effect."""
    found = parts(session) | {"strips": _strips(session, session.t if session.trace.steps else None)}
    body = "".join(f'<div class="{name}">{found[name]}</div>' for name in ("head", "strips", "marks", "foot", "step"))
    note = f'<div class="told">note: {escape(session.draft.note)}</div>' if session.draft.note else ""
    return f'<style>{STYLE}</style><div class="driftlab-label">{body}{note}</div>'


def _head(session: Session) -> str:
    trace, done = session.trace, len(session.labelled)
    about = [f"task {trace.task}" if trace.task else "", f"problem {trace.problem}" if trace.problem else ""]
    about += [f"{len(trace.steps)} steps", f"{done} of {len(session.runs)} runs labelled"]
    about += [f"annotator {session.annotator}"] if session.annotator else []
    return f"<b>{escape(trace.id)}</b>" + "".join(f"<span>{escape(text)}</span>" for text in about if text)


def _strips(session: Session, t: int | None) -> str:
    draft, length = session.draft, len(session.trace.steps)
    spans = {}
    if draft.start is not None:
        spans["mine"] = (draft.start, length if draft.last is None else draft.last + 1)
    return to_html(session.strips(), t=t, spans=spans)


def _step(session: Session) -> str:
    if not session.trace.steps:
        return '<div class="cut">the run has no steps</div>'
    return session.reader.html(session.t)


def _marks(session: Session) -> str:
    draft = session.draft
    chosen = {"g": "good", "s": "stalled", "u": "unsure"}
    keys = [_button(key, KEYS[key], on=chosen.get(key) == draft.label is not None) for key in _BUTTONS]
    kinds = [_button(str(place), kind, on=kind == draft.kind) for place, kind in enumerate(session.kinds, 1)]
    return f'<div class="keys">{"".join(keys)}</div><div class="keys">kind: {"".join(kinds)}</div>'


def _button(key: str, text: str, *, on: bool) -> str:
    cap = escape(CAPS.get(key, key))
    state = "on" if on else ""
    pressed = str(on).lower()
    return (
        f'<button type="button" class="{state}" aria-pressed="{pressed}" data-key="{escape(key)}">'
        f"<kbd>{cap}</kbd> {escape(text)}</button>"
    )


def _foot(session: Session) -> str:
    draft, length = session.draft, len(session.trace.steps)
    marked = "no stall marked"
    if draft.start is not None:
        last = "the end" if draft.last is None or draft.last >= length - 1 else f"step {draft.last}"
        marked = f"stall from step {draft.start} to {last}" + (f", {draft.kind}" if draft.kind else "")
    state = f"saved as {draft.label}" if draft.label else "not labelled yet (marks are kept)"
    said = f'<span class="said">{escape(session.said)}</span>' if session.said else ""
    return f'<span class="state">{state}</span><span>{escape(marked)}</span>{said}'


__all__ = ["CAPS", "STYLE", "page", "parts"]
