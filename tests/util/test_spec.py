"""Specs: what is printed can be typed, what cannot be typed says why."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from driftlab._util.errors import InputError
from driftlab._util.spec import Spec, parse


@dataclass(frozen=True, repr=False)
class Inner(Spec):
    name: ClassVar[str] = "inner"
    size: int = 1


@dataclass(frozen=True, repr=False)
class Outer(Spec):
    name: ClassVar[str] = "outer"
    positional: ClassVar[int] = 1
    first: Inner = Inner()
    word: str = "it's"
    items: tuple[float, ...] = (0.1 + 0.2,)


KNOWN = {"inner": Inner, "outer": Outer}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Inner(), "inner"),
        (Inner(2), "inner(size=2)"),
        (Outer(), "outer(inner)"),
        (Outer(Inner(3), "a", (1.0, -2.5)), "outer(inner(size=3), word='a', items=(1.0, -2.5))"),
    ],
)
def test_repr_parses_back(value, text):
    assert repr(value) == text
    assert parse(text, KNOWN, "thing") == value
    assert parse(value.full(), KNOWN, "thing") == value


def test_full_shows_what_repr_leaves_out():
    assert Outer().full() == 'outer(inner(size=1), word="it\'s", items=(0.30000000000000004,))'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("iner", "unknown thing 'iner'; did you mean 'inner'\\? known: inner, outer"),
        ("zebra", "unknown thing 'zebra'; known: inner, outer"),
        ("inner(sise=2)", "unknown parameter of inner 'sise'; did you mean 'size'"),
        ("inner(1, 2)", "inner takes at most 1 parameters, got 2"),
        ("inner(1, size=2)", "inner: .*size"),
        ("inner(**{})", "not allowed in a spec"),
        ("inner(size=open('x'))", "unknown thing 'open'"),
        ("inner(size=1+x)", "not a plain value"),
        ("a.b()", "not of the form"),
        ("1 + 1", "not of the form"),
        ("inner(", "not of the form"),
        ("", "not of the form"),
        ("(" * 10_000, "not of the form"),
    ],
)
def test_what_is_no_spec_says_why(text, says):
    with pytest.raises(InputError, match=says):
        parse(text, KNOWN, "thing")
