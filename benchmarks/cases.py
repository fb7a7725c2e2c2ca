"""The default policy on the shared cases, on real good runs; `python benchmarks/cases.py` prints benchmarks/cases.md.

A pair is solved when its stalled half alarms inside the marked stall and its good half raises no alarm. Exits
non-zero when a floor is missed.
"""

import dataclasses
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from driftlab.evaluation.tally import Labels, outcomes
from driftlab.metrics.measurements import measure
from driftlab.rules.policy import Policy
from driftlab.rules.presets.default import PRESETS, default_policy
from driftlab.rules.roles import Role
from driftlab.trace.corpus import read
from driftlab.trace.schema import Trace

SHARED = Path(__file__).resolve().parents[2] / "shared"
PAIRS = SHARED / "cases" / "pairs.json"
PAIRS_FLOOR, STOPPED_LIMIT = 13, 1
# Corpus, preset, hidden signal, largest share (or number, from 1) of good runs that may be stopped.
REAL = [
    ("tau_support", "default", None, 0.02),
    ("llm_agents_study", "safe", None, 1),
    ("intercode_gpt", "default", "reward", 0.01),
    ("intercode_gpt", "safe", "reward", 0.01),
]
# What an operator of these tools would declare; named before the patterns of the default, since the first fits.
ROLES = {
    "process_poll": Role("poller", 3),
    "read_output": Role("poller", 3),
    "directory_lookup": Role("reader"),
    "add_document": Role("writer"),
    "write_file": Role("writer"),
    "edit_file": Role("constant"),
    "str_replace": Role("constant"),
}


@dataclasses.dataclass(frozen=True)
class Judged:
    """What a policy makes of the cases."""

    outcomes: dict[str, str]
    alarms: dict[str, int]
    rules: dict[str, str]
    pairs: list[tuple[str, str]]

    @property
    def solved(self) -> list[tuple[str, str]]:
        """Pairs with a pass and a hit."""
        return [(good, bad) for good, bad in self.pairs if (self.outcomes[good], self.outcomes[bad]) == ("pass", "hit")]

    @property
    def stopped(self) -> list[str]:
        """Good cases that were stopped."""
        return [name for name, outcome in self.outcomes.items() if outcome == "false stop"]

    @property
    def wrong(self) -> list[str]:
        """Cases that were neither passed nor hit."""
        return [name for name, outcome in self.outcomes.items() if outcome not in ("pass", "hit")]


@dataclasses.dataclass(frozen=True)
class Real:
    """Good runs of a corpus that a preset stopped."""

    corpus: str
    preset: str
    good: int
    stopped: int
    limit: float
    hits: int
    stalled: int


def cases() -> list[Trace]:
    """Return the shared cases."""
    return list(read(SHARED / "cases" / "traces.jsonl"))


def without(traces: Iterable[Trace], signal: str | None = None) -> list[Trace]:
    """Return the traces without one signal, or without any."""
    return [trace.replace(steps=[_without(step, signal) for step in trace.steps]) for trace in traces]


def _without(step, signal):
    kept = {name: value for name, value in (step.signals or {}).items() if signal is not None and name != signal}
    return msgspec.structs.replace(step, signals=kept or None)


def judged(policy: Policy, traces: Sequence[Trace]) -> Judged:
    """Run a policy over the cases."""
    measured = measure(policy.prepared(traces), policy.needs)
    alarms, which = policy.alarms(measured)
    named = outcomes(alarms, Labels.of(measured.infos, measured.lengths))
    ids = [trace.id for trace in traces]
    rules = [repr(policy.rules[rule].detector) if rule >= 0 else "" for rule in which]
    columns = (dict(zip(ids, values, strict=True)) for values in (named.tolist(), alarms.tolist(), rules))
    return Judged(*columns, [tuple(pair) for pair in json.loads(PAIRS.read_text())["pairs"]])


def real_good(corpus: str, preset: str, hidden: str | None, limit: float) -> Real:
    """Count the good runs of a corpus that a preset stops."""
    policy = default_policy(preset)
    traces = without(read(SHARED / "corpora" / f"{corpus}.jsonl.gz"), hidden)
    found = judged_outcomes(policy, traces)
    good = sum(trace.label == "good" for trace in traces)
    stalled = sum(outcome in ("hit", "premature", "late", "miss") for outcome in found)
    most = limit if limit >= 1 else limit * good
    return Real(corpus, preset, good, found.count("false stop"), most, found.count("hit"), stalled)


def judged_outcomes(policy: Policy, traces: Sequence[Trace]) -> list[str]:
    """Return the outcome of each trace."""
    measured = measure(policy.prepared(traces), policy.needs)
    return outcomes(policy.alarms(measured)[0], Labels.of(measured.infos, measured.lengths)).tolist()


def settings(traces: list[Trace]) -> list[tuple[str, Policy, list[Trace]]]:
    """Return every combination that the table shows."""
    roles = dataclasses.replace(default_policy(), roles={**ROLES, **default_policy().roles})
    bare = dataclasses.replace(default_policy(), roles={})
    return [
        *((f"{preset}, signals", default_policy(preset), traces) for preset in PRESETS),
        ("default, signals hidden", default_policy(), without(traces)),
        ("default without its roles, signals", bare, traces),
        ("default and roles of the cases' tools, signals", roles, traces),
        ("default and roles of the cases' tools, signals hidden", roles, without(traces)),
    ]


def main() -> int:
    """Print the tables; return 1 when a floor is missed."""
    traces, failed = cases(), []
    why = {trace.id: (trace.extra or {}).get("why", "") for trace in traces}
    good, stalled = (sum(trace.label == label for trace in traces) for label in ("good", "stalled"))
    print(f"| setting | pairs solved of 14 | good cases stopped of {good} | stalled cases hit of {stalled} |")
    print("|---|---|---|---|")
    wrong = []
    for name, policy, shown in settings(traces):
        found = judged(policy, shown)
        hits = list(found.outcomes.values()).count("hit")
        print(f"| {name} | {len(found.solved)} | {len(found.stopped)} | {hits} |")
        wrong += [(name, case, found) for case in found.wrong]
        if name == "default, signals" and (len(found.solved) < PAIRS_FLOOR or len(found.stopped) > STOPPED_LIMIT):
            failed.append(f"{len(found.solved)} pairs solved, {len(found.stopped)} good cases stopped")
    print("\n| corpus | preset | good runs stopped | allowed | stalled runs hit |\n|---|---|---|---|---|")
    for row in [*REAL, ("llm_agents_study", "default", None, 1), ("tau_support", "eager", None, 0.02)]:
        real = real_good(*row)
        allowed = f"{real.limit:.1f}" if row in REAL else "-"
        counts = f"{real.stopped} of {real.good} | {allowed} | {real.hits} of {real.stalled}"
        print(f"| {real.corpus} | {real.preset} | {counts} |")
        if row in REAL and real.stopped > real.limit:
            failed.append(f"{real.stopped} of {real.good} good runs of {real.corpus} stopped by {real.preset}")
    print("\nWhat it gets wrong, and why:\n")
    for name, case, found in wrong:
        shown = f"step {found.alarms[case]}, {found.rules[case]}" if found.alarms[case] >= 0 else "no alarm"
        print(f"- {name}: `{case}` {found.outcomes[case]} ({shown}). {why[case]}")
    for line in failed:
        print(f"MISSED: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
