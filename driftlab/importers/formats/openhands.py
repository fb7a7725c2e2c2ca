"""OpenHands event streams."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from driftlab.importers.parts.base import Importer, at, dicts, lasted, stem, text_at, when
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.turns import Call, Turns
from driftlab.importers.parts.values import args_of, dumped, text_of
from driftlab.trace.schema import Trace

__all__ = ["OPENHANDS"]

Event = dict[str, Any]
_LISTS = ("history", "trajectory", "entries", "events")
_SAYS = ("message", "finish", "reject", "think")
_QUIET_ACTIONS = ("system", "change_agent_state", "recall", "null", "pause", "resume", "start")
_QUIET_RESULTS = ("agent_state_changed", "null", "recall", "think", "user_rejected", "server_ready", "loop_recovery")
_QUIET_KINDS = (
    "SystemPromptEvent", "ConversationStateUpdateEvent", "PauseEvent", "TokenEvent", "LLMCompletionLogEvent",
    "CondensationRequest", "CondensationSummaryEvent", "StreamingDeltaEvent", "ResumeTranscriptEvent",
)  # fmt: skip
_KINDS = (
    "ActionEvent", "ObservationEvent", "MessageEvent", "AgentErrorEvent", "UserRejectObservation", "Condensation",
    "ConversationErrorEvent", *_QUIET_KINDS,
)  # fmt: skip


def _is_event(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    v0 = ("action" in value or "observation" in value) and "source" in value and ("args" in value or "content" in value)
    return v0 or value.get("kind") in _KINDS


def _events(value: Any) -> list[Event] | None:
    """Return the events of a record: a list, or under one of the names that evaluations use; pairs are flattened."""
    if isinstance(value, dict):
        return next((found for name in _LISTS if (found := _events(value.get(name)))), None)
    if not isinstance(value, list) or not value:
        return None
    flat = [event for item in value for event in (item if isinstance(item, list) else [item])]
    return dicts(flat) if any(_is_event(event) for event in flat[:8]) else None


def _sniff(source: Source) -> bool:
    return bool(source.peek) and (_is_stream(source) or any(_events(value) is not None for value in source.peek))


def _is_stream(source: Source) -> bool:
    return any(_is_event(value) for value in source.peek)


def _link(source: Source) -> Iterable[Hashable]:
    # The event store keeps one event a file: <conversation>/events/0.json.
    if len(source.peek) == 1 and _is_event(source.peek[0]):
        yield source.path.parent.resolve()


def _read(sources: Sequence[Source]) -> Iterator[Trace]:
    if len(sources) > 1:
        found = [value for source in sources for _, value in source.values() if isinstance(value, dict)]
        sources[0].health.count("joined", len(sources) - 1)
        folder = sources[0].path.parent
        yield _trace(sources[0], found, {}, folder.parent.name if folder.name == "events" else folder.name)
        return
    for source in sources:
        if _is_stream(source):
            yield _trace(source, [value for _, value in source.values() if isinstance(value, dict)], {}, stem(source))
            continue
        for line, value in source.values():
            events = _events(value)
            if events is None:
                source.problem("holds no events of OpenHands", line)
            else:
                yield _trace(source, events, value, stem(source) if source.kind == "json" else f"{stem(source)}:{line}")


def _trace(source: Source, events: list[Event], record: Any, name: str) -> Trace:
    reader = _Reader(source)
    for event in _ordered(events, source):
        reader.take(event)
    problem = text_at(record, "instance_id")
    outcome = next(
        (
            x
            for path in (("test_result", "report", "resolved"), ("resolved",))
            if isinstance(x := at(record, *path), bool)
        ),
        None,
    )
    model = text_at(record, "metadata", "llm_config", "model") or text_at(record, "metadata", "llm", "model")
    agent = text_at(record, "metadata", "agent_class")
    info = {
        "problem": problem,
        "outcome": outcome,
        "agent": model,
        "setup": f"{model} openhands/{agent}" if model else None,
    }
    return OPENHANDS.trace(problem or name, reader.turns.steps(), info, error=text_at(record, "error"))


def _ordered(events: list[Event], source: Source) -> list[Event]:
    """Sort by id where all have a number, else by time; drop an event that is written twice."""
    unique, seen = [], dict[Any, Event]()
    for event in events:
        name = event.get("id")
        if isinstance(name, int | str) and seen.setdefault(name, event) is not event:
            same = seen[name] == event
            source.health.count("replayed" if same else "duplicated_ids")
            if same:
                continue
        unique.append(event)
    numbered = all(isinstance(event.get("id"), int) for event in unique)
    found = [event["id"] if numbered else when(event.get("timestamp")) for event in unique]
    places = [float(place) for place in found if place is not None]
    if len(places) < len(unique):
        return unique
    order = sorted(range(len(unique)), key=lambda n: places[n])
    source.health.count("out_of_order", sum(n != place for n, place in enumerate(order)))
    return [unique[n] for n in order]


class _Reader:
    """Reads events one by one."""

    def __init__(self, source: Source) -> None:
        self.turns = Turns(source.health)
        self._times: dict[str, Any] = {}
        self._message: str | None = None

    def take(self, event: Event) -> None:
        if isinstance(event.get("kind"), str) and "action" not in event.get("args", {}) and event["kind"] in _KINDS:
            self._newer(event)
        elif "observation" in event and not isinstance(event["observation"], dict):
            self._observation(event)
        elif "action" in event and not isinstance(event["action"], dict):
            self._action(event)
        else:
            self.turns.health.unknown_kind(f"openhands {event.get('kind') or 'event without action'}")

    def _action(self, event: Event) -> None:
        action, held = str(event["action"]), event.get("args")
        args: dict[str, Any] = held if isinstance(held, dict) else {}
        source = event.get("source")
        if action == "condensation":
            self.turns.compaction()
        elif action in _QUIET_ACTIONS or (source == "environment" and action != "message"):
            return
        elif source == "user":
            if action == "message":
                self.turns.user()
        elif action == "message":
            self.turns.flush()
            self.turns.speak(text_of(args.get("content")) or "", tokens=None)
            self.turns.flush()
        else:
            self._call(event, action, args)

    def _call(self, event: Event, action: str, args: dict[str, Any]) -> None:
        function = at(event, "tool_call_metadata", "model_response", "choices")
        message = dicts(function)[0].get("message") if dicts(function) else None
        text = args.get("thought") if isinstance(args.get("thought"), str) else None
        response = text_at(event, "tool_call_metadata", "model_response", "id")
        # Calls of one reply share its text.
        if response is None or response != self._message:
            self.turns.flush()
            self.turns.speak(text if text else text_of(at(message, "content")), text_at(message, "reasoning_content"))
        self._message = response
        kept = {key: value for key, value in args.items() if key not in ("thought", "hidden", "confirmation_state")}
        name = self._name(event.get("id"))
        self._times[name] = event.get("timestamp")
        self.turns.call(Call(name, action, kept))
        if action in _SAYS:
            self.turns.result(name, "")

    def _observation(self, event: Event) -> None:
        kind = str(event["observation"])
        cause = event.get("cause")
        name = self._name(cause) if isinstance(cause, int | str) and cause != -1 else None
        if kind in _QUIET_RESULTS or (name is None and not self.turns.waiting):
            return
        code = at(event, "extras", "metadata", "exit_code")
        code = at(event, "extras", "exit_code") if code is None else code
        failed = kind == "error" or (code not in (0, -1) if isinstance(code, int) else None)
        lasting = lasted(self._times.get(name or ""), event.get("timestamp"))
        self.turns.result(name, text_of(event.get("content")), error=failed, seconds=lasting)

    @staticmethod
    def _name(raw: Any) -> str:
        return f"event {raw}"

    def _newer(self, event: Event) -> None:
        kind, name = event["kind"], text_at(event, "tool_call_id")
        if kind == "ActionEvent":
            self._act(event, name)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            text, failed = _seen(event)
            self.turns.result(
                name, text, error=failed, seconds=lasted(self._times.get(name or ""), event.get("timestamp"))
            )
        elif kind == "MessageEvent":
            self._say(event)
        elif kind == "Condensation":
            self.turns.compaction()
        elif kind == "ConversationErrorEvent":
            self.turns.speak(text_at(event, "detail") or text_at(event, "code"), error=True)
            self.turns.flush()

    def _act(self, event: Event, name: str | None) -> None:
        response = text_at(event, "llm_response_id")
        if response is None or response != self._message:
            self.turns.flush()
            self.turns.speak(text_of(event.get("thought")), text_at(event, "reasoning_content"))
        self._message = response
        args = at(event, "tool_call", "arguments")
        if args is None:
            args = at(event, "tool_call", "function", "arguments")
        if args is None and isinstance(event.get("action"), dict):
            args = {key: value for key, value in event["action"].items() if key != "kind"}
        self._times[name or ""] = event.get("timestamp")
        self.turns.call(Call(name, text_at(event, "tool_name"), args_of(args)))

    def _say(self, event: Event) -> None:
        if event.get("source") == "user":
            self.turns.user()
            return
        message = event.get("llm_message")
        self.turns.flush()
        self.turns.speak(text_of(at(message, "content")) or "", text_at(message, "reasoning_content"))
        self.turns.flush()


def _seen(event: Event) -> tuple[str | None, bool | None]:
    """Return text, error of a newer observation."""
    if event["kind"] != "ObservationEvent":
        return text_at(event, "error") or text_at(event, "rejection_reason") or "", True
    seen = event.get("observation")
    if not isinstance(seen, dict):
        return text_of(seen), None
    text = next(
        (seen[key] for key in ("content", "output", "text", "message") if seen.get(key) not in (None, [], "")), None
    )
    if text is None:
        rest = {
            key: value
            for key, value in seen.items()
            if key not in ("kind", "content", "output", "is_error", "error", "metadata")
        }
        text = text_at(seen, "error") or (
            dumped(rest) if rest and "content" not in seen and "output" not in seen else ""
        )
    code = seen.get("exit_code") if isinstance(seen.get("exit_code"), int) else at(seen, "metadata", "exit_code")
    failed = seen.get("is_error") is True or bool(text_at(seen, "error")) or (isinstance(code, int) and code > 0)
    return text_of(text), failed


OPENHANDS = Importer(
    "openhands",
    "OpenHands: list of events, history or entries of an evaluation, one event a file, newer events with kind",
    _sniff,
    _read,
    {
        "state": "thought of the action (newer: its text parts), content of agent messages",
        "thought": "reasoning_content",
        "tool, args": "action and its args (newer: tool_name, arguments of tool_call); one step a call",
        "output": "content of the observation whose cause is the action (newer: same tool_call_id)",
        "error": "error observations, exit code above 0",
        "event": "messages of the user; condensation",
        "seconds": "time between action and observation",
    },
    _link,
)
