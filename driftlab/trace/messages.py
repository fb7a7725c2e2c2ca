"""Errors of the schema in words."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["explain", "short"]

_PATH = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>\$.*)`)?$", re.DOTALL)
_HINTS = {
    "direction": "write 'higher' or 'lower'",
    "label": "write 'good', 'stalled', 'unsure' or null",
    "signals": "write a number, or null where it was not measured",
    "state": "write text: turn the object into text first, or leave the key out",
    "output": "write text: turn the object into text first, or leave the key out",
    "args": "write any JSON value",
}


def explain(message: str, raw: Mapping[str, Any], what: str) -> str:
    """Turn msgspec's message into one that names the trace, the path, the value, the remedy.

    Parameters
    ----------
    message : str
        What msgspec said.
    raw : mapping
        What it was given.
    what : str
        Named where `raw` has no id.

    Examples
    --------
    >>> raw = {"id": "a", "steps": [{"tokens": "9"}]}
    >>> found = explain("Expected `int`, got `str` - at `$.steps[0].tokens`", raw, "trace")
    >>> print(found)
    trace 'a': $.steps[0].tokens: Expected `int`, got `str`, value '9'
    """
    found = _PATH.match(message)
    path = (found and found["path"]) or "$"
    reason = found["what"] if found else message
    name = f"trace {raw['id']!r}: " if isinstance(raw.get("id"), str) else f"{what}: "
    path, value = _walk(raw, path)
    last = [part for part in re.findall(r"[A-Za-z_]\w*", path) if part in _HINTS]
    hint = f"; {_HINTS[last[-1]]}" if last else ""
    shown = "" if value is _NOTHING else f", value {short(value)}"
    return f"{name}{path}: {reason}{shown}{hint}"


_NOTHING = object()


def _walk(raw: Any, path: str) -> tuple[str, Any]:
    """Follow msgspec's path; where it says `[...]` (some key of a mapping) name the key."""
    value, shown = raw, "$"
    for part in _parts(path):
        key = _culprit(value) if part == "..." else part
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return path, _NOTHING
        shown += f"[{key}]" if isinstance(key, int) else f".{key}"
    return shown, _NOTHING if isinstance(value, Mapping | list) else value


def _parts(path: str) -> Iterator[Any]:
    for name, index in re.findall(r"\.([A-Za-z_]\w*)|\[(\d+|\.\.\.)\]", path):
        yield name or (index if index == "..." else int(index))


def _culprit(mapping: Any) -> Any:
    """Return the first key whose value is no number: mappings in the schema hold numbers or specs."""
    if not isinstance(mapping, Mapping):
        return None
    bad = (k for k, v in mapping.items() if isinstance(v, bool) or not isinstance(v, int | float | None))
    return next(bad, None)


def short(value: Any) -> str:
    """Return a value as it fits in a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
