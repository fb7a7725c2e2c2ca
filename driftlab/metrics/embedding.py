"""Meaning of two texts as a sentence-embedding model sees it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from driftlab._util.errors import InputError
from driftlab.metrics import models
from driftlab.metrics.base import Pairwise
from driftlab.metrics.vectors import vectors

__all__ = ["Embedding"]

ROWS = 8_192  # pairs whose vectors are gathered at once


@dataclass(frozen=True, repr=False)
class Embedding(Pairwise):
    """One minus the cosine of two sentence embeddings, cut to [0, 1], rounded to 1e-4.

    A text longer than the model reads at once is encoded in windows of whole words; its vector is their mean by
    number of tokens, so a changed tail is seen, if small beside a long head. An empty text has delta 1.0 to any
    other. Resolution: 1e-4; a change of a small share of a text moves a cosine by about that share squared; MiniLM
    reads a word of more than 100 characters as one unknown word.

    Parameters
    ----------
    view, mask, lag, nearest
        Which texts are compared: see `Pairwise`.
    model : str
        ``"minilm"`` (all-MiniLM-L6-v2 from an installed package, no network), ``"wordllama"`` (static, no torch),
        the name or folder of a SentenceTransformer, or what `register_model` was given.

    Raises
    ------
    MissingExtra
        On the first comparison, when the model's library is not installed.
    InputError
        On the first comparison, when no such model is found.

    Warns
    -----
    DriftlabWarning
        For texts of more than 60,000 characters, which are read at both ends alone.

    Notes
    -----
    Reimers and Gurevych (2019); Wang et al. (2020) for MiniLM. Device and batch size are the library's.

    Examples
    --------
    >>> Embedding().compare("All tests passed.", "Every test succeeded.") < 0.4
    True
    """

    name: ClassVar[str] = "embedding"
    batched: ClassVar[bool] = True
    model: str = "minilm"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.model, str) or not self.model:
            raise InputError(f"model must be a name, got {self.model!r}; name an instance with dl.register_model")

    @property
    def revision(self) -> str:
        """What changes when the model behind the name does."""
        return models.revision(self.model)

    @property
    def key(self) -> str:
        return f"{super().key} model {self.revision}"

    def delta(self, earlier: str, later: str) -> float:
        return float(self.deltas([(earlier, later)])[0])

    def deltas(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        places: dict[str, int] = {}
        rows = np.array([[places.setdefault(text, len(places)) for text in pair] for pair in pairs], dtype=np.int64)
        found = vectors(self.model, list(places))
        blank: NDArray[np.bool_] = np.all(found == 0, axis=1)
        out = np.ones(len(pairs), dtype=np.float64)
        for start in range(0, len(pairs), ROWS):
            first, second = rows[start : start + ROWS].T
            cosine = np.einsum("ij,ij->i", found[first], found[second], dtype=np.float64)
            out[start : start + ROWS] = np.where(blank[first] & blank[second], 0.0, 1.0 - cosine)
        rounded: NDArray[np.float64] = np.clip(out, 0.0, 1.0).round(4)
        return rounded
