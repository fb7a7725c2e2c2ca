"""Agent Trajectory Interchange Format, 1.4 and later."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from driftlab.importers.parts.base import Importer, at, dicts, stem, text_at, whole_at
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.text_actions import functions_in
from driftlab.importers.parts.turns import Call, Turns
from driftlab.importers.parts.values import args_of, text_of
from driftlab.trace.schema import Trace

__all__ = ["ATIF"]


def _sniff(source: Source) -> bool:
    return any(_is_document(value) for value in source.peek)


def _is_document(value: Any) -> bool:
    version = value.get("schema_version") if isinstance(value, dict) else None
    return isinstance(version, str) and version.startswith("ATIF") and isinstance(value.get("steps"), list)


def _link(source: Source) -> Iterable[Hashable]:
    """Yield the file itself, the files it names, and the run when it is a part of one."""
    folder = source.path.parent.resolve()
    yield folder / source.path.name
    for document in source.peek:
        if not _is_document(document):
            continue
        following = text_at(document, "continued_trajectory_ref")
        yield from (folder / name for name in (following, *_references(document)) if name and "\0" not in name)
        # A file that was renamed is still found by its session and its place in it.
        if following or at(document, "agent", "extra", "continuation_index") is not None:
            yield ("continued", text_at(document, "session_id"), text_at(document, "agent", "name"))


def _references(document: dict[str, Any]) -> Iterator[str]:
    for step in dicts(document.get("steps")):
        for result in dicts(at(step, "observation", "results")):
            yield from (
                path
                for ref in dicts(result.get("subagent_trajectory_ref"))
                if (path := text_at(ref, "trajectory_path"))
            )


def _read(sources: Sequence[Source]) -> Iterator[Trace]:
    found: list[tuple[Source, int, dict[str, Any]]] = []
    for source in sources:
        for line, value in source.values():
            if _is_document(value):
                found.append((source, line, value))
            else:
                source.problem("holds no ATIF document", line)
    if len(sources) == 1:
        for source, line, document in found:
            yield _run([(source, document)], {}, stem(source) if len(found) == 1 else f"{stem(source)}:{line}")
        return
    found = _chained(found)
    named = {name for _, _, document in found for name in _references(document)}
    subs = {source.path.name: document for source, _, document in found if source.path.name in named}
    parts = [(source, document) for source, _, document in found if source.path.name not in subs]
    if parts:
        sources[0].health.count("joined", len(found) - 1)
        yield _run(parts, subs, stem(parts[0][0]))


def _chained(found: list[tuple[Source, int, dict[str, Any]]]) -> list[tuple[Source, int, dict[str, Any]]]:
    """Sort the parts of a run: each after the file that names it, else by the number it has."""
    before = {text_at(document, "continued_trajectory_ref"): source.path.name for source, _, document in found}

    def depth(entry: tuple[Source, int, dict[str, Any]]) -> int:
        number = whole_at(entry[2], "agent", "extra", "continuation_index")
        steps, name = 0, before.get(entry[0].path.name)
        while number is None and name is not None and steps < len(found):  # files may name each other
            steps, name = steps + 1, before.get(name)
        return steps if number is None else number

    return sorted(found, key=depth)


def _run(parts: list[tuple[Source, dict[str, Any]]], subs: Mapping[str, dict[str, Any]], name: str) -> Trace:
    source, first = parts[0]
    turns = Turns(source.health)
    earlier: list[Any] = []
    for place, (_, document) in enumerate(parts):
        own = _new(document["steps"], earlier, source)
        if place:
            turns.compaction()
        _steps(own, turns, _Family(document, subs))
        earlier = document["steps"]
    source.health.count("missing_parts", int(text_at(parts[-1][1], "continued_trajectory_ref") is not None))
    agent = text_at(first, "agent", "model_name")
    scaffold = "/".join(filter(None, (text_at(first, "agent", "name"), text_at(first, "agent", "version"))))
    info = {"agent": agent, "setup": f"{agent or '?'} {scaffold}".strip() or None}
    extra = {"schema_version": first["schema_version"], "notes": first.get("notes"), "more": first.get("extra")}
    return ATIF.trace(
        text_at(first, "session_id") or text_at(first, "trajectory_id") or name, turns.steps(), info, **extra
    )


def _new(steps: list[Any], earlier: list[Any], source: Source) -> list[dict[str, Any]]:
    """Drop what a continuation copied: marked so since 1.5, before that an equal beginning."""
    same = 0
    for old, step in zip(earlier, steps, strict=False):
        if _content(old) != _content(step):
            break
        same += 1
    kept = [step for step in dicts(steps[same:]) if step.get("is_copied_context") is not True]
    source.health.count("replayed", len(dicts(steps)) - len(kept))
    return kept


def _content(step: Any) -> Any:
    return (step.get("source"), step.get("message"), step.get("tool_calls")) if isinstance(step, dict) else step


class _Family:
    """The sub-agents that a document holds or names, each read once, where it is first named."""

    def __init__(self, document: dict[str, Any], files: Mapping[str, dict[str, Any]]) -> None:
        held = {text_at(sub, "trajectory_id"): sub for sub in dicts(document.get("subagent_trajectories"))}
        self._left: dict[str | None, dict[str, Any]] = dict(held)
        self._left.update(files)
        self.node = "main" if self._left else None

    def take(self, reference: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        for key in (text_at(reference, "trajectory_id"), text_at(reference, "trajectory_path")):
            if key in self._left:
                sub = self._left.pop(key)
                return text_at(sub, "trajectory_id") or text_at(sub, "agent", "name") or str(key), sub
        return None


def _steps(steps: list[dict[str, Any]], turns: Turns, family: _Family, node: str | None = None) -> None:
    for step in steps:
        kind = step.get("source")
        if kind == "user":
            turns.user()
        elif kind == "agent":
            _agent(step, turns, node or family.node)
        elif kind != "system":
            turns.health.unknown_kind(f"step source {kind!r}")
        elif at(step, "extra", "context_management", "type") == "compaction":
            turns.compaction()
        results = dicts(at(step, "observation", "results"))
        references = [each for result in results for each in dicts(result.get("subagent_trajectory_ref"))]
        for name, sub in filter(None, map(family.take, references)):
            _steps(dicts(sub.get("steps")), turns, family, name)


def _agent(step: dict[str, Any], turns: Turns, node: str | None) -> None:
    text = text_of(step.get("message"))
    results = dicts(at(step, "observation", "results"))
    calls = [
        Call(text_at(raw, "tool_call_id"), text_at(raw, "function_name"), args_of(raw.get("arguments")))
        for raw in dicts(step.get("tool_calls"))
    ]
    if not calls:
        text, calls = _written_calls(text, bool(results))
    turns.flush()
    tokens = whole_at(step, "metrics", "completion_tokens")
    turns.speak(text, text_at(step, "reasoning_content"), tokens=tokens, node=node, extra=step.get("extra") or None)
    for call in calls:
        turns.call(call, node=node)
    turns.flush()
    for result in results:
        if "content" in result or calls:
            turns.result(text_at(result, "source_call_id"), text_of(result.get("content")))
    # A result without an id belongs to its own step.
    turns.drop_waiting()


def _written_calls(text: str | None, answered: bool) -> tuple[str | None, list[Call]]:
    """Find calls that an agent without function calling wrote into its message."""
    rest, calls = functions_in(text or "")
    if calls:
        return rest or None, calls
    commands = _commands(text or "")
    if commands is not None:
        return text, [Call(None, "terminal", commands)]
    # What was answered was a call, whatever its form.
    return text, [Call(None, None, text or "")] if answered else []


def _commands(text: str) -> dict[str, Any] | None:
    """Return the commands of a Terminus message, which is a JSON object."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
    keys = ("commands", "task_complete")
    return (
        {key: found[key] for key in keys if key in found} if isinstance(found, dict) and "commands" in found else None
    )


ATIF = Importer(
    "atif",
    "Agent Trajectory Interchange Format (Harbor, Terminus, OpenHands), continuation files joined",
    _sniff,
    _read,
    {
        "state": "message of agent steps",
        "thought": "reasoning_content",
        "tool, args": "tool_calls; else <function=...> or the commands of a Terminus message; else the message",
        "output": "observation.results, by source_call_id",
        "event": "steps of source user; system steps whose context_management is compaction; a continuation file",
        "node": "sub-agent's trajectory id, where there are sub-agents",
        "tokens": "metrics.completion_tokens",
    },
    _link,
)
