"""The path from real labelled traces to a table, a report and a rule, where the shared corpora are present."""

import numpy as np
import pytest
from commands import run
from places import SHARED, needs_shared

import driftlab as dl

CORPORA = SHARED / "corpora"
pytestmark = needs_shared
METRICS = ["exact", "difflib", "levenshtein", "levenshtein(view='action')"]


def swept(name, *metrics):
    return dl.sweep(dl.read(CORPORA / f"{name}.jsonl.gz"), [*METRICS, *metrics], draws=400)


def test_intercode_ranks_text_and_hides_the_reward_that_made_its_labels():
    found = swept("intercode_gpt", "signal")
    table = found.best()
    sql = table[table.task == "sql"].set_index(["metric", "view"])
    assert sql.loc[("levenshtein", "action"), "auc"] == pytest.approx(0.78, abs=0.02)
    assert sql.loc[("levenshtein", "action"), "verdict"] == "beats steps and placebo; not explained by setup"
    assert sql.loc[("steps", ""), "auc"] == 0.5
    assert sql.loc[("steps", ""), "auc_trace"] > 0.95
    assert sql.loc[("setup", ""), "auc"] > 0.6
    reward = table[table.metric == "signal"]
    assert set(reward.verdict) == {"circular: signal 'reward' made the label"}
    assert reward.auc.isna().all()
    assert "signal 'reward' made the labels: hidden from every detector" in found.notes
    assert any("setup alone ranks" in note for note in found.notes)


def test_the_agents_study_has_few_stalls_and_wide_intervals():
    found = swept("llm_agents_study")
    rows = found.table(rows=None)
    action = rows[(rows.view == "action") & (rows.accumulator == "run(3)")].iloc[0]
    assert (action.n_stalled, action.auc > 0.9) == (7, True)
    assert action.auc_high - action.auc_low > 0.15


def test_support_runs_are_good_only_a_table_of_nan_and_counts():
    found = swept("tau_support")
    table = found.table(rows=None)
    assert set(table.verdict) == {"undefined: no stalled traces"}
    assert table.auc.isna().all()
    assert table.recall.isna().all()
    assert (table.false_stop_rate <= 0.05).all()
    counts = {task: int(evaluation.labels.good.sum()) for task, evaluation in found.evaluations.items()}
    assert counts == {"support-airline": 84, "support-retail": 73}


def test_inspect_counts_the_error_histories():
    shown = run("inspect", CORPORA / "loopgain_errors.jsonl.gz").stdout
    assert "traces     888, 17760 steps" in shown
    assert "error: lower" in shown


@pytest.mark.parametrize("name", ["intercode_gpt", "llm_agents_study", "tau_support"])
def test_sweep_from_the_command_line(name, tmp_path):
    found = run("sweep", CORPORA / f"{name}.jsonl.gz", "-o", tmp_path, "-m", "exact", "-m", "levenshtein")
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_a_rule_for_sql_is_finite_and_keeps_its_limit_where_it_was_certified():
    corpus = dl.read(CORPORA / "intercode_gpt.jsonl.gz")
    found = dl.calibrate(corpus, task="sql", metrics=METRICS, max_false_stop=0.05)
    assert np.isfinite(found.rule.threshold)
    assert found.tally.saved > 0.1
    assert found.tally.false_stop_rate < 0.1
