"""Steps from spans of tools, models, agents, in whatever system they were recorded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from driftlab.importers.parts.base import at, whole_at
from driftlab.importers.parts.chat import is_message, read_messages, role_of, unwrapped
from driftlab.importers.parts.health import HealthReport
from driftlab.importers.parts.turns import Call, Turns
from driftlab.importers.parts.values import args_of, hash_of, text_of
from driftlab.trace.schema import Step

__all__ = ["SpanRecord", "first_of", "listed", "messages_in", "steps_of", "tokens_in"]

LEVELS = 1000  # parents that are followed; cycles end there


@dataclass(frozen=True)
class SpanRecord:
    """One span, whoever wrote it.

    Parameters
    ----------
    id, parent : str or None
    kind : str
        "tool", "llm", "agent" or "other".
    start, end : float or None
        Seconds since 1970.
    name : str
        Of the tool or the agent.
    call_id : str or None
        The model's id for the call.
    args, result : any JSON value
        Of a tool.
    inputs, outputs : list of messages
        Of a model.
    node : str or None
        Who acts, where the span says so itself.
    captured : bool
        False when the content was not recorded.
    """

    id: str | None
    parent: str | None
    kind: str
    name: str
    start: float | None = None
    end: float | None = None
    call_id: str | None = None
    args: Any = None
    result: Any = None
    inputs: Sequence[Any] = ()
    outputs: Sequence[Any] = ()
    node: str | None = None
    error: bool | None = None
    tokens: int | None = None
    captured: bool = True
    extra: dict[str, Any] = field(default_factory=dict)


def steps_of(spans: Sequence[SpanRecord], health: HealthReport) -> tuple[Step, ...]:
    """Return the steps of one run: a call that the model asked for and the tool's span for it are one step.

    Examples
    --------
    >>> asked = {"role": "assistant", "content": "look", "tool_calls": [{"id": "c1", "name": "ls", "args": {}}]}
    >>> spans = [SpanRecord("2", None, "tool", "ls", start=2.0, end=2.5, call_id="c1", args={}, result="a b"),
    ...          SpanRecord("1", None, "llm", "chat", start=1.0, outputs=[asked])]
    >>> [(step.state, step.tool, step.output, step.seconds) for step in steps_of(spans, HealthReport())]
    [('look', 'ls', 'a b', 0.5)]
    """
    order = range(len(spans))
    if all(span.start is not None for span in spans):
        order = sorted(order, key=lambda n: spans[n].start)  # type: ignore[assignment, arg-type, return-value]
    health.count("out_of_order", sum(n != place for n, place in enumerate(order)))
    reader = _Reader(health, {span.id: span for span in spans if span.id})
    for place in order:
        reader.take(spans[place])
    return reader.turns.steps()


class _Reader:
    """Reads spans in order of their start."""

    def __init__(self, health: HealthReport, known: dict[str, SpanRecord]) -> None:
        self.turns = Turns(health)
        self._known = known
        self._users: set[int] = set()
        self._nodes: dict[str | None, str | None] = {None: None}

    def take(self, span: SpanRecord) -> None:
        if span.kind in ("tool", "llm") and not span.captured:
            self.turns.health.count("capture_off")
        if span.kind == "tool":
            self._tool(span)
        elif span.kind == "llm":
            self._model(span)

    def _tool(self, span: SpanRecord) -> None:
        known = span.start is not None and span.end is not None and span.end >= span.start
        seconds = round((span.end or 0.0) - (span.start or 0.0), 6) if known else None
        fields: dict[str, Any] = {"error": span.error, "seconds": seconds, "node": self._node(span)}
        if self.turns.waits_for(span.call_id):
            self.turns.result(span.call_id, text_of(span.result), **fields)
        elif not self.turns.answer(span.name, span.args, text_of(span.result), **fields):
            self.turns.finished(Call(span.call_id, span.name, span.args), text_of(span.result), **fields)

    def _model(self, span: SpanRecord) -> None:
        self._results(span.inputs)
        node, usage = self._node(span), {"completion_tokens": span.tokens}
        for place, message in enumerate(span.outputs):
            said = message if isinstance(message, dict) else {"content": str(message)}
            said = said if role_of(said) else {"role": "assistant", **said}
            read_messages([said if place else {"usage": usage, **said}], self.turns, node=node)

    def _results(self, messages: Sequence[Any]) -> None:
        """Take from the model's input what is new there: results of calls without a tool span, a person's turn."""
        spoken = [message for message in map(unwrapped, messages) if message is not None]
        for message in spoken:
            name = message.get("tool_call_id")
            if role_of(message) == "tool" and isinstance(name, str) and self.turns.waits_for(name):
                self.turns.result(name, text_of(message.get("content")))
        last = spoken[-1] if spoken else {}
        if role_of(last) == "user":
            # Programs write prompts as user messages; only one that follows a reply is a person's turn.
            answered = any(role_of(message) == "assistant" for message in spoken)
            key = hash_of(text_of(last.get("content")))
            if (answered and key not in self._users) or not len(self.turns):
                self.turns.user()
            self._users.add(key)

    def _node(self, span: SpanRecord) -> str | None:
        """Return who acts: the nearest span above that says so."""
        path: list[str | None] = []
        place: SpanRecord | None = span
        while place is not None and place.node is None and place.id not in path and len(path) < LEVELS:
            if place.id in self._nodes:
                return self._nodes[place.id]
            path.append(place.id)
            place = self._known.get(place.parent or "")
        node = place.node if place is not None else None
        self._nodes.update((name, node) for name in path)
        self._nodes[None] = None
        return node


def messages_in(value: Any) -> list[Any]:
    """Return the chat messages that a model's recorded input or output holds, in any of the usual wrappings.

    Examples
    --------
    >>> messages_in({"choices": [{"message": {"role": "assistant", "content": "yes"}}]})
    [{'role': 'assistant', 'content': 'yes'}]
    >>> messages_in("yes")
    ['yes']
    """
    value = args_of(value)
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return (
            [message for item in value for message in messages_in(item)]
            if not value or not isinstance(value[0], str)
            else list(value)
        )
    if not isinstance(value, dict):
        return []
    if is_message(value):
        return [value]
    for key in ("message", "messages", "choices", "generations", "output", "content", "text"):
        if value.get(key):
            return messages_in(value[key])
    return []


def tokens_in(value: Any) -> int | None:
    """Return the tokens a model wrote, under any of their usual names.

    Examples
    --------
    >>> tokens_in({"completion_tokens": 7})
    7
    """
    names = ("output_tokens", "completion_tokens", "output", "completion")
    return next((count for name in names if (count := whole_at(value, name)) is not None), None)


def listed(value: Any) -> list[Any]:
    """Return a list, also where an exporter wrote it as an object with numbers for keys.

    Examples
    --------
    >>> listed({"1": "b", "0": "a"}), listed("x")
    (['a', 'b'], [])
    """
    if isinstance(value, dict) and value and all(key.isdecimal() for key in value):
        return [value[key] for key in sorted(value, key=int)]
    return value if isinstance(value, list) else []


def first_of(tree: Any, names: Iterable[str]) -> Any:
    """Return the first value that stands at one of the dotted names.

    Examples
    --------
    >>> first_of({"a": {"b": 1}}, ("x.y", "a.b"))
    1
    """
    return next((found for name in names if (found := at(tree, *name.split("."))) is not None), None)
