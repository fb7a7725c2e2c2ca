"""Inspect .eval logs, through inspect-ai's own reader."""

import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from driftlab._util.extras import need
from driftlab.importers.parts.base import Importer, at, text_at
from driftlab.importers.parts.chat import read_messages
from driftlab.importers.parts.source import DOCUMENT, Source
from driftlab.importers.parts.turns import Turns
from driftlab.trace.schema import Trace

__all__ = ["INSPECT"]

_RATIO = 200  # unpacked size over packed size; logs reach about 10
_GRACE = 16 << 20  # bytes that may be packed however tightly


def _sniff(source: Source) -> bool:
    if source.kind == "zip":
        return b"_journal/" in source.head or b"header.json" in source.head or source.path.suffix == ".eval"
    return any(
        isinstance(value, dict) and "eval" in value and "status" in value and "samples" in value
        for value in source.peek
    )


def _read(sources: Sequence[Source]) -> Iterator[Trace]:
    log = need("inspect_ai.log", "inspect")
    for source in sources:
        if source.kind == "zip" and not _is_safe(source):
            continue
        name = str(source.path)
        try:
            header = log.read_eval_log(name, header_only=True)
            summaries = log.read_eval_log_sample_summaries(name)
        except (ValueError, OSError, KeyError, zipfile.BadZipFile) as error:
            source.problem(f"inspect-ai cannot read it: {error}")
            continue
        for summary in summaries:
            try:
                sample = log.read_eval_log_sample(name, id=summary.id, epoch=summary.epoch)
            except (ValueError, OSError, KeyError, IndexError, zipfile.BadZipFile) as error:
                source.problem(f"sample {summary.id!r} cannot be read: {error}")
                continue
            yield _trace(source, header, sample)


def _is_safe(source: Source) -> bool:
    """Refuse a file that would unpack to more than memory holds, before any of it is unpacked."""
    try:
        with zipfile.ZipFile(source.path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        source.problem(f"is no whole zip file: {error}")
        return False
    for entry in entries:
        bomb = entry.file_size > _GRACE and entry.file_size > _RATIO * max(entry.compress_size, 1)
        if bomb or entry.file_size > DOCUMENT:
            source.problem(
                f"{entry.filename} unpacks from {entry.compress_size} to {entry.file_size} bytes; it was not opened"
            )
            return False
    return True


def _trace(source: Source, header: Any, sample: Any) -> Trace:
    turns = Turns(source.health)
    messages = [message.model_dump(mode="json", exclude_none=True) for message in sample.messages]
    read_messages(map(_chat, messages), turns)
    scores = {name: score.value for name, score in (sample.scores or {}).items()}
    task, model = str(header.eval.task), str(header.eval.model)
    info = {
        "task": task,
        "problem": str(sample.id),
        "agent": model,
        "setup": f"{model} {task}",
        "outcome": _outcome(scores),
    }
    run = f"{header.eval.run_id}:{sample.id}:{sample.epoch}"
    error = sample.error.message if sample.error else None
    return INSPECT.trace(run, turns.steps(), info, scores=scores or None, epoch=sample.epoch, error=error)


def _chat(message: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {"id": c.get("id"), "name": c.get("function"), "args": c.get("arguments")}
        for c in message.get("tool_calls") or ()
    ]
    failed = "error" if message.get("error") else None
    said = message.get("content") or (text_at(message, "error", "message") if failed else "")
    # The name of a message is the tool's; who speaks is known by its role.
    rest = {key: value for key, value in message.items() if key not in ("id", "name", "source", "metadata", "function")}
    return {
        **rest,
        "content": said,
        "tool_calls": calls,
        "status": failed,
        "reasoning_content": at(message, "reasoning"),
    }


def _outcome(scores: dict[str, Any]) -> bool | None:
    """One score that says correct or incorrect, by Inspect's letters or as 1 or 0; anything else says nothing."""
    values = list(scores.values())
    if len(values) != 1:
        return None
    known = {"C": True, "I": False, 1: True, 0: False}  # 1 equals 1.0 and True
    return known.get(values[0]) if isinstance(values[0], str | int | float | bool) else None


INSPECT = Importer(
    "inspect",
    "Inspect .eval logs (extra inspect)",
    _sniff,
    _read,
    {
        "state": "content of assistant messages",
        "thought": "reasoning parts",
        "tool, args": "tool_calls; one step a call",
        "output": "the tool message with the same id, else its error",
        "error": "error of the tool message",
        "event": "user messages",
        "problem": "id of the sample",
        "outcome": "the score, when there is one and it is C/I or 1/0",
    },
)
