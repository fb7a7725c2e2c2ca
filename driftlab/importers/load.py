"""Foreign logs to traces, with a report of what was found."""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from driftlab._util.errors import InputError, MissingExtra
from driftlab._util.registry import Registry
from driftlab._util.spec import choice
from driftlab.importers.formats.agents_sdk import AGENTS
from driftlab.importers.formats.atif import ATIF
from driftlab.importers.formats.claude_code import CLAUDE
from driftlab.importers.formats.codex import CODEX
from driftlab.importers.formats.inspect_eval import INSPECT
from driftlab.importers.formats.intercode import INTERCODE
from driftlab.importers.formats.langfuse import LANGFUSE
from driftlab.importers.formats.langgraph import LANGGRAPH
from driftlab.importers.formats.langsmith import LANGSMITH
from driftlab.importers.formats.mini_swe_agent import MINI
from driftlab.importers.formats.mlflow import MLFLOW
from driftlab.importers.formats.native import NATIVE
from driftlab.importers.formats.openai import OPENAI
from driftlab.importers.formats.openhands import OPENHANDS
from driftlab.importers.formats.otel import OTEL
from driftlab.importers.formats.plain import PLAIN, plain_with
from driftlab.importers.formats.swe_agent import SWE_AGENT
from driftlab.importers.formats.tau_bench import TAU
from driftlab.importers.parts.base import Importer
from driftlab.importers.parts.grouping import groups
from driftlab.importers.parts.health import HealthReport
from driftlab.importers.parts.signals import Extractor, extractor, with_signals
from driftlab.importers.parts.source import Source
from driftlab.trace.corpus import Corpus
from driftlab.trace.schema import Trace

__all__ = ["IMPORTERS", "load", "recognise", "stream"]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

# Recognised in this order: what is told by a tag or a field of its own comes before what many logs share.
IMPORTERS: Registry[Importer] = Registry(
    "format",
    (
        (importer.name, importer)
        for importer in (
            NATIVE,
            ATIF,
            CLAUDE,
            CODEX,
            MINI,
            SWE_AGENT,
            TAU,
            INTERCODE,
            LANGFUSE,
            MLFLOW,
            LANGSMITH,
            AGENTS,
            INSPECT,
            LANGGRAPH,
            OPENHANDS,
            OTEL,
            OPENAI,
            PLAIN,
        )
    ),
)


def load(
    paths: Paths,
    *,
    format: str | None = None,
    extractors: Iterable[str | Extractor] = (),
    columns: Mapping[str, str] | None = None,
    on_error: Literal["skip", "raise"] = "skip",
) -> tuple[Corpus, HealthReport]:
    """Import files of any known format.

    Parameters
    ----------
    paths : path or iterable of paths
        Files, or folders whose files are all tried. Files that continue each other become one trace.
    format : str, optional
        Name of an importer, to force it; by default each file is recognised by its content.
    extractors : iterable of str
        Readers of task signals from outputs, by name: see `EXTRACTORS`.
    columns : mapping of str to str, optional
        Field of a step or a trace to the column that holds it, for plain JSON Lines and CSV.
    on_error : {"skip", "raise"}
        "skip" keeps what is whole and lists the rest in the report; "raise" stops at the first fault.

    Returns
    -------
    Corpus, HealthReport

    Raises
    ------
    InputError
        When nothing could be imported; with "raise", at the first fault, naming file and position.

    Warns
    -----
    DriftlabWarning
        When something could not be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> _ = path.write_text('{"tool": "ls", "output": "a"}\\n{"tool": "cat", "output": "b"}\\n')
    >>> corpus, report = load(path)
    >>> len(corpus[0].steps), report.files["plain"]
    (2, 1)
    """
    report = HealthReport(strict=on_error == "raise")
    choice("on_error", on_error, ("skip", "raise"))
    traces = tuple(stream(paths, report=report, format=format, extractors=extractors, columns=columns))
    report.warn()
    return Corpus(traces), report


