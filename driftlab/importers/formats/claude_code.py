"""Claude Code sessions."""

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from driftlab.importers.parts.base import Importer, dicts, stem
from driftlab.importers.parts.claude_steps import is_clear, steps_of
from driftlab.importers.parts.source import Source
from driftlab.importers.parts.values import hash_of
from driftlab.trace.schema import Trace

__all__ = ["CLAUDE"]

Record = dict[str, Any]
_KINDS = ("user", "assistant", "system")
_AGENT_FILE = re.compile(r"^agent-(.+)$")


def _sniff(source: Source) -> bool:
    if source.kind not in ("jsonl", "json"):
        return False
    return any(map(_is_record, source.peek))


def _is_record(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("type") not in (*_KINDS, "summary", "result"):
        return False
    streamed = "session_id" in value and ("subtype" in value or isinstance(value.get("message"), dict))
    return "sessionId" in value or "leafUuid" in value or streamed


def _link(source: Source) -> Iterable[Hashable]:
    """Yield what ties files: the session (sub-agents), the slug (a plan and its execution), equal records (resumed)."""
    for _, record in source.quiet().values():
        if isinstance(record, dict):
            names = ((kind, record.get(kind)) for kind in ("sessionId", "slug"))
            yield from (f"{kind}:{name}" for kind, name in names if isinstance(name, str))
            # Numbers, not the keys themselves: every record of every file is held until all are seen.
            yield from map(hash, _keys(record))


def _read(sources: Sequence[Source]) -> Iterator[Trace]:
    # Copies begin at the same moment; what was written first is what the others continue or fork.
    files = sorted((_File(source) for source in sources), key=lambda file: (file.start, file.end))
    mains, agents = [f for f in files if f.agent is None], [f for f in files if f.agent is not None]
    if not mains:
        mains, agents = agents, []
    runs = _runs(mains)
    for file in agents:
        # A sub-agent belongs to the run of its session that was under way when it began.
        home = next((run for run in reversed(runs) if run.session == file.session and run.start <= file.start), runs[0])
        home.agents.append(file)
        home.joined += 1
    for run in runs:
        run.source.health.count("joined", run.joined)
        yield from run.traces()


class _File:
    """The records of one file, each uuid once: the last writing, at the place of the first."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.records: list[Record] = []
        places: dict[str, int] = {}
        for line, value in source.values():
            if not isinstance(value, dict):
                source.problem(f"expected an object, got {type(value).__name__}", line)
                continue
            record = _as_stored(value)
            name = record.get("uuid")
            if isinstance(name, str) and name in places:
                source.health.count("rewritten")
                self.records[places[name]] = record
                continue
            if isinstance(name, str):
                places[name] = len(self.records)
            self.records.append(record)
        self.session = _first(self.records, "sessionId") or stem(source)
        self.start = _first(self.records, "timestamp") or ""
        self.end = _first(self.records[::-1], "timestamp") or ""
        named = _AGENT_FILE.match(stem(source))
        side = [record.get("isSidechain") is True for record in self.records if record.get("type") in _KINDS]
        self.agent = (
            (_first(self.records, "agentId") or (named[1] if named else "sidechain")) if side and all(side) else None
        )


def _as_stored(record: Record) -> Record:
    """Return a record of ``--output-format stream-json`` in the form of stored sessions."""
    if "sessionId" in record or "session_id" not in record:
        return record
    agent = record.get("parent_tool_use_id")
    return {**record, "sessionId": record["session_id"], "isSidechain": agent is not None, "agentId": agent}


def _first(records: list[Record], key: str) -> str | None:
    return next((record[key] for record in records if isinstance(record.get(key), str)), None)


class _Run:
    """One run over one file or several."""

    def __init__(self, file: _File, records: list[Record], forked_from: str | None = None) -> None:
        self.source, self.session, self.start = file.source, file.session, file.start
        self.records = records
        self.forked_from = forked_from
        self.agents: list[_File] = []
        self.sessions = [file.session]
        self.joined = 0

    def extend(self, file: _File, records: list[Record]) -> None:
        self.records += records
        self.session = file.session
        self.sessions.append(file.session)
        self.joined += 1

    def traces(self) -> Iterator[Trace]:
        """Yield one trace, or one for each stretch between /clear commands."""
        parts: list[list[Record]] = [[]]
        for record in self._ordered():
            if is_clear(record):
                parts.append([])
            else:
                parts[-1].append(record)
        filled = [part for part in parts if any(record.get("type") == "assistant" for record in part)]
        for place, part in enumerate(filled):
            name = self.sessions[0] if place == 0 else f"{self.sessions[0]}#{place + 1}"
            yield self._trace(name, part)

    def _ordered(self) -> list[Record]:
        if not self.agents:
            return self.records
        marked = [{**record, "isSidechain": True, "agentId": f.agent} for f in self.agents for record in f.records]
        # Sub-agents work between a call of the main run and its result; records without a time keep their neighbour's.
        pairs = sorted([*_timed(self.records), *_timed(marked)], key=lambda pair: pair[0])
        return [record for _, record in pairs]

    def _trace(self, name: str, part: list[Record]) -> Trace:
        steps, model = steps_of(part, self.source.health)
        versions = {record["version"] for record in part if isinstance(record.get("version"), str)}
        info = {"agent": model, "setup": f"{model or '?'} claude-code/{max(versions, default='?')}"}
        more = self.sessions[1:] or None
        return CLAUDE.trace(
            name,
            steps,
            info,
            session=self.sessions[0],
            forked_from=self.forked_from,
            continued_in=more,
            cwd=_first(part, "cwd"),
        )


def _timed(records: list[Record]) -> Iterator[tuple[str, Record]]:
    last = ""
    for record in records:
        if isinstance(record.get("timestamp"), str):
            last = record["timestamp"]
        yield last, record


def _runs(files: Sequence[_File]) -> list[_Run]:
    """Join resumed files, keep forks apart, drop what they repeat."""
    if len(files) == 1:  # nothing can be repeated
        return [_Run(files[0], files[0].records)]
    runs: list[_Run] = []
    homes: dict[Hashable, tuple[_Run, int]] = {}
    for file in files:
        new, last = _new(file, homes)
        run = _placed(file, new, last, runs)
        if run is not None:
            homes.update((key, (run, id(record))) for record in new for key in _keys(record))
    return runs


def _new(file: _File, homes: dict[Hashable, tuple[_Run, int]]) -> tuple[list[Record], tuple[_Run, int] | None]:
    """Return the records that no earlier file holds, and where the last repeated one stands."""
    new: list[Record] = []
    last = None
    for record in file.records:
        found = next((homes[key] for key in _keys(record) if key in homes), None)
        if found is None:
            new.append(record)
            continue
        # What is repeated is a beginning: talk before it was copied too, if under a new uuid.
        kept = [earlier for earlier in new if not _is_talk(earlier)]
        file.source.health.count("replayed", 1 + len(new) - len(kept))
        new, last = kept, found
    return new, last


def _placed(file: _File, new: list[Record], last: tuple[_Run, int] | None, runs: list[_Run]) -> _Run | None:
    if not any(_is_talk(record) for record in new):
        return None
    if last is None:
        same = next((run for run in reversed(runs) if _same_slug(run.records, file.records)), None)
        if same is not None:
            same.extend(file, new)
            return same
        runs.append(_Run(file, new))
        return runs[-1]
    run, place = last
    ends = [id(record) for record in run.records if _is_talk(record)]
    if ends and ends[-1] == place:
        run.extend(file, new)
        return run
    runs.append(_Run(file, new, forked_from=run.sessions[0]))
    return runs[-1]


def _same_slug(earlier: list[Record], later: list[Record]) -> bool:
    slug = _first(later, "slug")
    return slug is not None and slug == _first(earlier, "slug")


def _is_talk(record: Record) -> bool:
    return record.get("type") in ("user", "assistant") and record.get("isSidechain") is not True


def _keys(record: Record) -> Iterator[Hashable]:
    """Yield what names a record: its uuid; its calls or results, since older versions copied under new uuids."""
    if isinstance(record.get("uuid"), str):
        yield record["uuid"]
    message = record.get("message")
    for part in dicts(message.get("content")) if isinstance(message, dict) else ():
        if part.get("type") == "tool_use" and isinstance(part.get("id"), str):
            yield ("call", part["id"], hash_of([part.get("name"), part.get("input")]))
        elif part.get("type") == "tool_result" and isinstance(part.get("tool_use_id"), str):
            yield ("result", part["tool_use_id"], hash_of(part.get("content")))


CLAUDE = Importer(
    "claude-code",
    "Claude Code session .jsonl: streamed, resumed, forked, compacted, with sub-agents",
    _sniff,
    _read,
    {
        "state": "text blocks of the assistant",
        "thought": "thinking blocks",
        "tool, args": "tool_use blocks; one step a call",
        "output": "tool_result with the same id",
        "error": "is_error of the result; API errors",
        "node": "main, or sidechain with the sub-agent's id",
        "event": "user turns; compact_boundary and compact summaries",
        "tokens": "output_tokens, once a message",
        "seconds": "time between call and result",
    },
    _link,
)
