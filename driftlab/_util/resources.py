"""Where the data, the notebooks that ship with driftlab are."""

from pathlib import Path

from driftlab._util.errors import InputError

__all__ = ["data_folder", "notebooks_folder"]

PACKAGE = Path(__file__).resolve().parents[1]


def data_folder() -> Path:
    """Return the folder with the data that ships: inside the package in a wheel, beside it in a checkout.

    Examples
    --------
    >>> (data_folder() / "demo" / "loops.jsonl").is_file()
    True
    """
    return _first("data", "demo/loops.jsonl")


def notebooks_folder() -> Path:
    """Return the folder with the notebooks: inside the package in a wheel, beside it in a checkout.

    Examples
    --------
    >>> (notebooks_folder() / "04_sweep_and_roc.ipynb").is_file()
    True
    """
    return _first("notebooks", "04_sweep_and_roc.ipynb")


def _first(name: str, witness: str) -> Path:
    for folder in (PACKAGE / f"_{name}", PACKAGE.parent / name):
        if (folder / witness).is_file():
            return folder
    raise InputError(f"the {name} that ship with driftlab are not here; install it from a wheel or run in a checkout")
