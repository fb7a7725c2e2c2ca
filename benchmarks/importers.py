"""Speed and memory of the importers: python benchmarks/importers.py [--mb 64] [--big 1024] [--check].

Each format is written once, decoded with msgspec alone, then imported trace by trace, all on one core. The big file
shows that memory does not grow with it: its peak is printed above that of the interpreter with everything loaded.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from driftlab.importers.load import stream
from driftlab.importers.parts.health import HealthReport

WORDS = [f"{stem}{n}" for stem in ("file", "test", "error", "value", "result") for n in range(400)]
SPEED = 50.0  # MB/s that JSON Lines must reach, or half of what decoding alone does
FLAT = 200.0  # MB that a file of any size may take


def text(rng: random.Random, words: int) -> str:
    """Some output of a tool."""
    return " ".join(rng.choices(WORDS, k=words))


def messages(rng: random.Random, n: int) -> bytes:
    """One conversation of twenty calls."""
    talk: list[dict[str, object]] = [{"role": "user", "content": text(rng, 40)}]
    for call in range(20):
        args = json.dumps({"path": text(rng, 2), "n": call})
        asked = {"id": f"c{call}", "type": "function", "function": {"name": "read", "arguments": args}}
        talk.append({"role": "assistant", "content": text(rng, 20), "tool_calls": [asked]})
        talk.append({"role": "tool", "tool_call_id": f"c{call}", "content": text(rng, 120)})
    return json.dumps({"id": f"run-{n}", "messages": talk}).encode() + b"\n"


def plain(rng: random.Random, n: int) -> bytes:
    """One run of twenty steps, a line each."""
    rows = (
        {"run_id": f"run-{n}", "step": t, "tool": "read", "args": {"n": t}, "output": text(rng, 120), "left": 20 - t}
        for t in range(20)
    )
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def native(rng: random.Random, n: int) -> bytes:
    """One trace in driftlab's own form."""
    steps = [{"state": text(rng, 20), "tool": "read", "args": {"n": t}, "output": text(rng, 120)} for t in range(20)]
    return json.dumps({"id": f"run-{n}", "steps": steps}).encode() + b"\n"


KINDS: dict[str, Callable[[random.Random, int], bytes]] = {"messages": messages, "plain": plain, "driftlab": native}


def write(path: Path, make: Callable[[random.Random, int], bytes], size: int) -> None:
    """Write runs until the file has `size` bytes; a hundred different ones, with ids of their own."""
    rng = random.Random(0)
    with path.open("wb") as file:
        n = 0
        while file.tell() < size:
            file.write(make(rng, n))
            n += 1


def decoded(path: Path) -> float:
    """Return the seconds that decoding alone takes."""
    started = time.process_time()
    with path.open("rb") as file:
        for line in file:
            msgspec.json.decode(line)
    return time.process_time() - started


def imported(path: Path) -> tuple[float, int]:
    """Return the seconds that importing takes, and the steps."""
    report = HealthReport()
    started = time.process_time()
    for _ in stream(path, report=report):
        pass
    return time.process_time() - started, report.steps


def peak() -> float:
    """Return the largest resident size so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def rows(mb: int, folder: Path) -> Iterator[tuple[str, float, float, int]]:
    """Yield format, MB/s imported, MB/s decoded, steps."""
    for name, make in KINDS.items():
        path = folder / f"{name}.jsonl"
        write(path, make, mb << 20)
        size = path.stat().st_size / 1e6
        alone = min(decoded(path) for _ in range(3))
        took, steps = min(imported(path) for _ in range(3))
        yield name, size / took, size / alone, steps
        path.unlink()


def main() -> int:
    """Print the table; with --check fail where a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=64, help="size of each file (default: %(default)s)")
    parser.add_argument("--big", type=int, default=1024, help="MB of the file for memory, 0 for none")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("processor time, one core")
        print(f"{'format':<10} {'import MB/s':>12} {'decode MB/s':>12} {'ratio':>6} {'steps':>8}")
        for kind, speed, alone, steps in rows(options.mb, folder):
            good &= speed >= SPEED or alone <= 2 * speed
            print(f"{kind:<10} {speed:>12.0f} {alone:>12.0f} {alone / speed:>6.1f} {steps:>8}")
        if options.big:
            good &= flat(options.big, folder)
    return 0 if good or not options.check else 1


def flat(mb: int, folder: Path) -> bool:
    """Import one big file; print by how much the largest resident size grew."""
    path = folder / "big.jsonl"
    block = b"".join(messages(random.Random(n), n) for n in range(200))
    with path.open("wb") as file:
        n = 0
        while file.tell() < mb << 20:
            file.write(block.replace(b'"id": "run-', b'"id": "block-%d-run-' % n))
            n += 1
    before = peak()
    took, steps = imported(path)
    grown = peak() - before
    size = path.stat().st_size / 1e6
    print(f"{size:.0f} MB in {took:.0f} s ({size / took:.0f} MB/s), {steps} steps")
    print(f"peak {peak():.0f} MB, grown by {grown:.0f} MB")
    return grown < FLAT


if __name__ == "__main__":
    sys.exit(main())
