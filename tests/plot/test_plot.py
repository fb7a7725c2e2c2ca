"""Figures show the numbers they are made from, say the finding, leave nothing behind."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from figure_data import loops
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle

from driftlab import plot
from driftlab._util.errors import InputError
from driftlab._util.wording import share_text
from driftlab.evaluation.bands import GRID, extremes, placebo_band, roc_band, roc_draws, values_at
from driftlab.metrics.measurements import measure
from driftlab.rules.policy import StopRule
from driftlab.trace.schema import Step, Trace
from driftlab.tuning.advice import cost_curve
from driftlab.tuning.naming import best_of, cell_name, cell_names, leader, of_metric
from driftlab.tuning.objective import Price
from driftlab.tuning.sweep import Sweep, sweep

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def found() -> Sweep:
    traces = loops("code") + loops("sql", seed=1) + loops("tiny", problems=3)
    return sweep(traces, ["exact", "levenshtein", "signal"], patience=[1, 2, 3, 14], decay=[0.8], draws=200)


@pytest.fixture(scope="module")
def good_only() -> Sweep:
    return sweep([trace for trace in loops() if trace.label == "good"], ["exact"], draws=50)


@pytest.fixture(autouse=True)
def nothing_stays():
    before = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == before


def titles(axes) -> list[str]:
    return [" ".join(ax.get_title(loc="left").replace("\u00a0", " ").split()) for ax in np.ravel(axes)]


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def area(line) -> float:
    return float(under(np.asarray(line.get_xdata()), np.asarray(line.get_ydata())))


def under(x, y):
    """Area under a curve, over the first axis."""
    return np.tensordot(np.diff(x), (y[1:] + y[:-1]) / 2, axes=(0, 0))


class TestRoc:
    def test_one_panel_a_task_that_can_be_ranked_and_a_caption_for_the_others(self, found):
        axes = plot.roc(found, by="metric", col="task")
        assert len(axes) == 2
        assert axes[0].figure.get_supxlabel() == "not drawn – tiny: 3 good traces, 20 needed"

    def test_the_area_under_each_line_is_the_area_of_its_cell(self, found):
        for ax, task in zip(plot.roc(found), ("code", "sql"), strict=True):
            cells = sorted(best_of(found, task), key=lambda cell: -cell.ranked.auc)
            drawn = [area(line) for line in ax.lines if len(line.get_xdata()) > 2]
            wanted = [cell.ranked.auc for cell in cells if cell.metric != "steps"]
            assert drawn == pytest.approx(wanted, abs=1e-9)

    def test_title_and_legend_say_the_leader_with_its_interval_and_every_control(self, found):
        ax = plot.roc(found)[0]
        best = leader(best_of(found, "code"))
        low, high = best.ranked.interval()
        assert (
            f"code: {cell_name(best)} tells stalls best, AUC {best.ranked.auc:.2f} [{low:.2f}, {high:.2f}]"
            in titles(ax)[0]
        )
        assert [text.split()[0] for text in legend(ax)[-3:]] == ["placebo", "steps", "setup"]

    def test_placebo_area_and_band_of_the_leader_are_drawn_in(self, found):
        with_bands, without = plot.roc(found)[0], plot.roc(found, bands=False)[0]
        kinds = [len([c for c in ax.collections if isinstance(c, PolyCollection)]) for ax in (with_bands, without)]
        assert kinds == [2, 1]

    def test_one_line_an_accumulator(self, found):
        ax = plot.roc(found, by="accumulator", metric="exact")[0]
        assert [text.split()[0] for text in legend(ax)][:4] == ["run(1)", "run(2)", "run(3)", "ewma(0.8)"]
        assert "run(14): unreachable" in legend(ax)

    def test_nothing_better_than_the_controls_is_said_in_the_title(self):
        traces = [
            trace.replace(steps=trace.steps[:6] * 2) if trace.label == "good" else trace for trace in loops(onset=1)
        ]
        still = [trace.replace(steps=[Step(state="x")] * 14) for trace in traces]
        assert "code: nothing tells stalls from good work" in titles(plot.roc(sweep(still, ["exact"], draws=50)))[0]

    def test_given_axes_are_drawn_on_and_counted(self, found):
        _, axes = plt.subplots(1, 2)
        assert list(plot.roc(found, axes=axes)) == list(axes)
        with pytest.raises(InputError, match="2 panels, got 1 axes"):
            plot.roc(found, axes=axes[:1])

    def test_unknown_words_are_named(self, found):
        with pytest.raises(InputError, match="by must be 'metric' or 'accumulator'"):
            plot.roc(found, by="colour")


class TestBands:
    def test_a_band_holds_the_curve_and_leaves_with_few_problems(self, found):
        evaluation, cell = found.evaluations["code"], leader(best_of(found, "code"))
        band = roc_band(evaluation, cell.scores)
        share, recall = evaluation.ranking.roc(cell.scores, evaluation.measurements.offsets)
        inside = np.interp(band.grid, share, recall)
        assert np.mean((band.low <= inside + 0.05) & (inside - 0.05 <= band.high)) > 0.95
        assert (band.low <= band.high).all()
        few = sweep(loops(problems=22), ["exact"], patience=[1], decay=[], draws=50)
        assert len(roc_band(few.evaluations["code"], few.cells[0].scores).grid) == 0

    def test_draws_have_the_areas_of_the_interval(self, found):
        evaluation, cell = found.evaluations["code"], leader(best_of(found, "code"))
        areas = under(GRID, roc_draws(evaluation, cell.scores, draws=200))
        assert areas == pytest.approx(cell.ranked.draws[:200], abs=0.02)  # the grid cuts corners of jumps

    def test_noise_lies_around_the_diagonal(self, found):
        band = placebo_band(found.evaluations["code"])
        assert np.mean((band.low <= band.grid) & (band.grid <= band.high)) > 0.9


class TestMaxima:
    def test_weights_sum_to_the_stalled_traces_and_give_the_area(self, found):
        evaluation, cell = found.evaluations["code"], leader(best_of(found, "code"))
        got = extremes(evaluation.ranking, cell.scores, evaluation.measurements.offsets)
        assert got.weight.sum() == pytest.approx(len(got.stalled)) == evaluation.ranking.n_stalled
        above = (got.stalled[:, None] > got.good) + 0.5 * (got.stalled[:, None] == got.good)
        assert np.average(above.mean(axis=0), weights=got.weight) == pytest.approx(cell.ranked.auc)

    def test_rates_between_observed_scores_are_those_of_the_next_one(self, found):
        curve = found.cells[0].curve
        between = (curve.thresholds[:-1] + curve.thresholds[1:]) / 2
        assert values_at(curve, "recall", between).tolist() == curve.recall[1:].tolist()
        assert values_at(curve, "false_stop_rate", np.array([1.1])).tolist() == [0.0]
        assert np.isnan(values_at(curve, "precision", np.array([1.1]))).all()


class TestOperatingPoints:
    def test_precision_and_recall_are_the_points_of_the_curve(self, found):
        ax = plot.pr(found)[0]
        best = max((c for c in best_of(found, "code") if c.metric != "steps"), key=lambda c: c.ranked.auc)
        line = ax.lines[0]
        points = set(zip(best.curve.recall.tolist(), best.curve.precision.tolist(), strict=True))
        assert set(zip(line.get_xdata(), line.get_ydata(), strict=True)) <= points
        assert "prevalence 0.50: 30 stalled, 30 good" in legend(ax)
        assert any(text.startswith("steps") for text in legend(ax))

    @pytest.mark.parametrize("value", ["delay", "saved"])
    def test_amoc_title_holds_what_the_ringed_point_achieves(self, found, value):
        ax = plot.amoc(found, value=value)[0]
        assert "within 5% false stops on these traces" in titles(ax)[0]
        shares = [
            share_text(float(c.curve.saved[c.curve.thresholds == c.curve.at_limit(0.05)].max(initial=0)))
            for c in best_of(found, "code")
        ]
        assert value == "delay" or any(f"saves {share}" in titles(ax)[0] for share in shares)

    def test_an_unknown_value_is_named(self, found):
        with pytest.raises(InputError, match="'delay' or 'saved', got 'cost'"):
            plot.amoc(found, value="cost")


class TestHeatmap:
    def test_colours_are_the_rates_and_hatches_where_no_score_gets(self, found):
        cells = of_metric(found, "code", "levenshtein")
        ax = plot.heatmap(found, task="code", metric="levenshtein", value="recall")
        shown = ax.images[0].get_array()
        assert shown.shape == (len(cells), 20)
        for row, cell in zip(shown, cells, strict=True):
            reached = np.arange(1, 21) / 20 <= cell.curve.thresholds.max(initial=0.0)
            assert row[reached].tolist() == values_at(cell.curve, "recall", np.arange(1, 21) / 20)[reached].tolist()
            assert np.ma.getmaskarray(row).tolist() == (~reached).tolist()
        hatched = [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch.get_hatch()]
        assert len(hatched) == np.ma.getmaskarray(shown).sum() > 0

    def test_the_chosen_cell_is_marked(self, found):
        rule = StopRule("plateau(levenshtein, run(2))", 0.9)
        ax = plot.heatmap(found, task="code", metric="levenshtein", rule=rule)
        marked = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_linewidth() > 2]
        assert [(p.get_x() + 0.5, p.get_y() + 0.5) for p in marked] == [(17, 1)]
        assert "the chosen rule" in legend(ax)

    def test_areas_are_written_out_and_unreachable_patience_is_hatched(self, found):
        ax = plot.heatmap(found, task="sql", value="auc")
        texts = [text.get_text() for text in ax.texts]
        assert texts.count("–") == sum(bool(p.get_hatch()) for p in ax.patches) == 3
        best = max(c.ranked.auc for c in found.cells if c.task == "sql" and np.isfinite(c.ranked.auc))
        assert f"AUC {best:.2f}, the best of 12 tried" in titles(ax)[0]

    def test_questions_that_have_no_answer(self, found):
        with pytest.raises(InputError, match="name one task; tasks: code, sql, tiny"):
            plot.heatmap(found)
        with pytest.raises(InputError, match="no metric is called 'jaccard'"):
            plot.heatmap(found, task="code", metric="jaccard")
        with pytest.raises(InputError, match="value must be one of precision"):
            plot.heatmap(found, task="code", value="cost")


class TestOverview:
    def test_every_metric_and_control_has_its_number(self, found):
        ax = plot.overview(found)
        rows = [text.get_text() for text in ax.get_yticklabels()]
        assert rows == ["exact (state)", "levenshtein (state)", "signal (passed)", "steps", "placebo", "setup"]
        best = next(c for c in best_of(found, "code") if c.metric == "exact")
        assert ax.texts[0].get_text() == f"{best.ranked.auc:.2f}"
        assert titles(ax)[0].endswith("tiny cannot be ranked")
        bold = [text for text in ax.texts if text.get_weight() == "bold"]
        assert len(bold) == sum(c.verdict.startswith("beats") for c in found.best_cells())

    def test_equal_short_names_are_written_out(self):
        cells = sweep(loops(problems=2), ["exact", "exact(lag=2)"], patience=[1], decay=[]).cells
        assert cell_names(cells[:2]) == ["exact", "exact(lag=2)"]


class TestScores:
    def test_shares_in_the_title_are_those_of_the_maxima(self, found):
        cell = leader(best_of(found, "code"))
        evaluation = found.evaluations["code"]
        stalled, good = extremes(evaluation.ranking, cell.scores, evaluation.measurements.offsets).shares(0.5)
        title = titles(plot.scores(found, cell, threshold=0.5))[0]
        assert f"{share_text(stalled)} of stalled, {share_text(good)} of good traces reach 0.50" in title


class TestCost:
    PRICE = Price(false_stop=30, wasted_step=1, prevalence=0.1)

    def test_lines_are_what_every_threshold_earns(self, found):
        axes = plot.cost(found, self.PRICE)
        for ax, task in zip(axes, ("code", "sql"), strict=True):
            best = max(cost_curve(c.curve, self.PRICE)["earned"][:-1].max() for c in best_of(found, task))
            metrics = [
                line for line in ax.lines if str(line.get_label()).startswith(("exact", "levenshtein", "signal"))
            ]
            assert max(float(np.max(line.get_ydata())) for line in metrics) == pytest.approx(best)
            assert f"earns at most {best:.2f} a run" in titles(ax)[0]
            assert legend(ax)[-1] == "no rule at all"

    def test_where_nothing_earns_it_says_so(self, found):
        dear = Price(false_stop=1e9, wasted_step=1e-9, prevalence=0.01)
        axes = plot.cost(found, dear)
        assert all("no threshold earns anything" in title or "earns at most 0.00" in title for title in titles(axes))
        nothing = plot.cost(found, Price(0, 0))
        assert all("no threshold earns anything: do not stop" in title for title in titles(nothing))


class TestWaste:
    def test_bars_hold_every_step_once(self):
        rule = StopRule("plateau(exact, run(2))", 1.0)
        measured = measure(loops(), rule.detector.needs)
        axes = plot.waste(rule, measured)
        widths = {
            place: sum(p.get_width() for p in axes[1].patches if round(p.get_y() + p.get_height() / 2) == place)
            for place in (0, 1)
        }
        assert widths == pytest.approx({0: 1.0, 1: 1.0})
        assert "stalls hit, half of the hits within" in titles(axes)[0]

    def test_no_labels_is_said(self):
        rule = StopRule("plateau(exact, run(2))", 1.0)
        ax = plot.waste(rule, measure([Trace(id="a", steps=[Step(state="x")])], rule.detector.needs))[0]
        assert ax.texts[0].get_text() == "no labelled traces: nothing is saved or lost"


class TestWithoutStalls:
    def test_every_figure_says_so(self, good_only):
        said = "code: no stalled traces"
        for axes in (plot.roc(good_only), plot.pr(good_only), plot.amoc(good_only), plot.cost(good_only, Price(1, 1))):
            assert axes[0].texts[0].get_text().endswith(said)
        for ax in (
            plot.heatmap(good_only),
            plot.heatmap(good_only, value="auc"),
            plot.scores(good_only, good_only.cells[0]),
        ):
            assert ax.texts[0].get_text() == said
        assert titles(plot.overview(good_only)) == ["code cannot be ranked"]
        waste = plot.waste(StopRule("plateau(exact, run(2))", 1.0), good_only.evaluations["code"].measurements)
        assert "no stalled traces" in titles(waste)[1]

    def test_false_stops_can_still_be_drawn(self, good_only):
        assert plot.heatmap(good_only, value="false_stop_rate").images


def test_a_circular_metric_has_no_line_but_a_word():
    traces = [trace.replace(label_source="signal:passed") for trace in loops()]
    ax = plot.roc(sweep(traces, ["exact", "signal"], draws=50))[0]
    assert "signal (passed): circular" in legend(ax)
    assert not any("signal" in text for text in legend(ax)[:1])
