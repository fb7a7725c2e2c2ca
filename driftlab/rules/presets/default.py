"""The policy for those who have not calibrated one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from driftlab._util.registry import Registry
from driftlab.detectors import detector
from driftlab.rules.policy import Policy, StopRule
from driftlab.rules.roles import Role

__all__ = ["PRESETS", "default_policy"]


@dataclass(frozen=True)
class _Sizes:
    stale: int
    repeats: int
    times: int
    idle: int
    flat: int


# What is called a wait is one: three that bring nothing new count as one step.
WAITING = {name: Role(patience=3) for word in ("wait", "poll") for name in (word, f"{word}_*", f"*_{word}")}


def default_policy(preset: str = "default") -> Policy:
    """Return a policy that nobody tuned on your traces; the first rule to fire stops the loop.

    1. Results bring nothing new (at least 95 % of the lines were seen before) for 5 calls.
    2. Four calls in a row were made before with much the same result; one turn 5 times in 12 steps; a cycle of 2..8.
    3. The same error 5 times, at most 2 successes in between.
    4. Talk instead of work: 5 long texts that repeat their phrases, or 8 steps without a call after calls.
    5. No new best of a signal for 20 measured steps.

    A new best of a signal, a turn of the user, a compaction (unless its summary was seen before) start every count
    again. Three calls in a row that bring nothing new, of a tool named ``wait`` or ``poll``, count as one, and so do
    three outages (rate limits, networks). Times, ids, temporary paths in results are not new (mask ``volatile``).

    Parameters
    ----------
    preset : {"default", "safe", "eager"}
        ``safe`` waits longer (6 calls instead of 5), ``eager`` shorter (4). In games and long control loops, whose
        good runs repeat themselves, each of them is unusable: calibrate.

    Examples
    --------
    >>> [rule.detector.name for rule in default_policy().rules]
    ['plateau', 'redo', 'recurring', 'cycle', 'error_streak', 'phrases', 'idle', 'flat']
    """
    return PRESETS[preset]()


def _policy(preset: str, size: _Sizes) -> Policy:
    specs = {
        f"plateau(novelty(view='output', mask='volatile'), run({size.stale}))": 0.95,
        f"redo({size.repeats})": 1.0,
        f"recurring({size.times}, 12)": 1.0,
        f"cycle(least={size.stale + 1})": 1.0,
        f"error_streak({size.stale}, over=2)": 1.0,
        f"phrases({size.stale})": 1.0,
        f"idle({size.idle})": 1.0,
        f"flat({size.flat})": 1.0,
    }
    rules = tuple(StopRule(detector(spec), threshold) for spec, threshold in specs.items())
    resets = ("progress", "user", "compaction")
    return Policy(rules, roles=WAITING, resets=resets, outages=3, provenance={"preset": preset})


_SIZES = {
    "eager": _Sizes(stale=4, repeats=3, times=4, idle=8, flat=15),
    "default": _Sizes(stale=5, repeats=4, times=5, idle=8, flat=20),
    "safe": _Sizes(stale=6, repeats=5, times=6, idle=10, flat=30),
}
PRESETS: Registry[Callable[[], Policy]] = Registry(
    "preset", ((name, partial(_policy, name, size)) for name, size in _SIZES.items())
)
