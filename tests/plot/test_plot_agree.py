"""The agreement figure says what the numbers say."""

import matplotlib.pyplot as plt
import pytest

import driftlab as dl
from driftlab.evaluation.agreement import agreement


@pytest.fixture(autouse=True)
def _closed():
    """Leave no figure open."""
    yield
    plt.close("all")


ANN = {"a": "good", "b": "stalled", "c": "unsure", "d": "good"}
BO = {"a": "good", "b": "good", "c": "unsure", "d": "good", "e": "good"}


def test_counts_stand_where_the_labels_met():
    ax = dl.plot.agreement(agreement(ANN, BO), names=("ann", "bo"))
    shown = {(int(text.get_position()[1]), int(text.get_position()[0])): text.get_text() for text in ax.texts}
    labels = [tick.get_text() for tick in ax.get_xticklabels()]
    assert labels == ["good", "unsure", "stalled"]
    assert (shown[0, 0], shown[1, 1], shown[2, 0], shown[0, 2]) == ("2", "1", "1", "0")
    assert "ann and bo agree on 75% of 4 traces" in ax.get_title(loc="left").replace("\n", " ")


def test_nobody_in_common_is_said_not_drawn():
    ax = dl.plot.agreement(agreement({"a": "good"}, {"b": "good"}))
    assert "no trace in common" in ax.texts[0].get_text()