def stream(
    paths: Paths,
    *,
    report: HealthReport,
    format: str | None = None,
    extractors: Iterable[str | Extractor] = (),
    columns: Mapping[str, str] | None = None,
) -> Iterator[Trace]:
    """Yield traces one by one, holding one file at a time, or one run where a file holds many.

    Parameters are those of `load`; `report` is filled on the way, and is strict when it was made so.

    Raises
    ------
    InputError
        After the last file, when nothing could be imported.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> _ = path.write_text('{"id": "a", "tool": "ls"}\\n{"id": "b", "tool": "ls"}\\n')
    >>> [trace.id for trace in stream(path, report=HealthReport())]
    ['a', 'b']
    """
    if format is not None:
        IMPORTERS.check(format)  # before any file is opened
    readers = [extractor(each) for each in extractors]
    files = list(_files(paths))
    seen: dict[str, int] = {}
    for importer, group in groups(_recognised(files, format, columns, report)):
        before = report.steps, report.n_problems
        for trace in _read(importer, group, report):
            named = _named(with_signals(trace, readers), seen, report)
            report.saw(named)
            yield named
        for source in group:
            source.forget()
        if (report.steps, report.n_problems) == before:
            report.problem(f"{_names(group)}: read as {importer.name}, but no step was found in it")
    if not report.steps:
        raise InputError(_nothing(files, report))


def recognise(path: str | os.PathLike[str]) -> str | None:
    """Return the name of the format of a file, None when no importer knows it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.json"
    >>> _ = path.write_text('[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes?"}]')
    >>> recognise(path)
    'openai-messages'
    """
    found = _importer_of(Source(Path(path), HealthReport()))
    return found.name if found else None


def _files(paths: Paths) -> Iterator[tuple[Path, bool]]:
    """Yield each file, and whether it was named itself rather than found in a folder."""
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        place = Path(path)
        if not place.is_dir():
            yield place, True
            continue
        inside = sorted(file for file in place.rglob("*") if file.is_file() and not _hidden(file.relative_to(place)))
        if not inside:
            raise InputError(f"{place}: the folder holds no file")
        yield from ((file, False) for file in inside)


def _hidden(path: Path) -> bool:
    # The files that sqlite keeps beside its own are read with them.
    return any(part.startswith(".") for part in path.parts) or path.name.endswith(("-wal", "-shm", "-journal"))


def _recognised(
    files: Iterable[tuple[Path, bool]], format: str | None, columns: Mapping[str, str] | None, report: HealthReport
) -> list[tuple[Importer, Source]]:
    forced = plain_with(columns) if columns and format in (None, PLAIN.name) else IMPORTERS[format] if format else None
    found = []
    for path, named in files:
        source = Source(path, report)
        try:
            importer = forced or _importer_of(source)
            if importer is None or source.kind == "empty":
                _refuse(source, named)
            else:
                found.append((importer, source))
                report.files[importer.name] += 1
        except (InputError, MissingExtra) as error:
            report.problem(str(error))
        source.forget()  # a folder may hold thousands of files
    return found


def _refuse(source: Source, named: bool) -> None:
    """Say why nothing was recognised: no content, a fault in the JSON, or a format that nobody knows."""
    before = source.health.n_problems
    if source.kind == "empty":
        source.problem("the file is empty")
    elif not named:
        source.health.unknown_kind(f"file *{source.path.suffix}")
        return
    elif source.kind == "parquet":
        source.problem("is a Parquet file of another schema; read its rows with dl.from_datasets")
    elif source.kind in ("json", "jsonl") and not source.peek:
        deque(source.values(), maxlen=0)
    if source.health.n_problems == before:
        source.problem(f"no importer knows this file; force one with --format: {', '.join(IMPORTERS)}")


def _importer_of(source: Source) -> Importer | None:
    if source.kind == "empty":
        return None
    return next((importer for importer in IMPORTERS.values() if importer.sniff(source)), None)


def _read(importer: Importer, group: Sequence[Source], report: HealthReport) -> Iterator[Trace]:
    try:
        yield from importer.read(group)
    except (InputError, MissingExtra) as error:
        if report.strict:
            raise
        report.problem(str(error) if str(group[0].path) in str(error) else f"{_names(group)}: {error}")


def _named(trace: Trace, seen: dict[str, int], report: HealthReport) -> Trace:
    """Give a trace whose id was met before a name of its own."""
    count = seen[trace.id] = seen.get(trace.id, 0) + 1
    if count == 1:
        return trace
    report.count("duplicated_ids")
    name = next(name for n in range(count, count + len(seen) + 1) if (name := f"{trace.id}#{n}") not in seen)
    seen[name] = 1
    return trace.replace(id=name)


def _names(group: Sequence[Source]) -> str:
    more = f" and {len(group) - 1} more" if len(group) > 1 else ""
    return f"{group[0].path}{more}"


def _nothing(files: Sequence[tuple[Path, bool]], report: HealthReport) -> str:
    first = f"; the first problem: {report.problems[0]}" if report.problems else ""
    return f"no step was found in {len(files)} files{first}" if files else "no file was named"
