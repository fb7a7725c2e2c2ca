"""Columns of numbers that are no metric: roles, failures, signals, transitions, what was spent."""
