"""Plain values for the files that are written: undefined is null or a word."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["Plain", "for_json", "for_toml", "rows"]

NEVER = "watch only"
Plain = str | int | float | bool


def for_json(value: Any) -> Any:
    """Return a value as strict JSON holds it.

    `nan` becomes None, infinity the words "watch only" (a threshold that is never reached), numpy numbers
    and arrays become plain ones, anything else that JSON does not know its text.

    Examples
    --------
    >>> for_json({"threshold": math.inf, "recall": math.nan, "n": np.int64(3), "at": (1, 2.5)})
    {'threshold': 'watch only', 'recall': None, 'n': 3, 'at': [1, 2.5]}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return None if math.isnan(value) else NEVER if math.isinf(value) else value
    if isinstance(value, Mapping):
        return {str(key): for_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [for_json(each) for each in value]
    return value if value is None or isinstance(value, str | int) else str(value)


def for_toml(value: Any) -> Plain:
    """Return a value as TOML holds it: numpy numbers unwrapped, undefined numbers as a word.

    Examples
    --------
    >>> for_toml(np.int64(3)), for_toml(math.nan), for_toml(None)
    (3, 'undefined', 'None')
    """
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and math.isnan(value):
        return "undefined"
    return value if isinstance(value, str | int | float | bool) else str(value)


def rows(table: Any) -> list[dict[str, Any]]:
    """Return a DataFrame's rows as strict values.

    Examples
    --------
    >>> import pandas
    >>> rows(pandas.DataFrame({"auc": [0.5, math.nan]}))
    [{'auc': 0.5}, {'auc': None}]
    """
    return [for_json(row) for row in table.to_dict("records")]
