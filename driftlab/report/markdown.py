"""A document as Markdown."""

import re

from driftlab.report.document import Block, Bullets, Code, Document, Figure, Table, Text

__all__ = ["escape", "markdown"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")


def markdown(document: Document, folder: str = "figures") -> str:
    """Return the document as Markdown that shows its pictures from `folder`.

    Examples
    --------
    >>> from driftlab.report.document import Section
    >>> print(markdown(Document("Hi", [Section("One", [Text("a < b", strong="So:")])])), end="")
    # Hi
    <BLANKLINE>
    ## One
    <BLANKLINE>
    **So:** a \\< b
    """
    parts = [f"# {escape(document.title)}"]
    for section in document.sections:
        parts.append(f"{'#' * section.level} {escape(section.title)}")
        parts += [_block(block, folder) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Return text in which nothing is markup; line ends become spaces."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _block(block: Block, folder: str) -> str:
    match block:
        case Text(text, strong):
            return f"**{escape(strong)}** {escape(text)}" if strong else escape(text)
        case Bullets(items):
            return "\n".join(f"- {escape(item)}" for item in items)
        case Figure(name, alt):
            return f"![{escape(alt)}]({folder}/{name}.png)"
        case Code(text):
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            return f"{fence}\n{text.rstrip()}\n{fence}"
        case Table():
            return _table(block)


def _table(table: Table) -> str:
    """Columns padded to one width: the source reads like the page."""
    cells = [[escape(cell) for cell in row] for row in (table.headers, *table.rows)]
    for number in table.strong:
        cells[number + 1] = [f"**{cell}**" if cell else "" for cell in cells[number + 1]]
    widths = [max(3, *(len(row[place]) for row in cells)) for place in range(len(table.headers))]
    rules = ["-" * w if place < table.words else "-" * (w - 1) + ":" for place, w in enumerate(widths)]
    lines = [_line(cells[0], widths, table.words), f"| {' | '.join(rules)} |"]
    return "\n".join(lines + [_line(row, widths, table.words) for row in cells[1:]])


def _line(row: list[str], widths: list[int], words: int) -> str:
    pairs = enumerate(zip(row, widths, strict=True))
    padded = [cell.ljust(width) if place < words else cell.rjust(width) for place, (cell, width) in pairs]
    return f"| {' | '.join(padded)} |"
