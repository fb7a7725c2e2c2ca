"""The one type of all registries: names people type, and what they stand for."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from driftlab._util.errors import InputError
from driftlab._util.spec import unknown

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """A mapping that answers for an unknown name, and keeps what stands.

    Parameters
    ----------
    what : str
        What the names are of, for error messages.
    entries : iterable of (str, value)
    remedy : str
        Said at the end of the error for an unknown name.

    Examples
    --------
    >>> colours = Registry("colour", [("red", 1)])
    >>> colours.register("green", 2)
    2
    >>> colours["gren"]
    Traceback (most recent call last):
        ...
    driftlab.InputError: unknown colour 'gren'; did you mean 'green'? known: green, red
    """

    def __init__(self, what: str, entries: Iterable[tuple[str, T]], remedy: str = "") -> None:
        self.what, self.remedy = what, remedy
        self._entries = dict(entries)

    def __getitem__(self, name: str) -> T:
        if name not in self:
            raise unknown(self.what, name, self._entries, self.remedy)
        return self._entries[name]

    def check(self, name: str) -> None:
        """Raise the error for an unknown name."""
        self[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<registry of {len(self)}: {', '.join(sorted(self._entries))}>"

    def register(self, name: str, value: T) -> T:
        """Add a value and return it; an equal one may be added again.

        Raises
        ------
        InputError
            When the name stands for another value: what people have typed must not change its meaning.
        """
        if name in self and self._entries[name] != value:
            raise InputError(f"{self.what} {name!r} exists already and is another; choose another name")
        self._entries[name] = value
        return value
