"""Measures the embedding deltas that ship: python data/demo/embed.py (needs the extra `embedding`)."""

import shutil
from pathlib import Path

import driftlab as dl

HERE = Path(__file__).resolve().parent
MEASURED = HERE / "measured"


def main() -> None:
    """Measure both files of the demo afresh; the old numbers go when the new ones are there."""
    fresh = HERE / "measured.new"
    for name in ("loops.jsonl", "incident.jsonl"):
        dl.measure(dl.read(HERE / name), ["embedding"], cache=fresh, progress=True)
    shutil.rmtree(MEASURED, ignore_errors=True)
    fresh.rename(MEASURED)


if __name__ == "__main__":
    main()
