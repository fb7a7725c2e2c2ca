"""What a text says that the run had not said before, line by line."""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby, zip_longest
from typing import Literal, NamedTuple

__all__ = ["Line", "changed_words", "lines", "to_html"]

Mark = Literal["same", "seen", "new", "gone", "left"]

LONGEST, ALIKE = 400, 0.5  # words of a line whose changed words are looked for; the share they must have in common
GONE = 3  # vanished lines in a row that are still written out
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


class Line(NamedTuple):
    """One line of a text beside the text before.

    Attributes
    ----------
    mark : str
        same: where it was; seen: not there, but earlier in the run; new; gone: only in the text before;
        left: a count in place of many that are gone.
    text : str
    before : str
        The line it replaces; empty when it replaces none.
    """

    mark: Mark
    text: str
    before: str = ""


def lines(before: str | None, after: str, seen: Iterable[str] = ()) -> list[Line]:
    """Compare a text with the one before and with every line seen earlier.

    Parameters
    ----------
    before : str or None
        None when there is no text before.
    after : str
    seen : iterable of str
        Lines of all earlier texts.

    Examples
    --------
    >>> [(line.mark, line.text) for line in lines("a\\nb", "a\\nc\\nd", seen=["a", "b", "d"])]
    [('same', 'a'), ('gone', 'b'), ('new', 'c'), ('seen', 'd')]
    """
    old = [] if before is None else before.splitlines()
    new, known = after.splitlines(), set(seen)
    found: list[Line] = []
    for kind, i, k, j, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            found += [Line("same", text) for text in new[j:m]]
            continue
        found += [Line("gone", text) for text in old[i:k]]
        pairs = zip_longest(new[j:m], old[i:k][: m - j], fillvalue="")
        found += [Line("seen" if text in known else "new", text, other) for text, other in pairs]
    return found


def to_html(found: Sequence[Line], *, most: int = 60) -> str:
    """Return lines as HTML; of a long text the middle is left out, with a count.

    Every character of the text is escaped: what an agent wrote never becomes markup.

    Examples
    --------
    >>> to_html([Line("new", "<b>")])
    '<div class="new">&lt;b&gt;</div>'
    """
    found = list(_short(found))
    cut = max(0, len(found) - most)
    head = len(found) if not cut else most * 2 // 3
    shown = [_line(line) for line in found[:head]]
    if cut:
        shown.append(f'<div class="cut">… {cut} lines left out …</div>')
        shown += [_line(line) for line in found[head + cut :]]
    return "".join(shown)


def changed_words(before: str, after: str) -> str:
    """Return `after` as HTML with the words that `before` has not in ``<ins>``.

    Examples
    --------
    >>> changed_words("fix the door", "fix the roof")
    'fix the <ins>roof</ins>'
    """
    return "".join(_pieces(_WORDS.findall(before), _WORDS.findall(after)))


def _pieces(old: list[str], new: list[str]) -> Iterator[str]:
    if not old or max(len(old), len(new)) > LONGEST:
        yield escape("".join(new))
        return
    match = difflib.SequenceMatcher(None, old, new, autojunk=False)
    if match.ratio() < ALIKE:
        yield escape("".join(new))
        return
    for kind, _, _, j, m in match.get_opcodes():
        text = escape("".join(new[j:m]))
        yield text if kind == "equal" or not text else f"<ins>{text}</ins>"


def _short(found: Sequence[Line]) -> Iterator[Line]:
    """Count long rows of vanished lines instead of writing them out."""
    for gone, rows in groupby(found, key=lambda line: line.mark == "gone"):
        row = list(rows)
        if gone and len(row) > GONE:
            yield Line("left", f"({len(row)} lines of the step before are not here)")
        else:
            yield from row


def _line(line: Line) -> str:
    body = changed_words(line.before, line.text) if line.mark == "new" else escape(line.text)
    return f'<div class="{line.mark}">{body or " "}</div>'
