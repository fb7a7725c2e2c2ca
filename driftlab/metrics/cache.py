"""Measured numbers on disk, keyed by content and metric."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from numpy.typing import NDArray

from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab._util.files import folder_to_write, replacing
from driftlab.trace.schema import Trace

__all__ = ["Cache", "content_key"]

Columns = dict[str, NDArray[Any]]


def content_key(trace: Trace) -> str:
    """Return what stands for the steps of a trace; labels do not change it.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> one = Trace(id="a", steps=[Step(state="x")])
    >>> content_key(one) == content_key(one.replace(id="b", label="good"))
    True
    """
    try:
        steps = msgspec.json.encode(trace.steps)
    except UnicodeEncodeError:  # lone surrogates, which msgspec refuses
        steps = json.dumps(msgspec.to_builtins(trace.steps)).encode()
    return hashlib.blake2b(steps, digest_size=16).hexdigest()


class Cache:
    """A folder with one sub-folder a metric, one Parquet file a chunk of traces.

    Every file is written whole, so an interrupted run leaves what it had finished.

    Parameters
    ----------
    folder : path
        Made when first written.

    Raises
    ------
    InputError
        When it is no path, or nothing can be written there.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> cache = Cache(tempfile.mkdtemp())
    >>> cache.add("exact v1", {"trace-a": np.array([1.0, 0.0])})
    >>> cache.load("exact v1")["trace-a"].tolist()
    [1.0, 0.0]
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not isinstance(folder, str | os.PathLike):
            raise InputError(f"cache must be the path of a folder, got {folder!r}")
        folder_to_write("cache", folder)
        self.folder = Path(folder)
        self._parquet = need("pyarrow.parquet", "study")
        self._arrow = need("pyarrow", "study")
        self._loaded: dict[str, Columns] = {}

    def load(self, key: str) -> Columns:
        """Return everything stored under a key: content key to column."""
        if key not in self._loaded:
            found: Columns = {}
            for path in sorted(self._place(key).glob("*.parquet")):
                found.update(self._read(path, key))
            self._loaded[key] = found
        return self._loaded[key]

    def add(self, key: str, columns: Mapping[str, NDArray[Any]]) -> None:
        """Store columns under a key; nothing is written when there are none."""
        if not columns:
            return
        names = sorted(columns)
        lists = self._arrow.array([columns[name] for name in names], self._arrow.list_(self._arrow.float64()))
        table = self._arrow.table({"trace": names, "column": lists})
        table = table.replace_schema_metadata({"driftlab_key": key})
        name = hashlib.blake2b("".join(names).encode(), digest_size=8).hexdigest()
        with replacing(self._place(key) / f"{name}.parquet") as temporary:
            self._parquet.write_table(table, temporary)
        self.load(key).update(columns)

    def _read(self, path: Path, key: str) -> Iterable[tuple[str, NDArray[Any]]]:
        try:
            table = self._parquet.read_table(path)
            names, values = table["trace"].to_pylist(), table["column"].combine_chunks()
        except (OSError, KeyError, self._arrow.ArrowException) as error:
            raise InputError(f"{path}: not a readable cache file ({error}); delete it to measure again") from error
        if (table.schema.metadata or {}).get(b"driftlab_key") != key.encode():
            raise InputError(f"{path}: holds another measurement than {key!r}; delete it to measure again")
        flat, offsets = values.flatten().to_numpy(), values.offsets.to_numpy() - values.offsets[0].as_py()
        return [(name, flat[offsets[i] : offsets[i + 1]]) for i, name in enumerate(names)]

    def _place(self, key: str) -> Path:
        word = key.replace("(", " ").split(" ", maxsplit=1)[0]
        return self.folder / f"{word}-{hashlib.blake2b(key.encode(), digest_size=8).hexdigest()}"
