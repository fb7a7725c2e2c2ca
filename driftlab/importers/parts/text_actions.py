"""Reads conversations whose actions are written in the text, and answered by the next user message."""

import re
from collections.abc import Iterable
from typing import Any

from driftlab.importers.parts.chat import read_messages, role_of
from driftlab.importers.parts.turns import Call, Turns
from driftlab.importers.parts.values import text_of

__all__ = ["STYLES", "block_in", "command_of", "functions_in", "read_text_actions"]

_BLOCK = re.compile(r"```(?:[\w.+-]*)\n(.*?)\n?```", re.DOTALL)
_FUNCTION = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>(.*?)</parameter>", re.DOTALL)
STYLES = ("calls", "block", "function")


def functions_in(text: str) -> tuple[str, list[Call]]:
    """Return the text before the first ``<function=...>``, and the calls written so.

    Examples
    --------
    >>> functions_in("look\\n<function=ls><parameter=path>/srv</parameter></function>")
    ('look', [Call(id=None, tool='ls', args={'path': '/srv'})])
    """
    found = list(_FUNCTION.finditer(text))
    calls = [Call(None, m[1], {key: value.strip("\n") for key, value in _PARAMETER.findall(m[2])}) for m in found]
    return (text[: found[0].start()].strip() if found else text), calls


def block_in(text: str) -> tuple[str, list[Call]]:
    """Return the text without its last code block, and that block as a command line.

    Examples
    --------
    >>> block_in("look around\\n```\\nls -a\\n```")
    ('look around', [Call(id=None, tool='ls', args='-a')])
    """
    found = list(_BLOCK.finditer(text))
    if not found:
        return text, []
    last = found[-1]
    return f"{text[: last.start()]}{text[last.end() :]}".strip(), [command_of(last[1])]


def command_of(action: str) -> Call:
    """Return a command line as a call: the first word is the tool.

    Examples
    --------
    >>> command_of("submit")
    Call(id=None, tool='submit', args=None)
    """
    action = action.strip()
    first = action.split("\n", 1)[0]
    word, _, rest = action.partition(" ") if " " in first else action.partition("\n")
    return Call(None, word or None, rest or None)


def read_text_actions(messages: Iterable[Any], turns: Turns, style: str) -> None:
    """Take the messages of one run whose agent acts in text.

    Parameters
    ----------
    messages : iterable of mapping
        With role, content; or with role, text.
    turns : Turns
    style : {"calls", "block", "function"}
        "calls": tool calls, nothing is read from text; "block": the last code block is a command line;
        "function": ``<function=name><parameter=key>``.

    Examples
    --------
    >>> from driftlab.importers.parts.health import HealthReport
    >>> turns = Turns(HealthReport())
    >>> talk = [{"role": "ai", "text": "see\\n```\\nls\\n```"}, {"role": "user", "text": "a b"}]
    >>> read_text_actions(talk, turns, "block")
    >>> turns.steps()[0].output
    'a b'
    """
    for message in messages:
        if not isinstance(message, dict) or style == "calls":
            read_messages([message], turns)
            continue
        said = message.get("content") if message.get("content") is not None else message.get("text")
        role, text = role_of(message), text_of(said)
        if role == "assistant" and text is not None and not message.get("tool_calls"):
            rest, calls = (block_in if style == "block" else functions_in)(text)
            turns.flush()
            turns.speak(rest)
            for call in calls:
                turns.call(call)
            turns.flush()
        elif role == "user" and turns.waiting:
            turns.result(None, text)
        else:
            read_messages([{**message, "role": role, "content": said}], turns)
