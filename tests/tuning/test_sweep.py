"""The sweep: one pass, every verdict, nothing judged by a label it made."""

import numpy as np
import pandas as pd
import pytest
from studies import drawn, study

from driftlab._util.plain import rows
from driftlab.detectors import first_alarms
from driftlab.evaluation.tally import tally
from driftlab.trace.schema import Span, Step, Trace
from driftlab.tuning.plan import plan
from driftlab.tuning.sweep import sweep

METRIC = ["levenshtein"]


@pytest.fixture(scope="module")
def found():
    return sweep(drawn(0, 40, 60, shift=1.0), METRIC, patience=[1, 2, 9, 10], decay=[0.6], draws=200)


def row(table, **equal):
    for name, value in equal.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_a_patience_beyond_the_horizon_is_unreachable(found):
    assert found.evaluations[""].horizon == 9
    far = row(found.table(None), accumulator="run(10)")
    assert far.verdict == "unreachable: patience 10 > horizon 9"
    assert np.isnan(far.auc)
    assert not row(found.table(None), accumulator="run(9)").verdict.startswith("unreachable")


def test_the_step_counter_is_a_row_that_no_sample_moves(found):
    counter = row(found.table(None), metric="steps")
    assert (counter.auc, counter.auc_low, counter.auc_high) == (0.5, 0.5, 0.5)
    assert counter.verdict == "control: the step counter"


def test_every_table_ends_with_the_controls(found):
    assert found.best()["metric"].tolist() == ["levenshtein", "steps", "placebo", "setup"]
    assert found.best()["tried"].tolist()[0] == 4  # the unreachable one was not among the best of


def test_the_best_of_several_is_judged_more_strictly():
    study_of = drawn(5, 30, 40, shift=0.33)
    made = sweep(study_of, METRIC, patience=range(1, 9), decay=[0.6, 0.8, 0.9], draws=400)
    best = made.best_cells()[0]
    assert best.tried == 11
    assert best.verdict != next(c for c in made.cells if c.detector == best.detector).verdict


def test_the_table_quotes_a_tally_at_its_threshold(found):
    cell = found.cells[0]
    shown = row(found.table(None, max_false_stop=0.2), accumulator=cell.accumulator)
    evaluation = found.evaluations[""]
    expected = tally(first_alarms(cell.scores, evaluation.measurements.offsets, shown.threshold), evaluation.labels)
    assert (shown.recall, shown.saved, shown.false_stop_rate) == (
        expected.recall,
        expected.saved,
        expected.false_stop_rate,
    )
    assert shown.false_stop_rate <= 0.2


def test_the_thresholds_of_a_cell_add_up(found):
    table = found.thresholds(found.cells[0])
    assert (table[["hit", "premature", "late", "miss"]].sum(axis=1) == 40).all()
    assert (table["false_stop"].diff().dropna() <= 0).all()


def test_points_and_controls_hold_one_row_a_best_cell(found):
    points, controls = found.points(prevalence=0.1), found.controls()
    assert len(points) == len(controls) == len(found.best_cells())
    for name in ("recall_low", "attainable", "saved", "false_stops_per_100_high", "precision_at", "n_problems"):
        assert name in points
    for name in (
        "over_steps_low",
        "placebo_high",
        "setup",
        "matched",
        "same_problem",
        "same_setup",
        "landmark",
        "warning",
    ):
        assert name in controls
    assert points.iloc[0].precision_at < points.iloc[0].precision
    assert all(None in each.values() or each for each in rows(points))


def test_numbers_from_tasks_are_never_mixed():
    measured = study([[0.9] * 9] * 10, [[0.1] * 9] * 10, task=["a"] * 5 + ["b"] * 5 + ["a"] * 3 + ["b"] * 7)
    made = sweep(measured, METRIC, patience=[1], decay=[], draws=20)
    assert made.tasks == ("a", "b")
    assert [made.evaluations[task].counts["good"] for task in made.tasks] == [3, 7]


def test_tasks_that_can_be_ranked_come_first():
    task = [*"a" * 5, *"b" * 10, *"a" * 3, *"b" * 25]
    made = sweep(study([[0.9] * 9] * 15, [[0.1] * 9] * 28, task=task), METRIC, patience=[1], decay=[], draws=20)
    assert made.tasks == ("b", "a")
    assert made.best()["task"].tolist() == ["b"] * 4 + ["a"] * 4
    assert made.best()["verdict"].str.startswith("undefined").tolist() == [False] * 4 + [True] * 2 + [False] * 2


def labelled(source):
    loop = [Step.of(state="x", reward=0.0)] * 5
    return [Trace(id=str(n), label="stalled", stalls=[Span(1)], label_source=source, steps=loop) for n in range(3)]


def test_a_signal_that_made_the_label_is_hidden():
    made = sweep(labelled("signal:reward"), ["exact", "signal"], patience=[1], decay=[], draws=20)
    hidden = next(cell for cell in made.cells if cell.metric == "signal")
    assert hidden.verdict == "circular: signal 'reward' made the label"
    assert not hidden.scores.any()
    assert len(hidden.curve.thresholds) == 0
    table = made.table(None)
    assert table[table.metric == "signal"].recall.isna().all()
    assert any("reward" in note and "hidden" in note for note in made.notes)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("rule:plateau(exact, run(3))", "circular: plateau made the label"),
        ("rule:exact", "circular: exact made the label"),
        ("rule:run_length(exact, limit=0.1)", "circular: exact made the label"),
        ("human", "undefined: no good traces"),
    ],
)
def test_a_rule_that_made_the_label_is_marked(source, expected):
    made = sweep(labelled(source), ["exact"], patience=[1], decay=[], draws=20)
    assert made.cells[0].verdict == expected


