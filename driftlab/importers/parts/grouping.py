"""Which files are parts of one run."""

from collections.abc import Hashable, Iterator, Sequence

from driftlab.importers.parts.base import Importer
from driftlab.importers.parts.source import Source

__all__ = ["groups"]


def groups(found: Sequence[tuple[Importer, Source]]) -> Iterator[tuple[Importer, list[Source]]]:
    """Yield the files that belong together, in the order of their first file.

    Examples
    --------
    >>> list(groups([]))
    []
    """
    leader = list(range(len(found)))
    owners: dict[Hashable, int] = {}
    for place, (importer, source) in enumerate(found):
        # A file alone has nothing to be joined with.
        for key in importer.link(source) if importer.link and len(found) > 1 else ():
            first = _root(leader, owners.setdefault((importer.name, key), place))
            leader[max(first, _root(leader, place))] = min(first, _root(leader, place))
        source.forget()
    members: dict[int, list[Source]] = {}
    for place, (_, source) in enumerate(found):
        members.setdefault(_root(leader, place), []).append(source)
    for place in list(members):
        yield found[place][0], members.pop(place)


def _root(leader: list[int], place: int) -> int:
    while leader[place] != place:
        leader[place] = place = leader[leader[place]]
    return place
