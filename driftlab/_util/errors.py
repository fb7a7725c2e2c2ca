"""What can go wrong on the user's side."""

__all__ = ["DriftlabWarning", "InputError", "MissingExtra"]


class InputError(ValueError):
    """Input that cannot be used; the message names the place, the value and the remedy."""


class MissingExtra(ImportError):
    """A package that only an optional part of driftlab needs is not installed."""


class DriftlabWarning(UserWarning):
    """Something was left out or assumed; the message says what and how many."""