@pytest.mark.parametrize("unnamed", ["plateau(signal, run(1))", "flat"])
@pytest.mark.parametrize(("source", "hidden"), [("signal:reward", True), ("signal:judge", False)])
def test_a_signal_that_made_the_label_is_hidden_from_what_reads_any_signal(unnamed, source, hidden):
    made = sweep(labelled(source), ["exact"], patience=[1], decay=[], detectors=[unnamed], draws=20)
    found = made.cells[1].verdict
    assert found == ("circular: signal 'reward' made the label" if hidden else "undefined: no good traces")


def test_a_detector_with_nothing_to_read_has_no_numbers():
    silent = ["revisit(exact(view='thought'), run(2))", "tool_entropy", "plateau(exact(view='thought'), run(1))"]
    made = sweep(labelled("human"), ["exact"], patience=[1], decay=[], detectors=silent, draws=20)
    assert [cell.verdict for cell in made.cells[1:4]] == ["absent from this task"] * 3
    assert made.table(None)[lambda table: table.verdict.str.startswith("absent")].recall.isna().all()


def test_stalled_traces_without_a_marked_stall_are_counted():
    bare = [Trace(id="bare", label="stalled", task="code", steps=[Step(state="x")])]
    made = sweep([*labelled("human"), *bare], ["exact"], patience=[1], decay=[], draws=20)
    assert [note for note in made.notes if "no marked stall" in note] == [
        "task 'code': 1 stalled traces have no marked stall and are in no rate"
    ]


def test_without_good_traces_a_point_has_no_rates():
    found = sweep(labelled("human"), ["exact"], patience=[1], decay=[], draws=20).points().iloc[0]
    assert (found.n_stalled, found.n_good) == (3, 0)
    assert np.isnan([found.threshold, found.recall, found.saved, found.miss]).all()


def test_a_rule_that_made_another_label_is_judged():
    asked = plan(labelled("rule:levenshtein"), ["exact"])
    assert asked.rules == {"levenshtein"}
    made = sweep(labelled("rule:levenshtein"), ["exact"], patience=[1], decay=[], draws=20)
    assert made.cells[0].verdict == "undefined: no good traces"


@pytest.mark.parametrize(
    "traces", [[], [Trace(id="a", label="good", steps=[Step(state="x")])], [Trace(id="a", steps=[])]]
)
def test_zero_traces_one_trace_and_no_steps_give_a_sentence(traces):
    made = sweep(traces, ["exact"], patience=[1], decay=[], draws=20)
    assert bool(made.notes) == (not traces)
    assert isinstance(made.table(), pd.DataFrame)
    assert all(cell.verdict.startswith("undefined") for cell in made.cells)
    assert isinstance(made.best(), pd.DataFrame)
    assert isinstance(made.points(), pd.DataFrame)
    assert isinstance(made.controls(), pd.DataFrame)


def test_a_loud_setup_is_noted():
    measured = study([[0.9] * 9] * 30, [[0.1] * 9] * 30, setup=["x"] * 28 + ["y"] * 2 + ["x"] * 2 + ["y"] * 28)
    made = sweep(measured, METRIC, patience=[1], decay=[], draws=50)
    assert any("setup alone ranks at 0.9" in note for note in made.notes)


def test_the_same_seed_gives_the_same_table():
    one, two = (sweep(drawn(3, 30, 30), METRIC, patience=[1, 2], decay=[], draws=100, seed=7).best() for _ in range(2))
    pd.testing.assert_frame_equal(one, two)


def test_the_risk_by_step_is_of_the_quoted_threshold(found):
    cell = found.cells[0]
    table = found.risk(cell, max_false_stop=0.2)
    shown = row(found.table(None, max_false_stop=0.2), accumulator=cell.accumulator)
    assert table.risk.iloc[-1] == pytest.approx(shown.false_stop_rate)  # nobody is censored: all runs are equally long


def test_the_placebo_row_shows_the_band_of_single_draws(found):
    placebo = found.evaluations[""].placebo(found.cells[0].detector)
    shown = row(found.best(), metric="placebo")
    assert (shown.auc_low, shown.auc_high) == placebo.band()
    assert placebo.band()[1] - placebo.band()[0] > placebo.interval()[1] - placebo.interval()[0]


def test_a_progress_bar_changes_nothing():
    one, two = (
        sweep(drawn(3, 30, 30), METRIC, patience=[1, 2], decay=[], draws=100, progress=shown).best()
        for shown in (False, True)
    )
    pd.testing.assert_frame_equal(one, two)


def test_one_metric_may_be_named_without_a_list():
    one = [Trace(id="a", label="good", steps=[Step(state="x")])]
    assert [cell.metric for cell in sweep(one, "exact", patience=[1], decay=[]).cells] == ["exact", "steps"]
