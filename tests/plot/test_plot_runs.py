"""Figures of single runs."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from driftlab import plot
from driftlab._util.errors import InputError
from driftlab.rules.policy import StopRule
from driftlab.trace.schema import Span, Step, Trace

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def nothing_stays():
    yield
    plt.close("all")


def titles(axes) -> list[str]:
    return [" ".join(ax.get_title(loc="left").split()) for ax in np.ravel(axes)]


class TestStrip:
    LOOP = Trace(
        id="run $1", label="stalled", stalls=[Span(2, 5)], steps=[Step.of(state=s, passed=1) for s in "abxxxxx"]
    )

    @pytest.mark.parametrize(
        ("threshold", "said"),
        [
            (1.0, "hit at step 4, 2 steps after the onset"),
            (float("inf"), "missed, no alarm on a run that stalls at step 2"),
        ],
    )
    def test_outcome_in_the_title(self, threshold, said):
        axes = plot.strip(self.LOOP, StopRule("plateau(exact, run(2))", threshold), ["levenshtein"])
        assert titles(axes)[0] == f"run $1: {said}"
        assert len(axes) == 3
        assert len(axes[0].lines) == 2
        axes[0].figure.canvas.draw()

    def test_deltas_and_score_are_the_measured_ones(self):
        axes = plot.strip(self.LOOP, StopRule("plateau(exact, run(2))", 1.0))
        assert axes[0].lines[0].get_ydata().tolist() == [1, 1, 1, 0, 0, 0, 0]
        assert axes[1].lines[0].get_ydata().tolist() == [0, 0, 0, 0, 1, 1, 1]

    def test_runs_without_a_label_signals_or_steps(self):
        rule = StopRule("plateau(exact, run(1))", 1.0)
        assert (
            titles(plot.strip(Trace(id="a", steps=[Step(state="x")] * 2), rule))[0]
            == "a: alarm at step 1 of an unlabelled run"
        )
        assert len(plot.strip(Trace(id="a", label="good", steps=[]), rule)) == 2


class TestSimilarity:
    def test_matrix_is_one_minus_the_delta(self):
        trace = Trace(id="a", steps=[Step(state="abcd"), Step(), Step(state="abcx"), Step(state="abcd")])
        ax = plot.similarity(trace, "levenshtein")
        shown = np.ma.filled(ax.images[0].get_array(), np.nan)
        assert shown[0].tolist() == pytest.approx([1, np.nan, 0.75, 1], nan_ok=True)
        assert np.isnan(shown[1]).all()
        assert titles(ax)[0] == "a: 1 of 3 steps repeats an earlier one, by levenshtein (state)"

    def test_what_cannot_be_compared_is_refused(self):
        with pytest.raises(InputError, match="compares two texts, got signal"):
            plot.similarity(Trace(id="a", steps=[]), "signal")
        with pytest.raises(InputError, match="401 steps, similarity compares at most 400"):
            plot.similarity(Trace(id="a", steps=[Step()] * 401), "exact")
