"""Time and memory of reading: ten times the traces, ten times the time, the same peak.

    python -m benchmarks.reading

Each reading runs in a process of its own, so that its peak memory is its own.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from driftlab._util.extras import need
from driftlab.trace.corpus import stream, write
from driftlab.trace.schema import Step, Trace

SMALL, TIMES = 3_000, 10


def make(path: Path, count: int) -> None:
    """Write `count` traces of 30 steps of about 600 characters."""
    steps = [
        Step(state=f"step {t} " * 20, tool="grep", args={"pattern": "x" * 40, "t": t}, output="line\n" * 60)
        for t in range(30)
    ]
    write((Trace(id=str(n), steps=steps) for n in range(count)), path)


def one(path: str) -> None:
    """Read a file; print seconds and peak memory in MB."""
    if path.endswith(".parquet"):
        need("pyarrow.parquet", "study")  # loading the library is not reading
    start = time.perf_counter()
    count = sum(len(trace.steps) for trace in stream(path))
    seconds = time.perf_counter() - start
    print(count, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measured(path: Path) -> tuple[float, float]:
    """Return the least seconds and the peak memory of three readings."""
    runs = []
    for _ in range(3):
        command = [sys.executable, "-m", "benchmarks.reading", str(path)]
        runs.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    return min(float(run[1]) for run in runs), max(float(run[2]) for run in runs)


def main() -> int:
    """Print both ratios for each format; return 1 when one falls short."""
    if len(sys.argv) > 1:
        one(sys.argv[1])
        return 0
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".jsonl", ".jsonl.gz", ".parquet"):
            small, large = Path(folder) / f"small{suffix}", Path(folder) / f"large{suffix}"
            make(small, SMALL)
            make(large, SMALL * TIMES)
            (seconds, peak), (longer, higher) = measured(small), measured(large)
            print(
                f"{suffix}: {longer / seconds:.1f} times as long (goal: 8 to 12), peak {peak:.0f} and {higher:.0f} MB"
            )
            good &= 8 <= longer / seconds <= 12 and higher <= 1.2 * peak
            large.unlink()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
