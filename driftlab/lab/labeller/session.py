"""One annotator at work: which run, which step, which marks, every change on disk at once."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from driftlab._util.errors import InputError
from driftlab.evaluation.agreement import TOLERANCE, Agreement, agreement
from driftlab.lab.labeller.queue import queue
from driftlab.lab.labeller.sparklines import Strip, delta_strip, signal_strips
from driftlab.lab.labeller.step_html import Reader
from driftlab.lab.labeller.unsaved import Desk, DeskFile, Draft
from driftlab.metrics import Metric, metric
from driftlab.rules.policy import Policy
from driftlab.trace.corpus import Corpus
from driftlab.trace.labels.store import LabelEntry, LabelStore
from driftlab.trace.schema import Trace, TraceInfo

__all__ = ["KEYS", "KINDS", "METRICS", "Session"]

METRICS = ("levenshtein(view='call')", "exact(view='call')", "levenshtein(view='state')")
KINDS = ("repeat", "cycle", "plateau", "regression", "paraphrase", "other")
UNDO = 500  # changes that can be taken back

# What a key does, in the order of the legend.
KEYS = {
    "ArrowLeft": "step back", "ArrowRight": "step on", "PageUp": "10 steps back", "PageDown": "10 steps on",
    "Home": "first step", "End": "last step",
    "[": "stall starts here", "]": "stall's last step is here", "x": "remove both marks",
    "g": "good", "s": "stalled", "u": "unsure",
    "Enter": "next unlabelled run", "n": "next run", "p": "run before",
    "z": "undo", "m": "another metric",
}  # fmt: skip
MOVES = {"ArrowLeft": -1, "ArrowRight": 1, "PageUp": -10, "PageDown": 10, "Home": -(10**9), "End": 10**9}
_LABELS = {"g": "good", "s": "stalled", "u": "unsure"}


class Session:
    """Reads a corpus run by run and stores what one annotator says; the labeller without its looks.

    What others said, and labels that the traces carry, are not shown.

    Parameters
    ----------
    corpus : Corpus or iterable of Trace
    store : path
        File of labels; made with the first label. Each annotator has labels of their own in it.
    annotator : str
    metrics : iterable of str or Metric
        Whose deltas can be shown; the first one that says something is.
    kinds : iterable of str
        Kinds of stall to choose from, on the keys 1 to 9.
    order : {"corpus", "disagreement"}
        See `queue`.
    policy : Policy, optional
        Whose rules' disagreement sorts the runs.

    Raises
    ------
    InputError
        When the corpus is empty, or the store cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from driftlab.trace.schema import Step
    >>> runs = [Trace(id=name, steps=[Step(state="x")] * 5) for name in "ab"]
    >>> session = Session(runs, Path(tempfile.mkdtemp()) / "labels.jsonl", annotator="ann")
    >>> for key in ("ArrowRight", "s", "Enter"):
    ...     session.press(key)
    >>> session.trace.id, LabelStore(session.path).get("a", "ann").stalls[0].start
    ('b', 1)
    """

    draft: Draft
    reader: Reader

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
        self.runs = {trace.id: trace for trace in corpus}
        if not self.runs:
            raise InputError("there is no run to label; the corpus is empty")
        self.path, self.annotator = Path(store), annotator
        self.metrics, self.kinds = [metric(each) for each in metrics], list(kinds)[:9]
        self._order: dict[str, Any] = {"order": order, "policy": policy}
        self._undo: list[tuple[Draft, LabelEntry | None]] = []
        self.said = ""
        self._queue = queue(list(self.runs.values()), self.labelled, **self._order)
        self._desk_file = DeskFile(self.path, annotator)
        left = self._desk_file.load()
        self._drafts = {} if left is None else {name: d for name, d in left.drafts.items() if name in self.runs}
        open_still = left is not None and left.current in self._drafts
        self.open(left.current if left is not None and open_still else self._queue[0])
        self.said = "taken up where it was left" if open_still else ""

    @property
    def store(self) -> LabelStore:
        """The labels as they are on disk: somebody else may write to the same file."""
        return LabelStore(self.path)

    @property
    def labelled(self) -> list[str]:
        """Ids that this annotator has labelled."""
        return [entry.id for entry in self.store if entry.annotator == self.annotator and entry.id in self.runs]

    @property
    def trace(self) -> Trace:
        """The run in view."""
        return self.runs[self.draft.id]

    @property
    def t(self) -> int:
        """The step in view."""
        return int(self.draft.t)

    def press(self, key: str) -> None:
        """Do what a key stands for; unknown keys do nothing.

        Parameters
        ----------
        key : str
            As a browser names it; see `KEYS`. Digits choose a kind.
        """
        self.said = ""
        if key in MOVES:
            self.go(self.t + MOVES[key])
        elif key in _LABELS:
            self._label(_LABELS[key])
        elif key.isdigit() and 0 < int(key) <= len(self.kinds):
            self.change(kind=self.kinds[int(key) - 1])
        else:
            self._actions.get(key, lambda: None)()

    def go(self, t: int) -> None:
        """Look at another step of the run."""
        self.draft = msgspec.structs.replace(self.draft, t=max(0, min(t, len(self.trace.steps) - 1)))

    def open(self, name: str) -> None:
        """Look at another run.

        Raises
        ------
        InputError
            When the corpus has no such run.
        """
        if name not in self.runs:
            raise InputError(f"the corpus has no run {name!r}")
        kept = self._drafts.get(name)
        self._show(kept or Draft.of(self.runs[name], self.store.get(name, self.annotator)))

    def change(self, **marks: Any) -> None:
        """Change marks of the run in view: label, start, last, kind, note; what was before can be undone."""
        before = (self.draft, self.store.get(self.draft.id, self.annotator))
        changed = msgspec.structs.replace(self.draft, **marks)
        if changed != self.draft:
            self._undo = [*self._undo[-UNDO:], before]
            self._keep(changed)

    def strips(self) -> list[Strip]:
        """Return the deltas and signals of the run in view, measured once."""
        return self._strips

    def says(self, annotator: str | None = None) -> dict[str, tuple[str, int | None]]:
        """Return label and onset by run, of this annotator or another, as `agreement` reads them."""
        name = self.annotator if annotator is None else annotator
        own = [entry for entry in self.store if entry.annotator == name and entry.id in self.runs]
        return {entry.id: (entry.label, entry.stalls[0].start if entry.stalls else None) for entry in own}

    def agreement(self, other: str | Iterable[TraceInfo], *, tolerance: int = TOLERANCE) -> Agreement:
        """Compare this annotator with another one, or with labelled traces.

        Parameters
        ----------
        other : str or iterable of Trace
            Name of an annotator in the same store, or traces.
        tolerance : int
            Steps by which two onsets may differ, >= 0.
        """
        return agreement(self.says(), self.says(other) if isinstance(other, str) else other, tolerance=tolerance)

    def _label(self, label: str) -> None:
        if label == "stalled" and not self.trace.steps:
            self.said = "a run without steps cannot stall"
        elif label == "stalled" and self.draft.start is None:
            self.change(label=label, start=self.t)
            self.said = f"stalled from step {self.t}, the step in view; [ moves the start"
        else:
            self.change(label=label)

    def _mark_first(self) -> None:
        keep = self.draft.last is None or self.draft.last >= self.t
        self.change(start=self.t, last=self.draft.last if keep else None)

    def _mark_last(self) -> None:
        if self.draft.start is not None and self.t < self.draft.start:
            self.said = f"the last step ({self.t}) lies before the first ({self.draft.start}); mark the first with ["
            return
        self.change(last=self.t)

    def _clear(self) -> None:
        label = None if self.draft.label == "stalled" else self.draft.label
        self.change(start=None, last=None, kind=None, label=label)
        self.said = "marks removed" + ("" if label else "; the run has no label now")

    def _take_back(self) -> None:
        if not self._undo:
            self.said = "nothing to undo"
            return
        draft, entry = self._undo.pop()
        self._show(draft)
        self._keep(draft, entry)
        self.said = f"undone; {draft.id} is as it was"

    def _next_open(self) -> None:
        done = set(self.labelled)
        left = [name for name in self._queue if name not in done]
        if left:
            later = self._queue.index(self.trace.id)
            self.open(next((name for name in left if self._queue.index(name) > later), left[0]))
            return
        self._queue = queue(list(self.runs.values()), done, **self._order)
        self.said = "every run is labelled; the ones on which the detectors disagree most come first now"
        self.open(self._queue[0])

    def _turn(self, by: int) -> None:
        place = self._queue.index(self.trace.id) + by
        self.open(self._queue[place % len(self._queue)])

    def _next_metric(self) -> None:
        self.metrics = [*self.metrics[1:], self.metrics[0]]
        self._strips = self._measured()

    @property
    def _actions(self) -> dict[str, Callable[[], None]]:
        turns = {"n": lambda: self._turn(1), "p": lambda: self._turn(-1), "Enter": self._next_open}
        marks = {"[": self._mark_first, "]": self._mark_last, "x": self._clear}
        return {**turns, **marks, "z": self._take_back, "m": self._next_metric}

    def _show(self, draft: Draft) -> None:
        self.draft = draft
        self.reader = Reader(self.trace)
        self._strips = self._measured()
        self.go(draft.t)
        self._desk_file.save(Desk(current=draft.id, drafts=self._drafts))

    def _measured(self) -> list[Strip]:
        return [delta_strip(self.trace, self.metrics[0]), *signal_strips(self.trace)] if self.metrics else []

    def _keep(self, draft: Draft, entry: LabelEntry | None = None) -> None:
        """Write the label when there is one, else the marks: the label first, so that a crash loses neither."""
        self.draft = draft
        if draft.label is not None:
            self._store(draft.id, entry or draft.entry(len(self.trace.steps), self.annotator))
            self._drafts.pop(draft.id, None)
        else:
            self._drafts[draft.id] = draft
            self._store(draft.id, None)
        self._desk_file.save(Desk(current=draft.id, drafts=self._drafts))

    def _store(self, name: str, entry: LabelEntry | None) -> None:
        store = self.store
        if entry == store.get(name, self.annotator):
            return
        if entry is None:
            store.remove(name, self.annotator)
        else:
            store.add(entry)
        store.save()
