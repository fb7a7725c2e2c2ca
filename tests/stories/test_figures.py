"""The reference figures show what the code computes today; compared by data, not by pixels."""

import importlib.util
import json
import subprocess
import sys
from typing import Any

import pytest
from places import ROOT

pytest.importorskip("matplotlib", reason="needs the extra `study`")

FIGURES = ROOT / "figures"


@pytest.fixture(scope="module")
def draw() -> Any:
    spec = importlib.util.spec_from_file_location("figures_draw", FIGURES / "draw.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_figure_is_as_it_was() -> None:
    words = [sys.executable, str(FIGURES / "draw.py"), "--check"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"run make figures and look at what changed:\n{done.stdout}{done.stderr}"


def test_each_figure_has_its_data_and_a_finding() -> None:
    names = {path.stem for path in FIGURES.glob("*.png")}
    assert names == {path.stem for path in (FIGURES / "data").glob("*.json")}
    for name in names:
        panels = json.loads((FIGURES / "data" / f"{name}.json").read_text())
        assert len(panels[0]["title"]) > 15, name


def test_a_changed_number_is_found_and_named(draw: Any) -> None:
    old = [{"title": "a", "lines": [{"points": 2, "some": [[0.0, 1.0], [1.0, None]]}]}]
    new = [{"title": "a", "lines": [{"points": 2, "some": [[0.0, 1.0], [1.5, None]]}]}]
    assert list(draw.differences(old, old)) == []
    assert list(draw.differences(old, new)) == ["[0].lines[0].some[1][0]: 1.0 is now 1.5"]


def test_rounding_is_no_change_but_words_and_counts_are(draw: Any) -> None:
    assert list(draw.differences([1.0], [1.0005])) == []
    assert list(draw.differences({"title": "a"}, {"title": "b"})) == [".title: 'a' is now 'b'"]
    assert list(draw.differences([1.0], [1.0, 2.0])) == [": [1.0] is now [1.0, 2.0]"]
    assert list(draw.differences({"a": 1.0}, {})) == [".a: 1.0 is now None"]


def test_facts_hold_every_kind_of_drawing(draw: Any) -> None:
    import matplotlib.pyplot as plt
    import numpy as np

    figure, ax = plt.subplots()
    ax.plot(np.arange(1000), label="line")
    ax.imshow(np.ma.masked_invalid([[0.0, np.nan]]))
    ax.bar([0], [2])
    ax.fill_between([0, 1], [0, 1])
    ax.set_title("a finding", loc="left")
    ax.legend()
    found = draw.facts(figure)[0]
    plt.close(figure)
    assert (found["title"], found["legend"], found["images"]) == ("a finding", ["line"], [[[0.0, None]]])
    assert found["lines"][0]["points"] == 1000
    assert len(found["lines"][0]["some"]) == draw.MOST
    assert found["shapes"]
    assert found["areas"]
