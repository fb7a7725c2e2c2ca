"""The report's parts, before they are Markdown or HTML."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Block", "Bullets", "Code", "Document", "Figure", "Section", "Table", "Text"]


@dataclass(frozen=True)
class Text:
    """A paragraph; `strong` stands before it in bold."""

    text: str
    strong: str = ""


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Rows of text; `words` columns, counted from the left, are words, the others numbers."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    strong: frozenset[int] = frozenset()  # rows in bold
    prose: bool = False  # whether the words are text of any length


@dataclass(frozen=True)
class Figure:
    """A picture by name; `alt` says what it shows."""

    name: str
    alt: str


@dataclass(frozen=True)
class Code:
    """Text as it is, in a fixed-width face."""

    text: str


Block = Text | Bullets | Table | Figure | Code


@dataclass(frozen=True)
class Section:
    """A heading with what stands under it; `level` 2 is a chapter, 3 a part of one."""

    title: str
    blocks: Sequence[Block]
    level: int = 2


@dataclass(frozen=True)
class Document:
    """The whole report."""

    title: str
    sections: Sequence[Section]
