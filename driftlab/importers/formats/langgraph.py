"""LangGraph checkpoints: a live graph's history, its JSON, sqlite saver files."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import msgspec

from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab.importers.parts.base import Importer, at, stem, whole_at
from driftlab.importers.parts.chat import is_message, read_messages, role_of
from driftlab.importers.parts.health import HealthReport
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.turns import Turns
from driftlab.importers.parts.values import dumped, hash_of
from driftlab.trace.schema import Trace

__all__ = ["LANGGRAPH", "from_state_history"]

Snapshot = dict[str, Any]


def from_state_history(history: Iterable[Any], id: str, *, health: HealthReport | None = None) -> Trace:
    """Return the trace of a live graph's ``get_state_history``.

    Parameters
    ----------
    history : iterable of StateSnapshot or mapping
        Newest first, as LangGraph gives it; the order of the steps decides, not the order of the list.
    id : str
        The trace's id, for example the thread's.
    health : HealthReport, optional
        Where repeated messages are counted.

    Raises
    ------
    InputError
        When a snapshot has no values.

    Examples
    --------
    >>> history = [{"metadata": {"step": 1}, "values": {"messages": ["q", "a"]}},
    ...            {"metadata": {"step": 0}, "values": {"messages": ["q"]}}]
    >>> [step.state for step in from_state_history(history, "thread-1").steps]
    ['q', 'a']
    """
    return _trace([_snapshot(each) for each in history], id, health or HealthReport())


def _snapshot(raw: Any) -> Snapshot:
    """Return a snapshot as plain values, whether it is an object, a mapping or its JSON."""
    names = ("values", "metadata", "next")
    found = {name: raw.get(name) if isinstance(raw, Mapping) else getattr(raw, name, None) for name in names}
    if not isinstance(found["values"], Mapping):
        raise InputError(f"a snapshot of LangGraph needs values, got {type(raw).__name__}")
    plain = _plain(found)
    return {"values": plain["values"], "metadata": plain["metadata"] or {}, "next": plain["next"] or []}


def _plain(value: Any) -> Any:
    """Return JSON values of whatever a state may hold; messages become objects, unknown things their text."""
    return msgspec.json.decode(msgspec.json.encode(value, enc_hook=_encoded))


def _encoded(value: Any) -> Any:
    dump = getattr(value, "model_dump", None) or getattr(value, "dict", None)
    return dump() if callable(dump) else str(value)


def _sniff(source: Source) -> bool:
    if source.kind == "sqlite":
        return _has_checkpoints(source)
    return bool(source.peek) and all(_is_snapshot(value) for value in source.peek)


def _is_snapshot(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("values"), dict) and isinstance(value.get("metadata"), dict)


def _read(sources: Sequence[Source]) -> Iterator[Trace]:
    for source in sources:
        if source.kind == "sqlite":
            yield from _threads(source)
            continue
        threads: dict[str, list[Snapshot]] = {}
        for line, value in source.values():
            if not _is_snapshot(value):
                source.problem("holds no snapshot of LangGraph", line)
                continue
            name = at(value, "config", "configurable", "thread_id")
            threads.setdefault(stem(source) if name is None else str(name), []).append(value)
        yield from (_trace(found, name, source.health) for name, found in threads.items())


@contextmanager
def _opened(source: Source) -> Iterator[sqlite3.Connection]:
    # What a running graph wrote last stands in the file beside; a file without one is not touched at all.
    live = source.path.with_name(f"{source.path.name}-wal").exists()
    address = f"{source.path.resolve().as_uri()}?mode=ro{'' if live else '&immutable=1'}"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        yield connection


def _has_checkpoints(source: Source) -> bool:
    try:
        with _opened(source) as connection:
            found = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'checkpoints'").fetchone()
    except sqlite3.Error:
        return b"checkpoint_ns" in source.head  # broken: the reader says how
    return bool(found[0])


def _threads(source: Source) -> Iterator[Trace]:
    """Read a file of the sqlite saver without its graph, thread by thread; nothing is written to it."""
    saver_type = need("langgraph.checkpoint.sqlite", "langgraph").SqliteSaver
    # Strict: a file is only data, whatever classes it names.
    serde = need("langgraph.checkpoint.serde.jsonplus", "langgraph").JsonPlusSerializer(allowed_msgpack_modules=None)
    query = "SELECT DISTINCT thread_id, checkpoint_ns FROM checkpoints ORDER BY 1, 2"
    try:
        with _opened(source) as connection:
            saver = saver_type(connection, serde=serde)
            saver.is_setup = True  # the tables are there; making them would write
            for thread, space in connection.execute(query).fetchall():
                yield from _thread(source, saver, str(thread), str(space))
    except sqlite3.Error as error:
        source.problem(f"cannot be read as sqlite: {error}")


def _thread(source: Source, saver: Any, thread: str, space: str) -> Iterator[Trace]:
    query = (
        "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id DESC"
    )
    names = [row[0] for row in saver.conn.execute(query, (thread, space)).fetchall()]
    # One by one: a checkpoint that is broken must not take the others with it.
    found = [each for name in names if (each := _checkpoint(source, saver, (thread, space, name))) is not None]
    if found:
        # A sub-graph has a space of its own: "node:task".
        id = f"{thread}/{space}" if space else thread
        yield _trace(found, id, source.health, node=space.partition(":")[0] or None)


def _checkpoint(source: Source, saver: Any, place: tuple[str, str, Any]) -> Snapshot | None:
    config = dict(zip(("thread_id", "checkpoint_ns", "checkpoint_id"), place, strict=True))
    try:
        each = saver.get_tuple({"configurable": config})
        values, seen = each.checkpoint["channel_values"], each.checkpoint.get("versions_seen")
        plain = _plain({"values": values, "metadata": each.metadata, "seen": seen or {}})
    except (ValueError, KeyError, TypeError, AttributeError, NotImplementedError) as error:
        source.problem(f"checkpoint {place[2]!r} of thread {place[0]!r} cannot be read: {error}")
        return None
    if not _is_snapshot(plain):
        source.problem(f"checkpoint {place[2]!r} of thread {place[0]!r} holds no state")
        return None
    return dict(plain)


def _trace(snapshots: list[Snapshot], name: str, health: HealthReport, *, node: str | None = None) -> Trace:
    numbers = [whole_at(each, "metadata", "step") for each in snapshots]
    signed = [at(each, "metadata", "step") for each in snapshots]
    known = all(isinstance(step, int) for step in signed)
    if not known:
        health.count("dangling_parents", numbers.count(None))
    order = sorted(range(len(snapshots)), key=lambda n: signed[n]) if known else range(len(snapshots))[::-1]
    turns = Turns(health)
    before: Snapshot = {}
    for place in order:
        _take(snapshots[place], before, turns, node)
        before = snapshots[place]
    return LANGGRAPH.trace(name, turns.steps())


def _take(snapshot: Snapshot, before: Snapshot, turns: Turns, node: str | None) -> None:
    values, earlier = snapshot["values"], before.get("values") or {}
    who = node or _node(snapshot, before)
    messages = values.get("messages")
    if isinstance(messages, list):
        _messages(_fresh(messages, earlier.get("messages"), turns), turns, who)
        return
    changed = {key: value for key, value in values.items() if not _internal(key) and earlier.get(key) != value}
    # The input of a run is what a person said, not what a node did.
    if at(snapshot, "metadata", "source") == "input":
        turns.user()
    elif changed or (before and at(snapshot, "metadata", "source") == "loop"):
        turns.flush()
        turns.speak(dumped({key: value for key, value in values.items() if not _internal(key)}), node=who)
        turns.flush()


def _internal(key: str) -> bool:
    return key.startswith(("__", "branch:", "start:")) or key == "__root__"


def _fresh(messages: list[Any], earlier: Any, turns: Turns) -> list[Any]:
    """Return the messages that the checkpoint before did not hold; a shorter list is a compaction."""
    old = earlier if isinstance(earlier, list) else []
    same = 0
    for first, second in zip(old, messages, strict=False):
        if first != second:
            break
        same += 1
    turns.health.count("replayed", same)
    if same < len(old):
        known = {_name(message) for message in old}
        kept = [message for message in messages[same:] if _name(message) in known]
        if len(messages) < len(old):
            turns.compaction()
        turns.health.count("rewritten", len(kept))
        return [message for message in messages[same:] if _name(message) not in known]
    return messages[same:]


def _name(message: Any) -> Any:
    name = message.get("id") if isinstance(message, dict) else None
    return name if isinstance(name, str) else hash_of(message)


def _messages(messages: list[Any], turns: Turns, node: str | None) -> None:
    for message in messages:
        if is_message(message):
            read_messages([message], turns, node=node if role_of(message) == "assistant" else None)
        else:
            turns.flush()
            turns.speak(message if isinstance(message, str) else dumped(message), node=node)
            turns.flush()


def _node(snapshot: Snapshot, before: Snapshot) -> str | None:
    """Return the node that wrote a checkpoint: named by older versions, else what stood next before."""
    writes = at(snapshot, "metadata", "writes")
    if isinstance(writes, dict) and writes:
        return "+".join(sorted(map(str, writes)))
    following = before.get("next")
    if isinstance(following, list | tuple) and following:
        return "+".join(sorted(map(str, following)))
    ran = {
        name
        for name, versions in (snapshot.get("seen") or {}).items()
        if versions != (before.get("seen") or {}).get(name)
    }
    return "+".join(sorted(name for name in ran if not name.startswith("__"))) or None


LANGGRAPH = Importer(
    "langgraph",
    "LangGraph checkpoints: get_state_history, its JSON, sqlite saver files",
    _sniff,
    _read,
    {
        "state": "content of new messages; without messages, the whole state as JSON",
        "tool, args": "tool calls of new AI messages; one step a call",
        "output": "the tool message with the same call id",
        "node": "metadata.writes, else the node that stood next in the checkpoint before",
        "event": "human messages; a list of messages that became shorter",
    },
)
