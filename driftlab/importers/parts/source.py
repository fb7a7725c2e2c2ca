"""One file as lines or JSON values, in whatever state it is."""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from driftlab._util.errors import InputError
from driftlab.importers.parts.health import HealthReport
from driftlab.importers.parts.repair import repaired, repeated_key, salvaged, several, strict

__all__ = ["DOCUMENT", "Source"]

LINE = 32 << 20  # bytes of one line that are read; longer lines are skipped with a note
DOCUMENT = 256 << 20  # bytes of one JSON document
HEAD = 1 << 20  # bytes that decide the format
PEEKED = 64  # records that decide the format
_MAGIC = {b"SQLite format 3\0": "sqlite", b"PK\x03\x04": "zip", b"PAR1": "parquet"}
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_BOM = b"\xef\xbb\xbf"
_BROKEN = (OSError, EOFError, zlib.error)


@dataclass(frozen=True)
class Source:
    """One file of an import; what it cannot give goes to the health report with its position.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "log.jsonl"
    >>> _ = path.write_text('{"a": 1}\\n{"a": ')
    >>> source = Source(path, HealthReport())
    >>> [value for _, value in source.values()], source.health.n_problems
    ([{'a': 1}], 1)
    """

    path: Path
    health: HealthReport

    def problem(self, message: str, position: object = None) -> None:
        """Note, or in a strict import raise, what is wrong at a position of this file."""
        place = f"{self.path}" if position is None else f"{self.path}: line {position}"
        self.health.problem(f"{place}: {message}")

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked, in UTF-8 without a byte-order mark."""
        found = bytearray()
        try:
            with self._open() as file:
                while len(found) < HEAD and (more := file.read(8192)):
                    found += more
        except _BROKEN as error:
            if not found:
                raise InputError(f"{self.path}: cannot be read: {error}") from error
        return _utf8(bytes(found), whole=False)

    @cached_property
    def kind(self) -> str:
        """One of empty, sqlite, zip, parquet, jsonl, json, text."""
        for magic, kind in _MAGIC.items():
            if self.head.startswith(magic):
                return kind
        text = self.head.lstrip()
        if not text:
            return "empty"
        if self._is_lines(text):
            return "jsonl"
        return "json" if text.startswith((b"{", b"[")) else "text"

    def _is_lines(self, text: bytes) -> bool:
        lines = [line.strip() for line in text.split(b"\n", 50)[:50]]
        first = lines[0]
        if first in (b"{", b"[") or first.startswith(b"["):
            return False
        whole = [line for line in lines if line.startswith(b"{") and strict(line) is not None]
        named = self.path.name.removesuffix(".gz").endswith((".jsonl", ".ndjson"))
        # One whole line that ends the file is a document as much as a line: the name decides.
        rest = any(lines[1:])
        return (bool(whole) and (named or len(whole) > 1 or (rest and whole[0] is first))) or (
            named and first[:1] == b"{"
        )

    @cached_property
    def peek(self) -> list[Any]:
        """The first records, as far as they can be read, without any note."""
        if self.kind == "jsonl":
            found = [strict(line) for line in self.head.split(b"\n", PEEKED)[:PEEKED]]
            return [pair[0] for pair in found if pair] or [value for _, value in islice(self.quiet().values(), 1)]
        if self.kind != "json":
            return []
        document = self.quiet().document()
        return document[:PEEKED] if isinstance(document, list) else [] if document is None else [document]

    def forget(self) -> None:
        """Let go of what was read to recognise the file; it is read again when it is asked for."""
        for name in ("head", "peek"):
            self.__dict__.pop(name, None)

    def quiet(self) -> "Source":
        """Return the same file with a report of its own, for a look that leaves no note."""
        return Source(self.path, HealthReport())

    def lines(self, *, blank: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield number, bytes of each line, without blank ones unless asked for; a line longer than `LINE` is skipped.

        A file that breaks off (a cut gzip stream, say) gives the lines before the break.
        """
        number = 0
        try:
            for number, line in self._bounded():
                if blank or line.strip():
                    yield number, line
        except _BROKEN as error:
            self.problem(f"the file breaks off after this line: {error}", number)

    def _bounded(self) -> Iterator[tuple[int, bytes]]:
        with self._open() as file:
            wide = file.read(2) in _UTF16
            file.seek(0)
            lines = _utf8(self._whole(file)).splitlines(True) if wide else iter(lambda: file.readline(LINE + 1), b"")
            for number, line in enumerate(lines, 1):
                if len(line) <= LINE:
                    yield number, line.removeprefix(_BOM) if number == 1 else line
                else:
                    self._pass_over(file, line, number)

    def _pass_over(self, file: BinaryIO, line: bytes, number: int) -> None:
        while line and not line.endswith(b"\n"):
            line = file.readline(1 << 20)
        self.problem(f"the line is longer than {LINE >> 20} MiB; it was skipped", number)

    def _whole(self, file: BinaryIO) -> bytes:
        data = file.read(DOCUMENT + 1)
        if len(data) <= DOCUMENT:
            return data
        self.problem(f"is longer than {DOCUMENT >> 20} MiB; write it as JSON Lines in UTF-8, one run a line")
        return b""

    def values(self) -> Iterator[tuple[int, Any]]:
        """Yield position, value: one a line, or one an element of a JSON list."""
        if self.kind == "json":
            document = self.document()
            held = document if isinstance(document, list) else [] if document is None else [document]
            yield from enumerate(held, 1)
            return
        for number, line in self.lines():
            value = self._value(line, number)
            if value is not None:
                yield number, value

    def document(self) -> Any:
        """Return the file as one JSON value; several values on end become a list; None when there is none."""
        try:
            with self._open() as file:
                data = self._whole(file)
        except _BROKEN as error:
            self.problem(f"cannot be read: {error}")
            return None
        if not data:
            return None
        data = _utf8(data)
        found = strict(data)
        return self._loose(data) if found is None else self._checked(data, found, None)

    def _loose(self, data: bytes) -> Any:
        """Read values that follow each other, a value that needs repair, or what stands before a fault."""
        text = data.decode("utf-8", "replace")
        found, error, place = several(text)
        if not found:
            return self._before(text, data)
        if error is not None:
            self.problem(f"not JSON: {error}; what stands before was kept", text.count("\n", 0, place) + 1)
        self._note_repair(text, data, None)
        return found if len(found) > 1 else found[0]

    def _before(self, text: str, data: bytes) -> Any:
        try:
            return self._value(data, None, quiet=True)
        except ValueError as error:
            end = error.pos if isinstance(error, json.JSONDecodeError) else 0
            value = salvaged(text, end)
            rest = "" if value is None else "; what stands before was kept"
            self.problem(f"not JSON: {error}{rest}", text.count("\n", 0, end) + 1)
            return value

    def _value(self, data: bytes, number: int | None, *, quiet: bool = False) -> Any:
        found = strict(data)
        if found is not None:
            return self._checked(data, found, number)
        text = data.decode("utf-8", "replace")
        try:
            value = repaired(text)
        except ValueError as error:
            if quiet:
                raise
            self.problem(f"not JSON: {error}", number)
            return None
        self._note_repair(text, data, number)
        return value

    def _note_repair(self, text: str, data: bytes, number: int | None) -> None:
        self.health.count("repaired")
        if text.count("\ufffd") > data.count("\ufffd".encode()):
            self.problem("has bytes that are not UTF-8; they were replaced", number)

    def _checked(self, data: bytes, found: tuple[Any, bytes], number: int | None) -> Any:
        key = repeated_key(data, found[1])
        if key is not None:
            self.problem(f"key {key!r} stands twice in one object; the last value was kept", number)
        return found[0]

    def _open(self) -> BinaryIO:
        if self.path.is_dir():
            raise InputError(f"{self.path}: is a folder; name its files")
        with self.path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        return cast(BinaryIO, gzip.open(self.path) if packed else self.path.open("rb"))


def _utf8(data: bytes, *, whole: bool = True) -> bytes:
    encoding = _UTF16.get(data[:2])
    if encoding is None:
        return data.removeprefix(_BOM)
    even = data[2:] if whole or len(data) % 2 == 0 else data[2:-1]
    return even.decode(encoding, "replace").encode("utf-8", "replace")
