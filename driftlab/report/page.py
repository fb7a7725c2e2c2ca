"""A document as one HTML file that needs nothing else."""

import base64
import html
import re
from collections.abc import Mapping

from driftlab.report.document import Block, Bullets, Code, Document, Figure, Section, Table, Text

__all__ = ["anchor", "page"]

# The policy lets a browser load nothing, whatever the traces' text tries.
_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.55 system-ui, sans-serif; color: #1c1c1c; background: #fff; }}
body {{ max-width: 1140px; margin: 2rem auto; padding: 0 1.2rem; }}
h1 {{ font-size: 1.7rem; }}
h2 {{ font-size: 1.3rem; margin-top: 2.4rem; border-bottom: 1px solid #ccc; }}
h3 {{ font-size: 1.05rem; margin-top: 1.8rem; overflow-wrap: anywhere; }}
p, li {{ max-width: 46rem; overflow-wrap: anywhere; }}
nav {{ font-size: .92rem; }}
nav a {{ margin-right: 1.1rem; white-space: nowrap; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .8rem; margin: .6rem 0 1.2rem; }}
th, td {{ padding: .26rem .45rem; border-bottom: 1px solid #e2e2e2; text-align: right; vertical-align: top; }}
th {{ border-bottom: 2px solid #555; vertical-align: bottom; }}
td.n {{ white-space: nowrap; }}
th.w, td.w {{ text-align: left; }}
.words td:first-child {{ min-width: 11rem; }}
.prose td.w {{ overflow-wrap: anywhere; min-width: 14rem; }}
.prose td:first-child {{ min-width: 5.2rem; }}
tr.strong td {{ font-weight: 600; background: #f1f6fb; }}
img {{ max-width: 100%; height: auto; display: block; margin: .8rem 0; }}
pre {{ background: #f5f5f5; padding: .8rem 1rem; overflow-x: auto; font-size: .82rem; }}
</style>
</head>
<body>
"""


def page(document: Document, pictures: Mapping[str, bytes]) -> str:
    """Return the document as HTML with its pictures (PNG) in it.

    Examples
    --------
    >>> from driftlab.report.document import Section
    >>> text = page(Document("Hi", [Section("One", [Text("a < b")])]), {})
    >>> text[text.index("<p>"):].partition("</p>")[0]
    '<p>a &lt; b'
    """
    parts = [_HEAD.format(title=html.escape(document.title)), f"<h1>{html.escape(document.title)}</h1>\n"]
    chapters = [section.title for section in document.sections if section.level == 2]
    parts.append(
        "<nav>" + "\n".join(f'<a href="#{anchor(name)}">{html.escape(name)}</a>' for name in chapters) + "</nav>\n"
    )
    parts += [_section(section, pictures) for section in document.sections]
    return "".join([*parts, "</body>\n</html>\n"])


def anchor(title: str) -> str:
    """Return a heading as an address inside the page.

    Examples
    --------
    >>> anchor("What can fool you")
    'what-can-fool-you'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _section(section: Section, pictures: Mapping[str, bytes]) -> str:
    name = f' id="{anchor(section.title)}"' if section.level == 2 else ""
    heading = f"<h{section.level}{name}>{html.escape(section.title)}</h{section.level}>\n"
    return heading + "".join(_block(block, pictures) + "\n" for block in section.blocks)


def _block(block: Block, pictures: Mapping[str, bytes]) -> str:
    match block:
        case Text(text, strong):
            first = f"<strong>{html.escape(strong)}</strong> " if strong else ""
            return f"<p>{first}{html.escape(text)}</p>"
        case Bullets(items):
            return "<ul>\n" + "\n".join(f"<li>{html.escape(item)}</li>" for item in items) + "\n</ul>"
        case Figure(name, alt):
            code = base64.b64encode(pictures[name]).decode("ascii")
            return f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{code}">'
        case Code(text):
            return f"<pre>{html.escape(text)}</pre>"
        case Table():
            return _table(block)


def _table(table: Table) -> str:
    heads = "".join(f"<th{_kind(place, table)}>{html.escape(cell)}</th>" for place, cell in enumerate(table.headers))
    rows = []
    for number, row in enumerate(table.rows):
        cells = "".join(f"<td{_kind(place, table)}>{html.escape(cell)}</td>" for place, cell in enumerate(row))
        rows.append(f"{_STRONG if number in table.strong else '<tr>'}{cells}</tr>")
    kind = "prose" if table.prose else "words" if table.words > 1 else "counts"
    return f'<div class="wide"><table class="{kind}">\n<tr>{heads}</tr>\n' + "\n".join(rows) + "\n</table></div>"


_STRONG = '<tr class="strong">'


def _kind(place: int, table: Table) -> str:
    return ' class="w"' if place < table.words else ' class="n"'
