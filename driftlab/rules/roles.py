"""What tools are for, as a policy declares it."""

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from driftlab._util.errors import InputError
from driftlab.detectors import Context
from driftlab.trace.schema import SignalSpec

__all__ = ["Role", "check_specs", "context_of", "joined_specs"]

Work = Literal["reader", "writer", "poller", "constant", "exempt"]


class Role(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a tool is for.

    Attributes
    ----------
    role : str or None
        ``reader``: a new question is new, whatever the answer (lookups, membership checks). ``writer``: a new action
        says nothing, the same one again is stale. ``constant``: the output says nothing. ``poller``: any output
        not seen before is entirely new. ``exempt``: the tool's calls are not seen at all.
    patience : int
        So many calls in a row that bring nothing new count as one.
    ignore : tuple of str
        Arguments that do not make a call different.

    Examples
    --------
    >>> Role("poller", patience=3)
    Role(role='poller', patience=3, ignore=())
    """

    role: Work | None = None
    patience: int = 1
    ignore: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.ignore, str):
            raise InputError(f"ignore must be several names of arguments, for example ({self.ignore!r},)")
        force_setattr(self, "ignore", tuple(self.ignore))


def check_specs(signals: Mapping[str, SignalSpec]) -> None:
    """Raise an `InputError` unless every signal is declared by a SignalSpec.

    Examples
    --------
    >>> check_specs({"left": "lower"})
    Traceback (most recent call last):
        ...
    driftlab.InputError: signal 'left' must be declared as SignalSpec('higher' or 'lower'), got 'lower'
    """
    if not isinstance(signals, Mapping):
        raise InputError(f"signals must map names to SignalSpec('higher' or 'lower'), got {signals!r}")
    for name, spec in signals.items():
        if not isinstance(spec, SignalSpec):
            raise InputError(f"signal {name!r} must be declared as SignalSpec('higher' or 'lower'), got {spec!r}")


def joined_specs(
    declared: Mapping[str, SignalSpec], carried: Iterable[Mapping[str, SignalSpec]]
) -> dict[str, SignalSpec]:
    """Return what a policy declares of its signals, then what its rules carry of others; a goal only where all agree.

    Raises
    ------
    InputError
        When rules carry both directions of a signal that the policy does not declare.

    Examples
    --------
    >>> found = joined_specs({"left": SignalSpec("lower")}, [{"p": SignalSpec(goal=3)}, {"p": SignalSpec(goal=4)}])
    >>> found["left"].direction, found["p"].goal
    ('lower', None)
    """
    found = dict(declared)
    for name, spec in ((name, spec) for specs in carried for name, spec in specs.items() if name not in declared):
        known = found.setdefault(name, spec)
        if known.direction != spec.direction:
            ways = f"rules carry signal {name!r} both as higher and lower"
            raise InputError(f"{ways}; make one policy a task (driftlab calibrate --task), or rename the signal")
        found[name] = spec if known.goal == spec.goal else SignalSpec(spec.direction)
    return found


def context_of(
    roles: Mapping[str, Role], resets: Iterable[str], signals: Iterable[str], outages: int
) -> Context | None:
    """Return what a policy's roles, resets make of every rule; None when they change nothing.

    Raises
    ------
    InputError
        When a role or a reset is not allowed.

    Examples
    --------
    >>> context_of({}, (), ("passed",), 1) is None
    True
    >>> context_of({"grep": Role("reader")}, ["user"], (), 1)
    context(tools=(('grep', 'reader', 1),), resets=('user',))
    """
    for pattern, role in roles.items():
        if not isinstance(role, Role):
            raise InputError(f"role of {pattern!r} must be a Role, got {role!r}")
    tools = tuple((pattern, role.role or "", role.patience) for pattern, role in roles.items() if role != Role())
    ignore = tuple((pattern, name) for pattern, role in roles.items() for name in role.ignore)
    context = Context(tools, ignore, tuple(resets), tuple(signals), outages)
    return context if tools or context.resets or outages > 1 else None
