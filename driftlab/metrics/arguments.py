"""Arguments of two calls, key by key."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from driftlab._util.errors import InputError
from driftlab._util.spec import choice
from driftlab.metrics.base import Pairwise
from driftlab.trace.views import MASKS, canonical, canonical_json, unpacked

__all__ = ["Arguments"]


@dataclass(frozen=True, repr=False)
class Arguments(Pairwise):
    """Share of the arguments that differ; another tool is 1.

    Key order and spacing never matter, at any depth, and 3 equals 3.0; list order and types do. Text that holds a
    JSON object counts as that object; any other text, and a list, is one argument. An argument that only one call
    has differs. Resolution: one argument, however long, is equal or not.

    Parameters
    ----------
    view : {"action"}
        Always the call without its output.
    mask : str
        How the texts inside the arguments are rewritten first; numbers, keys and the tool's name never are.
    lag, nearest
        Which calls are compared: see `Pairwise`.
    ignore : tuple of str or (str, tuple of str)
        Names of top-level arguments that say nothing: of every tool, or of one, for example
        ``("timestamp", ("grep", ("color", "quiet")))``.

    Examples
    --------
    >>> Arguments().compare({"path": "a.py", "line": 3}, '{ "line": 4, "path": "a.py" }')
    0.5
    >>> Arguments(ignore=("line",)).compare({"path": "a.py", "line": 3}, '{ "line": 4, "path": "a.py" }')
    0.0
    """

    name: ClassVar[str] = "arguments"
    view: str = "action"
    ignore: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("view of arguments", self.view, ("action",))
        object.__setattr__(self, "ignore", _ignored(self.ignore))

    @property
    def reads(self) -> tuple[str, str]:
        return ("action", "raw")  # masked inside the arguments: a mask may not break their JSON

    @property
    def comparison(self) -> "Arguments":
        return self.replace(lag=1, nearest=False)

    def clean(self, text: Any) -> str:
        """Return arguments (a mapping, text or None) as the text that `delta` compares.

        Raises
        ------
        TypeError
            When they are anything else.
        """
        if text is None or isinstance(text, str | Mapping):
            return f" {canonical(text)}"
        raise TypeError(f"arguments compares mappings or text, got {type(text).__name__} {text!r}")

    def compare(self, earlier: Any, later: Any) -> float:
        """Return the delta of two calls' arguments, each a mapping, JSON text, other text or None."""
        return super().compare(earlier, later)

    def delta(self, earlier: str, later: str) -> float:
        first, second = self._fields(earlier), self._fields(later)
        names = first.keys() | second.keys()
        if first[""] != second[""]:
            return 1.0
        differ = sum(first.get(name) != second.get(name) for name in names)
        return differ / max(1, len(names) - 1)

    def _fields(self, action: str) -> dict[str, str]:
        """Return the masked JSON of each argument; the empty name holds the tool, and the whole of other text."""
        start = action.find(" {")
        found = _object(action[start + 1 :]) if start >= 0 else None
        if found is None:
            return {"": self._masked(action)}
        tool = action[:start]
        skip = {name for owner, names in self._skipped() if owner in (None, tool) for name in names}
        fields = {f".{key}": canonical_json(self._masked(item)) for key, item in found.items() if key not in skip}
        return {"": tool, **fields}

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return MASKS[self.mask](value)
        if isinstance(value, dict):
            return {key: self._masked(item) for key, item in value.items()}
        return [self._masked(item) for item in value] if isinstance(value, list) else value

    def _skipped(self) -> Iterator[tuple[str | None, tuple[str, ...]]]:
        for entry in self.ignore:
            yield (None, (entry,)) if isinstance(entry, str) else entry


def _object(text: str) -> dict[str, Any] | None:
    value = unpacked(text)
    return value if isinstance(value, dict) else None


def _ignored(entries: Any) -> tuple[Any, ...]:
    """Return the entries as tuples, which hash and print; lists are what JSON and TOML give."""
    out: list[Any] = []
    for entry in (entries,) if isinstance(entries, str) else entries:
        if isinstance(entry, str):
            out.append(entry)
        elif isinstance(entry, list | tuple) and len(entry) == 2 and isinstance(entry[0], str):
            names = (entry[1],) if isinstance(entry[1], str) else tuple(entry[1])
            out.append((entry[0], names))
        else:
            raise InputError(f"ignore holds names or (tool, names), got {entry!r}")
    return tuple(out)
