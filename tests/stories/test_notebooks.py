"""The notebooks are a book: rules for their form, and every one of them runs."""

import ast
import re
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from places import ROOT, SHARED, needs_shared

nbformat = pytest.importorskip("nbformat", reason="needs the extra `lab`")

import driftlab as dl  # noqa: E402
from driftlab._util.errors import InputError  # noqa: E402
from driftlab.lab.execute import find_notebook, parameters_of, run_notebook, with_parameters  # noqa: E402
from driftlab.lab.labeller import Session  # noqa: E402

pytestmark = pytest.mark.slow

BOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CORPUS = SHARED / "corpora" / "intercode_gpt.jsonl.gz"
LOGS = SHARED / "formats" / "swe_agent"
QUICK = {"METRICS": ["exact(view='call')"]}
ENDING = ["What we learned", "What can fool you", "Next"]
SMALL: dict[str, dict[str, Any]] = {
    "04": {"METRICS": ["exact", "levenshtein", "signal"], "PATIENCE": [1, 3], "DECAY": [0.8], "DRAWS": 50},
    "05": {"METRICS": ["exact", "levenshtein", "signal"], "PATIENCE": [3], "DECAY": [0.8], "REPEATS": 1},
}


@pytest.fixture(params=BOOKS, ids=lambda path: path.stem)
def book(request: pytest.FixtureRequest) -> Any:
    return nbformat.read(request.param, as_version=nbformat.NO_CONVERT)


def code(book: Any) -> list[Any]:
    return [cell for cell in book.cells if cell.cell_type == "code"]


def prose(book: Any) -> str:
    return "\n\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")


def test_there_are_six_and_each_points_to_the_next() -> None:
    assert [path.stem[:2] for path in BOOKS] == [f"0{n}" for n in range(1, 7)]
    for path, following in pairwise(BOOKS):
        last = nbformat.read(path, as_version=4).cells[-1].source
        assert f"({following.name})" in last.partition("## Next")[2]


def test_format_and_kernel(book: Any) -> None:
    nbformat.validate(book)
    assert (book.nbformat, book.nbformat_minor) == (4, 5)
    assert book.metadata.kernelspec.name == "python3"
    assert len({cell.id for cell in book.cells}) == len(book.cells)


def test_outputs_are_stripped(book: Any) -> None:
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code(book))


def test_the_first_code_cell_holds_the_parameters(book: Any) -> None:
    first = code(book)[0]
    assert first.metadata.tags == ["parameters"]
    assert {"CORPUS", "OUTPUT"} <= set(parameters_of(book))
    assert all(isinstance(node, ast.Assign) for node in ast.parse(first.source).body)


def test_at_least_half_is_prose(book: Any) -> None:
    cells = code(book)
    assert len(prose(book)) >= sum(len(cell.source) for cell in cells)
    assert len(cells) <= 0.62 * len(book.cells)
    assert median(len([line for line in cell.source.splitlines() if line.strip()]) for cell in cells) <= 6


def test_no_function_is_defined(book: Any) -> None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for cell in code(book):
        assert not [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, kinds)], cell.id


def test_opens_with_a_question_and_ends_with_what_it_was_good_for(book: Any) -> None:
    title, _, opening = book.cells[0].source.partition("\n")
    assert re.match(r"# 0\d · .*\?$", title)
    assert "?**" in opening
    heads = re.findall(r"^## (.*)$", prose(book), re.MULTILINE)
    assert heads[-3:] == ENDING


def test_every_link_leads_somewhere(book: Any) -> None:
    for target in re.findall(r"\]\(([\w.]+\.ipynb)\)", prose(book)):
        assert (ROOT / "notebooks" / target).exists(), target


@pytest.mark.parametrize("number", ["01", "04"])  # all six: make notebooks
def test_the_page_of_a_run_needs_nothing_else(number: str, tmp_path: Path) -> None:
    text = run_notebook(number, output=tmp_path, timeout=300, **SMALL.get(number, {})).read_text()
    assert "Traceback" not in text
    assert "widget-view" not in text
    assert ("driftlab-label" if number == "01" else "image/png") in text


@needs_shared
@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_runs_on_a_real_corpus(path: Path, tmp_path: Path) -> None:
    run_notebook(path.stem, corpus=CORPUS, output=tmp_path, timeout=300, **SMALL.get(path.stem[:2], {}))


@pytest.mark.skipif(not LOGS.exists(), reason="../shared is not here")
def test_the_road_from_logs_to_a_rule(tmp_path: Path) -> None:
    """A newcomer's way through the notebooks: logs, labels, a ROC figure, a rule, however few runs there are."""
    run_notebook("01", output=tmp_path, LOGS=str(LOGS))
    traces = dl.read(tmp_path / "labelled.jsonl")
    session = Session(traces, tmp_path / "labels.jsonl", annotator="me")
    for key in "gsg"[: len(traces)]:
        session.press(key)
        session.press("Enter")
    dl.Corpus(tuple(session.store.apply(traces, "me"))).write(tmp_path / "labelled.jsonl")
    quick = {"04": QUICK, "05": QUICK}
    for number in ("04", "05", "06"):
        run_notebook(number, corpus=tmp_path / "labelled.jsonl", output=tmp_path, **quick.get(number, {}))
    assert dl.Policy.load(tmp_path / "rule.toml").rules[0].watch_only


def test_a_failing_cell_is_in_the_page_and_in_the_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"id": "a"}\n')
    with pytest.raises(InputError, match=r"02_five_metrics stopped: .*steps"):
        run_notebook("02", corpus=broken, output=tmp_path)
    assert "InputError" in (tmp_path / "02_five_metrics.html").read_text()


def test_unknown_names_are_told() -> None:
    with pytest.raises(InputError, match=r"no notebook '77'; there are: 01_what_is_a_stall, 02"):
        find_notebook("77")
    with pytest.raises(InputError, match=r"several notebooks start with '0'"):
        find_notebook("0")
    with pytest.raises(InputError, match=r"no parameter PATIENSE; did you mean PATIENCE\? known: CORPUS"):
        with_parameters(nbformat.read(BOOKS[3], as_version=4), {"PATIENSE": 3})
    with pytest.raises(InputError, match=r"nothing.jsonl: no such file"):
        run_notebook("01", corpus="nothing.jsonl")


def test_parameters_come_after_the_cell_that_declares_them() -> None:
    book = with_parameters(nbformat.read(BOOKS[3], as_version=4), {"LIMIT": 0.1})
    place = [cell.metadata.get("tags", []) for cell in book.cells].index(["parameters"])
    assert "LIMIT = 0.1" in book.cells[place + 1].source
    nbformat.validate(book)
