"""Packages that only some installs have."""

import importlib
from typing import Any

from driftlab._util.errors import MissingExtra

__all__ = ["need"]


def need(module: str, extra: str) -> Any:
    """Import `module`, or say which extra brings it.

    Parameters
    ----------
    module : str
        Dotted name, for example ``"pandas"``.
    extra : str
        The extra of driftlab that installs it.

    Raises
    ------
    MissingExtra
        When the package is not installed.

    Examples
    --------
    >>> need("json", "study").dumps([1])
    '[1]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{module.partition('.')[0]} is not installed; run: pip install 'driftlab[{extra}]'"
        ) from error
