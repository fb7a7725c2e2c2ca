"""Runs the command line: python -m driftlab.cli."""

from driftlab.cli import main

main()
