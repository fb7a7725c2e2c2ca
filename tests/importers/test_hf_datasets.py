"""Hugging Face datasets in and out."""

import json
from pathlib import Path
from typing import Any

import pytest
from places import FIXTURES

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab.importers.formats.hf_datasets import DATASETS, from_datasets, stream_datasets
from driftlab.importers.load import load
from driftlab.importers.parts.health import HealthReport
from driftlab.trace import corpus
from driftlab.trace.datasets import write_dataset
from driftlab.trace.parquet import to_datasets
from driftlab.trace.schema import SignalSpec, Span, Step, Trace

datasets = pytest.importorskip("datasets", reason="datasets is in the extra data")

RICH = Trace(
    id="rich",
    label="stalled",
    label_source="human",
    outcome=False,
    stalls=[Span(1, 2, "repeat", {"why": "x"}), Span(2)],
    signal_specs={"left": SignalSpec("lower", goal=0), "done": SignalSpec()},
    extra={"mapping": {"state": "y"}},
    steps=[
        Step(tool="ls", args={"k": [1, {"b": None}]}, signals={"left": 3.0, "done": None}, tokens=4, seconds=0.5),
        Step(state="", error=True, event="user", node="main"),
        Step(args="text", output="", signals={}, extra={"z": 1}),
    ],
)


def corpus_of_everything() -> list[Trace]:
    return [RICH, *load(FIXTURES)[0]]


def test_datasets_give_back_what_went_in() -> None:
    assert list(from_datasets(to_datasets(corpus_of_everything()))) == corpus_of_everything()


def test_a_dataset_on_disk_gives_back_what_went_in(tmp_path: Path) -> None:
    to_datasets(corpus_of_everything()).save_to_disk(str(tmp_path / "set"))
    assert list(from_datasets(datasets.load_from_disk(str(tmp_path / "set")))) == corpus_of_everything()


def test_the_folder_loads_as_a_dataset_and_as_a_corpus(tmp_path: Path) -> None:
    path = write_dataset(corpus_of_everything(), tmp_path / "out", title="Parcels", license="mit")
    assert list(corpus.read(path)) == corpus_of_everything()
    loaded = datasets.load_dataset(str(tmp_path / "out"), split="train", cache_dir=str(tmp_path / "cache"))
    assert list(from_datasets(loaded)) == corpus_of_everything()
    text = (tmp_path / "out" / "README.md").read_text()
    assert text.startswith("---\nlicense: mit\n")
    assert "# Parcels" in text
    assert "Labels came from: human" in text


def test_mapping_over_rows_keeps_traces_whole() -> None:
    made = to_datasets([RICH]).map(lambda row: {"task": "code"})
    assert from_datasets(made)[0].task == "code"
    assert from_datasets(made)[0].steps == RICH.steps


CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "/srv"}'}}
ROWS: dict[str, dict[str, Any]] = {
    "nebius/SWE-agent-trajectories": {
        "instance_id": "lamp-1",
        "model_name": "m-small",
        "target": True,
        "trajectory": [
            {"role": "system", "system_prompt": "be brief", "text": None, "mask": False, "cutoff_date": "1"},
            {"role": "user", "system_prompt": None, "text": "fix the lamp", "mask": False, "cutoff_date": None},
            {"role": "ai", "system_prompt": None, "text": "look\n```\nls /srv\n```", "mask": True, "cutoff_date": None},
            {"role": "user", "system_prompt": None, "text": "a b", "mask": False, "cutoff_date": None},
        ],
    },
    "SWE-Gym/OpenHands-Sampled-Trajectories": {
        "instance_id": "lamp-1",
        "run_id": "r1",
        "resolved": True,
        "messages": [
            {"role": "user", "content": "fix", "tool_calls": None, "tool_call_id": None, "name": None},
            {"role": "assistant", "content": "look", "tool_calls": [CALL], "tool_call_id": None, "name": None},
            {"role": "tool", "content": "a b", "tool_calls": None, "tool_call_id": "c1", "name": "ls"},
        ],
    },
    "SWE-bench/SWE-smith-trajectories": {
        "instance_id": "lamp-1",
        "traj_id": "r1",
        "model": "m-small",
        "resolved": True,
        "messages": json.dumps(
            [
                {"role": "user", "content": "fix"},
                {"role": "assistant", "content": "look\n<function=ls>\n<parameter=path>/srv</parameter>\n</function>"},
                {"role": "user", "content": "a b"},
            ]
        ),
    },
    "THUDM/AgentInstruct": {
        "id": "os_1",
        "conversations": [
            {"from": "human", "loss": None, "value": "fix"},
            {"from": "gpt", "loss": True, "value": "look\n```bash\nls /srv\n```"},
            {"from": "human", "loss": None, "value": "a b"},
        ],
    },
}


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_preset(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def fake(path: str, split: str) -> Any:
        asked.append((path, split))
        return datasets.Dataset.from_list([ROWS[name]] * 2)

    monkeypatch.setattr(datasets, "load_dataset", fake)
    found = from_datasets(name)
    assert asked == [(name, DATASETS[name].split)]
    assert len(found) == 2
    for trace in found:
        (step,) = trace.steps
        assert (step.state, step.tool, step.output) == ("look", "ls", "a b")
        assert step.args in ("/srv", {"path": "/srv"})
        assert trace.problem in ("lamp-1", None)
        assert trace.outcome in (True, None)


def test_columns_by_hand() -> None:
    row = {"talk": ROWS["SWE-Gym/OpenHands-Sampled-Trajectories"]["messages"], "won": 1, "who": "m", "nr": 7}
    columns = {"messages": "talk", "outcome": "won", "agent": "who", "id": "nr"}
    (trace,) = from_datasets([row], columns=columns)
    assert (trace.id, trace.outcome, trace.agent, trace.steps[0].output) == ("7", True, "m", "a b")


def test_errors_name_the_column_and_the_remedy() -> None:
    with pytest.raises(InputError, match="unknown field 'message'; did you mean 'messages'"):
        from_datasets([{}], columns={"message": "x"})
    with pytest.raises(InputError, match="row 0: has no column 'talk'; it has: text"):
        from_datasets([{"text": "x"}], columns={"messages": "talk"})
    with pytest.raises(InputError, match=r"row 0: holds no conversation; name its column"):
        from_datasets([{"text": "x"}])
    with pytest.raises(InputError, match="unknown style"):
        from_datasets([{}], style="xml")


def test_rows_that_cannot_be_read_are_listed() -> None:
    health = HealthReport()
    good = {"messages": ROWS["SWE-Gym/OpenHands-Sampled-Trajectories"]["messages"]}
    found = list(stream_datasets([{"x": 1}, good, good], health=health))
    assert (len(found), health.n_problems, health.traces) == (2, 1, 2)
    with pytest.warns(DriftlabWarning, match="row 0"):
        health.warn()


def test_an_iterable_dataset_is_read_row_by_row() -> None:
    made = to_datasets([RICH]).to_iterable_dataset()
    assert list(stream_datasets(made)) == [RICH]


def test_a_corpus_goes_to_a_dataset_and_back() -> None:
    pytest.importorskip("datasets", reason="the extra `data` is not installed")
    corpus_ = corpus.Corpus([Trace(id="a", label="good", steps=[Step(tool="ls", args={"k": [1]}, output="x")])])
    assert from_datasets(corpus_.to_datasets()).traces == corpus_.traces
