"""Feeds broken logs to the importers: python benchmarks/fuzz.py [--inputs 100000] [--seed 0]."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab.importers.load import load
from driftlab.trace.schema import decode, encode

FIXTURES = Path(__file__).resolve().parent.parent / "tests" / "fixtures"
SLOW = 5.0  # seconds that no input of a few kilobytes may take
TOKENS = (
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b":",
    b"null",
    b"NaN",
    b"-1",
    b"1e400",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"\n",
    b"\x00",
)


DEEP: list[object] = []
for _ in range(190):
    DEEP = [DEEP]
NESTED: dict[str, object] = {}
for _ in range(190):
    NESTED = {"a": NESTED}
VALUES = (
    DEEP,
    NESTED,
    None,
    True,
    0,
    -1,
    10**30,
    1.5,
    "",
    "x",
    "{",
    '{"a": 1}',
    [],
    [[]],
    {},
    {"type": "text"},
    [None],
    ["a", 1],
    {"role": []},
)


def mutated(rng: random.Random) -> tuple[str, bytes]:
    """Return the name and the bytes of a fixture after a few changes: blind ones, or of values inside the JSON."""
    path = rng.choice(sorted(FIXTURES.iterdir()))
    data = bytearray(path.read_bytes())
    if path.suffix != ".csv" and rng.random() < 0.5:
        values = [json.loads(line) for line in data.splitlines()] if path.suffix == ".jsonl" else [json.loads(data)]
        share = rng.choice((0.01, 0.05, 0.2))
        return path.name, b"\n".join(json.dumps(grafted(value, share, rng)).encode() for value in values)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        change(data, rng)
    return path.name, bytes(data)


def grafted(value: object, share: float, rng: random.Random) -> object:
    """Return a JSON value in which about `share` of all values are other ones, or gone."""
    if rng.random() < share:
        return rng.choice(VALUES)
    if isinstance(value, dict):
        return {key: grafted(item, share, rng) for key, item in value.items() if rng.random() >= share / 2}
    return [grafted(item, share, rng) for item in value] if isinstance(value, list) else value


def change(data: bytearray, rng: random.Random) -> None:
    """Flip, cut, repeat, move or insert bytes."""
    place = rng.randrange(len(data) + 1)
    size = rng.choice((1, 1, 8, 64, 512))
    kind = rng.randrange(6)
    if kind == 0 and data:
        data[min(place, len(data) - 1)] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[place : place + size]
    elif kind == 2:
        data[place:place] = data[place : place + size]
    elif kind == 3:
        data[place:place] = rng.choice(TOKENS) * rng.choice((1, 1, 1, 300))
    elif kind == 4:
        del data[place:]
    else:
        other = rng.randrange(len(data) + 1)
        data[place:place] = data[other : other + size]


def check(path: Path, data: bytes) -> str:
    """Import one input; raise when it crashes, hangs or loses something without a word.

    Returns
    -------
    str
        "kept" when everything was read, "noted" when the report says what was not, "refused" for an `InputError`.
    """
    path.write_bytes(data)
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DriftlabWarning)
            corpus, report = load(path)
    except InputError:
        return "refused"
    finally:
        took = time.perf_counter() - started
        assert took < SLOW, f"took {took:.1f} s"
    for trace in corpus:
        assert decode(encode(trace)) == trace, "what was imported cannot be written and read again"
    assert report.steps == sum(len(trace.steps) for trace in corpus) > 0
    json.dumps(report.to_dict(), allow_nan=False)
    broken = path.name.endswith(".jsonl") and any(line.strip() and not is_json(line) for line in data.split(b"\n"))
    assert not broken or report.n_problems or report.counts["repaired"], "a line was lost without a word"
    return "noted" if report.n_problems else "kept"


def is_json(line: bytes) -> bool:
    """Whether a line can be read as the JSON it claims to be."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def main() -> int:
    """Run many inputs; print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts: dict[str, int] = {}
    failures = 0
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.inputs):
            rng = random.Random(f"{options.seed}:{number}")
            name, data = mutated(rng)
            try:
                result = check(Path(folder) / name, data)
            except Exception as error:  # a fuzzer's finding is any exception at all
                failures += 1
                result = f"FAILED {type(error).__name__}"
                print(f"input {options.seed}:{number} ({name}): {error!r}", file=sys.stderr)
            counts[result] = counts.get(result, 0) + 1
    took = time.perf_counter() - started
    print(f"{options.inputs} inputs in {took:.0f} s: " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
