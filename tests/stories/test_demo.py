"""The whole story on the data that ships."""

import pytest

import driftlab as dl
from driftlab._util.resources import data_folder
from driftlab.cli.demo import stopped_incident, story

INCIDENT = data_folder() / "demo" / "incident.jsonl"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The folder that the demo wrote, and what it said."""
    folder, said = tmp_path_factory.mktemp("demo"), []
    story(folder, said.append)
    return folder, "\n".join(said)


def test_it_begins_with_the_incident(told):
    assert told[1].startswith("The incident: stopped at step ")
    assert " of 41, because " in told[1]


def test_the_incident_is_stopped_inside_the_stall_not_before():
    trace = dl.read(INCIDENT)[0]
    assert len(trace.steps) == 41
    stopped = int(stopped_incident(trace).split("step ")[1].split()[0])
    assert trace.onset <= stopped < 20


def test_every_metric_and_control_has_a_row(told):
    for name in ("exact", "difflib", "levenshtein", "embedding", "signal", "steps", "placebo", "setup"):
        assert f"  {name}" in told[1], name


def test_the_rules_are_finite_and_replayed_on_unseen_problems(told):
    policy = dl.Policy.load(told[0] / "policy.toml")
    assert [rule.task for rule in policy.rules] == ["code", "sql"]
    assert not any(rule.watch_only for rule in policy.rules)
    assert "Replayed on 83 loops over problems it has not seen" in told[1]


def test_the_rule_that_ships_is_the_one_the_demo_finds(told):
    shipped = dl.Policy.load(data_folder() / "rules" / "demo.toml")
    assert shipped == dl.Policy.load(told[0] / "policy.toml")


def test_report_and_figures_are_there(told):
    names = {path.name for path in told[0].rglob("*")}
    assert {"report.html", "report.md", "table.csv", "roc.png"} <= names
    assert any(name.startswith("heatmap_") for name in names)
