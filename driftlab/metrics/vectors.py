"""Unit vectors of texts, each distinct text encoded once."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from driftlab.metrics.models import Model, Vectors, served
from driftlab.metrics.windows import split

__all__ = ["vectors"]

KEEP = 32_768  # vectors kept a model: about 50 MB for MiniLM


def vectors(name: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return one unit vector a text; a blank text has the zero vector.

    The latest `KEEP` vectors of a model are kept by content for the life of the process.

    Parameters
    ----------
    name : str
        Of the model.
    texts : sequence of str
        What to encode.

    Returns
    -------
    (n_texts, n_dimensions) array

    Examples
    --------
    >>> vectors("minilm", ["ok", ""]).any(axis=1).tolist()
    [True, False]
    """
    model = served(name)
    keys = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
    new = {k: text for k, text in zip(keys, texts, strict=True) if k not in model.vectors and text.strip()}
    fresh = dict(zip(new, _encoded(model.model, list(new.values())), strict=True)) if new else {}
    found = [fresh.get(key, model.vectors.get(key)) for key in keys]
    _keep(model.vectors, fresh)
    width = next((len(vector) for vector in found if vector is not None), 1)
    nothing = np.zeros(width, dtype=np.float32)
    return np.stack([nothing if vector is None else vector for vector in found]) if found else nothing[None][:0]


def _keep(kept: Vectors, fresh: Vectors) -> None:
    kept.update(list(fresh.items())[-KEEP:])
    for key in list(kept)[: max(0, len(kept) - KEEP)]:
        del kept[key]


def _encoded(model: Model, texts: list[str]) -> NDArray[np.float32]:
    """Encode the windows of all texts in one call; pool them by their number of tokens."""
    parts = split(model, texts)
    rows = np.asarray(model.encode([part for own in parts for part, _ in own]), dtype=np.float64)
    weights = np.array([weight for own in parts for _, weight in own], dtype=np.float64)
    starts = np.concatenate([[0], np.cumsum([len(own) for own in parts])[:-1]]).astype(np.int64)
    pooled = np.add.reduceat(np.nan_to_num(rows) * weights[:, None], starts, axis=0)
    length = np.linalg.norm(pooled, axis=1, keepdims=True)
    unit: NDArray[np.float64] = np.divide(pooled, length, out=np.zeros_like(pooled), where=length > 0)
    return unit.astype(np.float32)
