"""Values whose `repr` is the text people type."""

import ast
import dataclasses
import difflib
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from driftlab._util.errors import InputError

__all__ = ["Spec", "between", "choice", "parse", "share", "unknown", "whole"]


class Spec:
    """Base of frozen dataclasses of plain parameters; `repr` parses back to an equal value.

    Subclasses set `name`, the word people type, and `positional`, how many leading fields are
    written without their names.
    """

    name: ClassVar[str]
    positional: ClassVar[int] = 0

    def __repr__(self) -> str:
        return self._text(full=False)

    def full(self) -> str:
        """Return the spec with every parameter written out, so that a changed default cannot change it."""
        return self._text(full=True)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some parameters changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]

    def _text(self, *, full: bool) -> str:
        parts = []
        for place, field in enumerate(dataclasses.fields(self)):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            text = _shown(value, full=full)
            if place < self.positional:
                parts.append(text)
            elif full or value != field.default:
                parts.append(f"{field.name}={text}")
        return f"{self.name}({', '.join(parts)})" if parts else self.name


def parse(text: str, known: Mapping[str, type], what: str) -> Any:
    """Turn a spec into the value it names.

    Parameters
    ----------
    text : str
        For example ``"levenshtein(view='output')"``; parameters are literals or nested specs.
    known : mapping of str to type
        The classes that may be named.
    what : str
        What `text` should be, for the error message.

    Raises
    ------
    InputError
        When the text is no spec, or names something unknown.

    Examples
    --------
    >>> parse("complex(real=1, imag=2)", {"complex": complex}, "number")
    (1+2j)
    >>> parse("komplex", {"complex": complex}, "number")
    Traceback (most recent call last):
        ...
    driftlab.InputError: unknown number 'komplex'; did you mean 'complex'? known: complex
    """
    wrong = InputError(f"{what} {text!r} is not of the form name(parameter=value, ...)")
    if not isinstance(text, str):
        raise wrong
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise wrong from error
    if not isinstance(node, ast.Name | ast.Call):
        raise wrong
    return _build(node, known, what)


def unknown(what: str, name: object, known: Iterable[str], remedy: str = "") -> InputError:
    """Return the error for a name that is not among the known ones."""
    names = sorted(known)
    near = difflib.get_close_matches(str(name), names, n=1)
    guess = f"; did you mean {near[0]!r}?" if near else ";"
    return InputError(f"unknown {what} {name!r}{guess} known: {', '.join(names)}{remedy}")


def choice(what: str, value: object, allowed: Iterable[str]) -> None:
    """Raise an `InputError` unless `value` is one of the allowed words."""
    allowed = tuple(allowed)
    if value not in allowed:
        raise unknown(what, value, allowed)


def whole(what: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number of at least `least`, at most `most`, or raise an `InputError`."""
    fits = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least
    if not fits or (most is not None and value > most):
        upto = "" if most is None else f" and <= {most}"
        raise InputError(f"{what} must be a whole number >= {least}{upto}, got {value!r}")
    return int(value)


def between(what: str, value: object, low: float, high: float, *, also: float | None = None, words: str = "") -> None:
    """Raise an `InputError` unless `value` is a number above `low` and below `high`, or is `also`.

    Parameters
    ----------
    what : str
    value : object
    low, high : float
    also : float, optional
        One more value that is allowed.
    words : str
        Said after the two numbers: what else is allowed, what it means.

    Examples
    --------
    >>> between("risk", 2, 0, 1)
    Traceback (most recent call last):
        ...
    driftlab.InputError: risk must be between 0 and 1, got 2
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not (value == also or low < value < high):  # type: ignore[operator]
        raise InputError(f"{what} must be between {low} and {high}{words}, got {value!r}")


def share(what: str, value: object) -> None:
    """Raise an `InputError` unless `value` is a number from 0 to 1.

    Examples
    --------
    >>> share("max_false_stop", 2)
    Traceback (most recent call last):
        ...
    driftlab.InputError: max_false_stop must be between 0 and 1, got 2
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise InputError(f"{what} must be between 0 and 1, got {value!r}")


def _shown(value: Any, *, full: bool) -> str:
    if isinstance(value, tuple) and any(isinstance(item, Spec) for item in value):
        return f"({''.join(f'{_shown(item, full=full)}, ' for item in value)})"
    return value._text(full=full) if isinstance(value, Spec) else repr(value)


def _build(node: ast.expr, known: Mapping[str, type], what: str) -> Any:
    call = node if isinstance(node, ast.Call) else None
    function = call.func if call else node
    if not isinstance(function, ast.Name):
        raise InputError(f"{what} {ast.unparse(node)!r} is not of the form name(parameter=value, ...)")
    if function.id not in known:
        raise unknown(what, function.id, known)
    if call is None:
        return _call(known[function.id], function.id, (), {})
    if any(keyword.arg is None for keyword in call.keywords):
        raise InputError(f"{what} {ast.unparse(node)!r}: '**' is not allowed in a spec")
    arguments = tuple(_value(argument, known, what) for argument in call.args)
    keywords = {str(k.arg): _value(k.value, known, what) for k in call.keywords}
    return _call(known[function.id], function.id, arguments, keywords)


def _value(node: ast.expr, known: Mapping[str, type], what: str) -> Any:
    if isinstance(node, ast.Name | ast.Call):
        return _build(node, known, what)
    if isinstance(node, ast.Tuple):
        return tuple(_value(item, known, what) for item in node.elts)
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise InputError(f"{what}: {ast.unparse(node)!r} is not a plain value") from error


def _call(kind: type, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if not dataclasses.is_dataclass(kind):
        return kind(*arguments, **keywords)
    fields = [field.name for field in dataclasses.fields(kind) if field.init]
    for keyword in keywords:
        if keyword not in fields:
            raise unknown(f"parameter of {name}", keyword, fields or ["(none)"])
    if len(arguments) > len(fields):
        raise InputError(f"{name} takes at most {len(fields)} parameters, got {len(arguments)}")
    try:
        return kind(*arguments, **keywords)
    except TypeError as error:
        raise InputError(f"{name}: {error}") from error
