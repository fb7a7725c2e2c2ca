"""Draws the reference figures from the data that ships: python figures/draw.py [--check].

Beside each PNG lies, in data/, what is drawn in it as numbers and words. --check draws everything again and
compares those; pixels differ from one version of matplotlib to the next and say nothing.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import driftlab as dl
from driftlab._util.resources import data_folder
from driftlab.evaluation.agreement import Agreement, agreement
from driftlab.lab.shipped import LIGHT, LIMIT, STUDIED, incident, study
from driftlab.trace.schema import TraceInfo
from driftlab.tuning.objective import Price

HERE = Path(__file__).resolve().parent
DIGITS, CLOSE, MOST = 4, 2e-3, 120  # digits kept; how far a number may be off; points kept of a line
PRICE = Price(false_stop=30, wasted_step=1, prevalence=0.2)
RULE = dl.StopRule("plateau(levenshtein(view='call', lag=6, nearest=True), ewma(0.6))", 0.9)


def figures() -> Iterator[tuple[str, Figure]]:
    """Yield each figure of the reference set with its name."""
    corpus = dl.read(data_folder() / "demo" / "loops.jsonl")
    studied, unseen = corpus.split_by_problem(seed=0, share=STUDIED)
    sweep = study(studied)
    result = dl.calibrate(studied, task="code", max_false_stop=LIMIT, metrics=LIGHT, repeats=0)
    best = next(cell for cell in sweep.cells if cell.task == "code" and cell.detector == result.rule.detector)
    yield "overview", of(dl.plot.overview(sweep))
    yield "roc", of(dl.plot.roc(sweep))
    yield "roc_accumulators", of(dl.plot.roc(sweep, by="accumulator"))
    yield "precision_recall", of(dl.plot.pr(sweep))
    yield "amoc_delay", of(dl.plot.amoc(sweep))
    yield "amoc_saved", of(dl.plot.amoc(sweep, value="saved"))
    yield "cost", of(dl.plot.cost(sweep, PRICE))
    for value in ("saved", "precision", "recall", "false_stop_rate"):
        yield f"heatmap_{value}", of(dl.plot.heatmap(sweep, task="code", value=value, rule=result.rule))
    yield "heatmap_auc", of(dl.plot.heatmap(sweep, task="code", value="auc"))
    yield "scores", of(dl.plot.scores(sweep, best))
    measured = dl.measure([trace for trace in unseen if trace.task == "code"], result.rule.detector.needs)
    yield "waste", of(dl.plot.waste(result.rule, measured))
    yield "strip", of(dl.plot.strip(incident(), RULE))
    yield "similarity", of(dl.plot.similarity(incident()))
    yield "agreement", of(dl.plot.agreement(recorder_and_policy(corpus), names=("recorder", "default policy")))


def recorder_and_policy(corpus: dl.Corpus) -> Agreement:
    """Compare the labels that ship with what the untuned default policy says of the same runs."""
    labelled = corpus.filter(lambda trace: trace.label in ("good", "stalled"))
    alarms, _ = dl.default_policy().alarms(dl.measure(labelled, dl.default_policy().needs))
    said = [
        TraceInfo(id=trace.id, label="stalled", stalls=(dl.Span(int(alarm)),))
        if alarm >= 0
        else TraceInfo(id=trace.id, label="good")
        for trace, alarm in zip(labelled, alarms, strict=True)
    ]
    return agreement([trace.info for trace in labelled], said)


def of(axes: Any) -> Figure:
    """Return the figure of one axes or of several."""
    first: Axes = np.ravel(axes)[0]
    found = first.get_figure(root=True)
    assert found is not None
    return found


def facts(figure: Figure) -> list[dict[str, Any]]:
    """Return what is drawn in a figure, panel by panel, as plain numbers and words."""
    return [panel(ax) for ax in figure.axes if ax.get_label() != "<colorbar>"]


def panel(ax: Axes) -> dict[str, Any]:
    """Return what is drawn in one panel."""
    legend = ax.get_legend()
    shapes = [patch.get_path().transformed(patch.get_patch_transform()).vertices for patch in ax.patches]
    areas = [path.vertices for found in ax.collections for path in found.get_paths()]
    return {
        "title": ax.get_title(loc="left"),
        "axes": [ax.get_xlabel(), ax.get_ylabel()],
        "ticks": [[t.get_text() for t in a.get_ticklabels() if a.get_visible()] for a in (ax.xaxis, ax.yaxis)],
        "legend": [text.get_text() for text in legend.get_texts()] if legend else [],
        "texts": [text.get_text() for text in ax.texts],
        "lines": [{"points": len(line.get_xydata()), "some": plain(some(line.get_xydata()))} for line in ax.lines],
        "shapes": [plain(each) for each in shapes],
        "areas": [plain(each) for each in areas],
        "images": [plain(image.get_array()) for image in ax.images],
    }


def some(points: Any) -> Any:
    """Return at most `MOST` of many points, evenly spread."""
    if len(points) <= MOST:
        return points
    return np.asarray(points)[np.linspace(0, len(points) - 1, MOST).round().astype(int)]


def plain(values: Any) -> Any:
    """Return numbers as nested lists, rounded; what is undefined is null."""
    rounded = np.round(np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan), DIGITS)
    return json.loads(json.dumps(np.where(np.isfinite(rounded), rounded, None).tolist()))


def differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Yield each place where two sets of facts differ by more than rounding."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, f"{where}[{place}]")
    elif isinstance(old, float | int) and isinstance(new, float | int):
        if abs(old - new) > CLOSE * max(1.0, abs(old)):
            yield f"{where}: {old} is now {new}"
    elif old != new:
        yield f"{where}: {short(old)} is now {short(new)}"


def short(value: Any) -> str:
    return repr(value) if len(repr(value)) < 90 else f"{repr(value)[:80]} … ({type(value).__name__})"


def check(name: str, found: list[dict[str, Any]]) -> list[str]:
    """Compare a figure with the facts on disk."""
    path = HERE / "data" / f"{name}.json"
    if not path.exists() or not (HERE / f"{name}.png").exists():
        return [f"{name}: is not there; run make figures"]
    return [f"{name}{each}" for each in differences(json.loads(path.read_text()), found)]


def write(name: str, figure: Figure, found: list[dict[str, Any]]) -> None:
    """Write a figure and its facts."""
    (HERE / "data").mkdir(exist_ok=True)
    (HERE / "data" / f"{name}.json").write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
    figure.savefig(HERE / f"{name}.png", dpi=110, metadata={"Software": None})


def main() -> int:
    """Draw or check every figure; 1 when a check finds something."""
    parser = argparse.ArgumentParser(description="Draw the reference figures, or check them by their data.")
    parser.add_argument("--check", action="store_true", help="compare with what is there, write nothing")
    only_check, problems, names = parser.parse_args().check, [], []
    for name, figure in figures():
        figure.canvas.draw()
        found = facts(figure)
        problems += check(name, found) if only_check else []
        if not only_check:
            write(name, figure, found)
        names.append(name)
        plt.close(figure)
    strange = {path.stem for path in HERE.glob("*.png")} - set(names)
    problems += [f"{name}: nothing draws this figure any more" for name in sorted(strange)]
    print("\n".join(problems) or f"{len(names)} figures {'as they were' if only_check else 'drawn'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
