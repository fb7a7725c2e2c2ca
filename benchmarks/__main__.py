"""Runs every benchmark; exits with 1 when one falls short of its goal."""

import subprocess
import sys
from pathlib import Path

OPTIONS = {"importers": ["--check"]}  # without it that one only prints


def main() -> int:
    """Run each script of this folder in a process of its own."""
    scripts = sorted(path for path in Path(__file__).parent.glob("[a-z]*.py"))
    failed = []
    for script in scripts:
        print(f"\n== {script.stem}", flush=True)
        module = f"benchmarks.{script.stem}"
        command = [sys.executable, "-m", module, *OPTIONS.get(script.stem, [])]
        failed += [script.stem] if subprocess.run(command, check=False).returncode else []
    print(f"\n{len(scripts) - len(failed)} of {len(scripts)} benchmarks reach their goals; short: {failed or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
