"""JSON values of a log as arguments, as text."""

import zlib
from typing import Any

import msgspec

__all__ = ["args_of", "dumped", "hash_of", "shallow", "text_of"]


def args_of(raw: Any) -> Any:
    """Return arguments as a value: JSON text that holds an object or list is read, other text stays text.

    Examples
    --------
    >>> args_of('{"command": ["ls", "/srv"]}'), args_of("tail -n 5 log"), args_of("")
    ({'command': ['ls', '/srv']}, 'tail -n 5 log', {})
    """
    if not isinstance(raw, str):
        return raw
    text = raw.strip()
    if not text:
        return {}
    if text[0] not in "{[":
        return raw
    try:
        found = msgspec.json.decode(text)
        # What is too deep to compare stays text.
        return found if shallow(found) else raw
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return raw


def shallow(value: Any, levels: int = 60) -> bool:
    """Whether a value is nested at most `levels` deep.

    Examples
    --------
    >>> shallow([[1]], levels=2), shallow([[[1]]], levels=2)
    (True, False)
    """
    layer = [value]
    for _ in range(levels):
        layer = [item for node in layer for item in _children(node)]
        if not layer:
            return True
    return False


def _children(node: Any) -> Any:
    nested = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [item for item in nested if isinstance(item, dict | list)]


def text_of(content: Any) -> str | None:
    """Return content as text: text stays, parts are joined by newlines, anything else becomes JSON, None stays None.

    Examples
    --------
    >>> text_of([{"type": "text", "text": "alpha"}, {"type": "text", "text": "beta"}])
    'alpha\\nbeta'
    >>> text_of({"rows": 3})
    '{"rows":3}'
    """
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, str) or _is_part(part) for part in content):
        parts = [part if isinstance(part, str) else _part_text(part) for part in content]
        return "\n".join(part for part in parts if part)
    return dumped(content)


def dumped(value: Any) -> str:
    """Return any JSON value as compact text.

    Examples
    --------
    >>> dumped({"a": [1, None]})
    '{"a":[1,null]}'
    """
    return msgspec.json.encode(value).decode()


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type"), str)


def _part_text(part: dict[str, Any]) -> str:
    text = part.get("text") if "text" in part else part.get("content") if part["type"] == "text" else None
    if isinstance(text, str):
        return text
    # A picture is a mark, not its megabytes; its length still tells two apart.
    if part["type"] in ("image", "image_url", "input_image", "audio", "document", "file"):
        return f"[{part['type']} {hash_of(part):08x}]"
    return dumped(part)


def hash_of(value: Any) -> int:
    """Return a number that stands for a JSON value, the same in every run.

    Examples
    --------
    >>> hash_of({"a": 1, "b": 2}) == hash_of({"b": 2, "a": 1})
    True
    """
    return zlib.crc32(msgspec.json.encode(value, order="sorted"))
