"""What each format's fields become, as a table for people."""

from driftlab.importers.load import IMPORTERS
from driftlab.importers.parts.base import Importer
from driftlab.importers.parts.signals import EXTRACTORS

__all__ = ["extractor_table", "format_table"]


def format_table() -> str:
    """Return one Markdown section a format, read from the registry.

    Examples
    --------
    >>> "## atif" in format_table()
    True
    """
    return "\n\n".join(map(_section, IMPORTERS.values())) + "\n"


def extractor_table() -> str:
    """Return one Markdown row an extractor of task signals.

    Examples
    --------
    >>> "| pytest |" in extractor_table()
    True
    """
    lines = ["| extractor | reads | signals (direction, goal) |", "|---|---|---|"]
    for each in EXTRACTORS.values():
        signals = ", ".join(
            f"{name} ({spec.direction}{'' if spec.goal is None else f', {spec.goal:g}'})"
            for name, spec in each.specs.items()
        )
        lines.append(f"| {each.name} | {each.title} | {signals} |")
    return "\n".join(lines) + "\n"


def _section(importer: Importer) -> str:
    lines = [f"## {importer.name}", "", importer.title[0].upper() + importer.title[1:] + ".", ""]
    lines += ["| field of the trace | taken from |", "|---|---|"]
    lines += [f"| {name} | {source} |" for name, source in importer.mapping.items()]
    return "\n".join(lines)
