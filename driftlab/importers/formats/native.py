"""driftlab's own files, so that a folder may mix them with foreign ones."""

from collections.abc import Iterator, Sequence

from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab.importers.parts.base import Importer
from driftlab.importers.parts.source import Source
from driftlab.trace import corpus
from driftlab.trace.schema import Trace, convert

__all__ = ["NATIVE"]


def _sniff(source: Source) -> bool:
    if source.kind == "parquet":
        try:
            names = set(need("pyarrow.parquet", "study").read_schema(source.path).names)
        except (OSError, need("pyarrow", "study").ArrowException):
            return True  # broken: the reader says how
        return {"id", "steps", "signal_specs"} <= names
    found = source.peek
    return bool(found) and all(_is_trace(value) for value in found if isinstance(value, dict))


def _is_trace(value: dict[str, object]) -> bool:
    return isinstance(value.get("id"), str) and isinstance(value.get("steps"), list) and "schema_version" not in value


def _read(sources: Sequence[Source]) -> Iterator[Trace]:
    for source in sources:
        if source.kind == "parquet":
            yield from corpus.stream(source.path)
            continue
        for line, value in source.values():
            try:
                yield convert(value, Trace, "trace")
            except InputError as error:
                source.problem(str(error), line)


NATIVE = Importer("driftlab", "driftlab's own .jsonl, .jsonl.gz, .parquet", _sniff, _read, {"everything": "as it is"})
