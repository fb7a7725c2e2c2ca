"""A notebook run with parameters, written as one HTML file."""

import ast
import copy
import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab._util.files import replacing
from driftlab._util.resources import data_folder, notebooks_folder

__all__ = ["execute", "find_notebook", "parameters_of", "run_notebook", "to_html", "with_parameters"]

TAG = "parameters"
TIMEOUT = 600  # seconds a cell may take


def run_notebook(
    name: str,
    *,
    corpus: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] = "study",
    timeout: int = TIMEOUT,
    **parameters: Any,
) -> Path:
    """Run one of the laboratory's notebooks on a corpus and write it as HTML.

    Parameters
    ----------
    name : str
        Its number, ``"04"``, or the start of its name.
    corpus : path, optional
        Labelled traces; by default the demo loops.
    output : path
        Folder for the HTML file and for what the notebook writes.
    timeout : int
        Seconds a cell may take.
    **parameters
        Values for names in the notebook's first code cell, such as ``PATIENCE=[1, 2, 3]``.

    Returns
    -------
    Path
        The HTML file. It is written also when a cell fails, with the error in it.

    Raises
    ------
    InputError
        When there is no such notebook, no such parameter, no such corpus, or a cell fails.

    Examples
    --------
    >>> run_notebook("99")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    driftlab.InputError: no notebook '99'; there are: 01_what_is_a_stall, ...
    """
    path = find_notebook(name)
    folder = Path(output).resolve()
    given = {"CORPUS": str(_corpus(corpus)), "OUTPUT": str(folder), **parameters}
    book = with_parameters(need("nbformat", "lab").read(path, as_version=4), given)
    folder.mkdir(parents=True, exist_ok=True)
    failure = execute(book, path.parent, timeout)
    page = folder / f"{path.stem}.html"
    with replacing(page) as temporary:
        temporary.write_text(to_html(book, path.stem), encoding="utf-8")
    if failure:
        raise InputError(f"{path.stem} stopped: {failure}; what it had done by then is in {page}")
    return page


def find_notebook(name: str) -> Path:
    """Return the notebook whose name starts with `name`.

    Raises
    ------
    InputError
        When none does, or several do.

    Examples
    --------
    >>> find_notebook("04").stem
    '04_sweep_and_roc'
    """
    known = sorted(notebooks_folder().glob("[0-9]*.ipynb"))
    wanted = name.removesuffix(".ipynb")
    found = [path for path in known if wanted and path.stem.startswith(wanted)]
    if len(found) != 1:
        names = ", ".join(path.stem for path in known)
        raise InputError(f"{'several notebooks start with' if found else 'no notebook'} {name!r}; there are: {names}")
    return found[0]


def parameters_of(book: Any) -> dict[str, str]:
    """Return the names that a notebook's parameters cell assigns, with the text of their values."""
    cell = book.cells[_place(book)]
    assigned = [node for node in ast.parse(cell.source).body if isinstance(node, ast.Assign)]
    return {ast.unparse(node.targets[0]): ast.unparse(node.value) for node in assigned}


def with_parameters(book: Any, given: Mapping[str, Any]) -> Any:
    """Return the notebook with a cell that sets parameters after the one that declares them.

    Parameters
    ----------
    book : nbformat.NotebookNode
    given : mapping of str to plain values

    Raises
    ------
    InputError
        When the notebook has no such parameter.
    """
    known = parameters_of(book)
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name.upper(), known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise InputError(f"the notebook has no parameter {name}{hint} known: {', '.join(known)}")
    v4 = need("nbformat.v4", "lab")
    lines = [f"{name} = {value!r}" for name, value in given.items()]
    cell = v4.new_code_cell("\n".join(["# set from outside", *lines]), id="injected-parameters")
    cell.metadata["tags"] = ["injected-parameters"]
    place = _place(book) + 1
    book.cells = [*book.cells[:place], cell, *book.cells[place:]]
    return book


def execute(book: Any, folder: Path, timeout: int = TIMEOUT) -> str:
    """Run every cell in place, in `folder`; return what stopped it, empty when nothing did."""
    nbclient = need("nbclient", "lab")
    client = nbclient.NotebookClient(
        book, timeout=timeout, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        return f"{error.ename}: {error.evalue}"
    except nbclient.exceptions.CellTimeoutError:
        return f"a cell took longer than {timeout} seconds"
    return ""


def to_html(book: Any, title: str) -> str:
    """Return an executed notebook as one HTML page that needs no other file."""
    exporter = need("nbconvert", "lab").HTMLExporter(exclude_input_prompt=True, exclude_output_prompt=True)
    page, _ = exporter.from_notebook_node(_still(book), resources={"metadata": {"name": title}})
    return str(page)


def _still(book: Any) -> Any:
    """Keep a widget's static page alone: a page without a kernel would load a viewer from the network."""
    still = copy.deepcopy(book)
    still.metadata.pop("widgets", None)
    for cell in still.cells:
        for output in cell.get("outputs", []):
            if "text/html" in output.get("data", {}):
                output["data"].pop("application/vnd.jupyter.widget-view+json", None)
    return still


def _place(book: Any) -> int:
    for place, cell in enumerate(book.cells):
        if cell.cell_type == "code" and TAG in cell.metadata.get("tags", []):
            return place
    raise InputError(f"the notebook has no cell tagged {TAG!r}")


def _corpus(path: str | os.PathLike[str] | None) -> Path:
    found = data_folder() / "demo" / "loops.jsonl" if path is None else Path(path).resolve()
    if not found.exists():
        raise InputError(f"{found}: no such file")
    return found
