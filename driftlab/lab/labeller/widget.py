"""The labeller in a notebook: a session, shown and driven by the keyboard."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from driftlab._util.extras import need
from driftlab.lab.labeller.html import CAPS, STYLE, page, parts
from driftlab.lab.labeller.session import KEYS, KINDS, METRICS, Session
from driftlab.metrics import Metric
from driftlab.rules.policy import Policy
from driftlab.trace.corpus import Corpus
from driftlab.trace.schema import Trace

__all__ = ["Labeller"]

AnyWidget: Any = need("anywidget", "lab").AnyWidget
traitlets = need("traitlets", "lab")

LEGEND = [f"{CAPS.get(key, key)} {does}" for key, does in KEYS.items()]
HELP = f"click here, then: {' · '.join(LEGEND)} · 1–9 kind · / note"


class Labeller(AnyWidget):  # type: ignore[misc]
    """Read runs step by step and label them with the keyboard; every change is on disk at once.

    Parameters
    ----------
    corpus : Corpus or iterable of Trace
    store : path
        File of labels.
    annotator, metrics, kinds, order, policy
        See `Session`.

    Attributes
    ----------
    session : Session
        The same work by plain calls.

    Examples
    --------
    >>> import tempfile
    >>> from driftlab.trace.schema import Step
    >>> labeller = Labeller([Trace(id="run-1", steps=[Step(state="x")])], Path(tempfile.mkdtemp()) / "labels.jsonl")
    >>> labeller.press("g")
    >>> labeller.session.labelled
    ['run-1']
    """

    _esm = Path(__file__).parent / "labeller.js"
    _css = STYLE
    # One trait a part: only what changed travels to the browser.
    head, strips, step, marks, foot, note, run = (traitlets.Unicode().tag(sync=True) for _ in range(7))
    t = traitlets.Int().tag(sync=True)
    help = traitlets.Unicode(HELP).tag(sync=True)

    def __init__(
        self,
        corpus: Corpus | Iterable[Trace],
        store: str | os.PathLike[str] = "labels.jsonl",
        *,
        annotator: str = "",
        metrics: Iterable[str | Metric] = METRICS,
        kinds: Iterable[str] = KINDS,
        order: str = "corpus",
        policy: Policy | None = None,
    ) -> None:
        self.session = Session(
            corpus, store, annotator=annotator, metrics=metrics, kinds=kinds, order=order, policy=policy
        )
        super().__init__(**self._looks())
        self.on_msg(self._heard)

    def press(self, key: str) -> None:
        """Do what a key does in the browser."""
        self.session.press(key)
        self._draw()

    def _heard(self, _: Any, message: dict[str, Any], __: Any) -> None:
        """Take a key, a click on a step, or a note from the browser."""
        if "key" in message:
            self.session.press(str(message["key"]))
        elif "go" in message:
            self.session.go(int(message["go"]))
        elif "note" in message and message.get("run") == self.session.trace.id:
            self.session.change(note=str(message["note"]))
        self._draw()

    def _draw(self) -> None:
        with self.hold_sync():
            for name, value in self._looks().items():
                setattr(self, name, value)

    def _looks(self) -> dict[str, Any]:
        return {**parts(self.session), "run": self.session.trace.id, "t": self.session.t}

    def _repr_mimebundle_(self, **kinds: Any) -> Any:
        """Add the static page, for readers without a kernel."""
        bundle = super()._repr_mimebundle_(**kinds)
        data, meta = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**(data or {}), "text/html": page(self.session)}, meta
