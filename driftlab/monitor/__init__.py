"""A policy in a live loop, and where the loop is going."""

from driftlab.monitor.monitor import Monitor, Verdict

__all__ = ["Monitor", "Verdict"]
