"""Columns of numbers that are no metric: roles, failures, signals, transitions, what was spent."""

__all__ = ["context", "failures", "signals", "spent", "steps", "transitions", "under_roles"]
