"""Runs a law over everything it is for, on one drawn example, and names who broke it."""

from collections.abc import Callable, Iterable
from typing import Any


def hold(law: Callable[..., None], subjects: Iterable[Any], *example: Any) -> None:
    """Ask a law of every subject; the error of the first that breaks it says which that is."""
    for subject in subjects:
        try:
            law(subject, *example)
        except BaseException as error:
            error.add_note(f"{law.__name__} is broken by {subject!r}")
            raise
