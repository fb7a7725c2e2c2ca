"""Three questions, three tables."""

import math

import numpy as np
import pytest
from places import SHARED, needs_shared
from sklearn.metrics import roc_auc_score

import driftlab as dl
from benchmarks._questions import ask, people, relabelled
from driftlab._util.errors import InputError
from driftlab.metrics.measurements import measure
from driftlab.trace.schema import Span, Step, Trace


def run(n, outcome, label=None, states="abcdef"):
    stalls = [Span(1)] if label == "stalled" else []
    return Trace(id=str(n), outcome=outcome, label=label, stalls=stalls, steps=[Step(state=s) for s in states])


def test_failure_is_asked_of_outcomes_not_of_labels():
    runs = [run(n, n >= 30, "good" if n < 30 else "stalled") for n in range(60)]
    found = ask("failure", runs, ["exact"], patience=[1], decay=[], draws=50)
    labels = found.evaluations[""].labels
    assert labels.stalled.tolist() == [True] * 30 + [False] * 30
    assert (labels.onset[labels.stalled] == 0).all()


def test_a_run_without_an_outcome_is_in_neither_class():
    assert relabelled(run(0, None, "stalled"), "failure", 6).label is None
    assert relabelled(run(0, False), "failure", 0).label is None  # no step to fail at


def test_failed_runs_count_as_good_only_when_asked():
    failed = run(0, False)
    assert relabelled(failed, "stall", 6).label is None
    assert relabelled(failed, "stall, failed runs as good", 6).label == "good"
    assert relabelled(run(0, False, "stalled"), "stall, failed runs as good", 6).label == "stalled"


def test_numbers_and_text_answer_alike():
    runs = [run(n, n % 2 == 0, states="aaabbb" if n % 2 else "abcdef") for n in range(60)]
    from driftlab.metrics.column import Event

    numbers = measure(runs, ["exact", Event()])
    one, two = (ask("failure", each, ["exact"], patience=[1], decay=[], draws=50).best() for each in (runs, numbers))
    assert one["auc"].equals(two["auc"])


def test_the_signal_that_made_the_outcome_is_hidden():
    runs = [run(n, n % 2 == 0) for n in range(4)]
    runs = [t.replace(steps=tuple(Step.of(state=s.state, reward=1.0) for s in t.steps)) for t in runs]
    found = ask("failure", runs, ["signal"], patience=[1], decay=[], draws=10, outcome_source="signal:reward")
    assert found.cells[0].verdict == "circular: signal 'reward' made the label"


def test_an_unknown_question_is_named():
    with pytest.raises(InputError, match="unknown question 'success'"):
        ask("success", [], ["exact"])


def test_people_are_asked_of_pairs_of_steps():
    random = np.random.default_rng(0)
    traces = [run(n, None, states="".join(random.choice(list("abc"), 12))) for n in range(8)]
    said = [
        {"id": t.id, "step": k, "relation": "Repetition" if random.random() < 0.3 else "Follow-up"}
        for t in traces
        for k in range(1, 12)
    ]
    table = people(traces, said, ["exact"], draws=50)
    places = {t.id: t for t in traces}
    same = [places[row["id"]].steps[row["step"]] == places[row["id"]].steps[row["step"] - 1] for row in said]
    expected = roc_auc_score([row["relation"] == "Repetition" for row in said], same)
    assert table.auc[0] == pytest.approx(expected)
    assert table.auc_low[0] < expected < table.auc_high[0]
    assert (table.n_pairs[0], table.traces[0]) == (88, 8)


def test_one_relation_only_is_undefined_with_its_counts():
    table = people([run(0, None)], [{"id": "0", "step": 1, "relation": "Follow-up"}], ["exact"])
    assert math.isnan(table.auc[0])
    assert (table.n_pairs[0], table.n_positive[0]) == (1, 0)


def test_steps_without_the_view_are_counted_and_left_out():
    said = [{"id": "0", "step": k, "relation": r} for k, r in ((1, "Repetition"), (2, "Follow-up"))]
    assert people([run(0, None)], said, ["exact(view='action')"]).n_unknown.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("label", "words"),
    [({"id": "z", "step": 1}, "trace 'z', which is not"), ({"id": "0", "step": 6}, "which has 6 steps")],
)
def test_labels_of_what_is_not_there_are_told(label, words):
    with pytest.raises(InputError, match=words):
        people([run(0, None)], [label | {"relation": "Repetition"}], ["exact"])


@needs_shared
def test_exact_repeats_agree_with_the_study_as_published():
    import gzip
    import json

    corpus = dl.read(SHARED / "corpora" / "llm_agents_study.jsonl.gz")
    with gzip.open(SHARED / "corpora" / "llm_agents_study_pairs.jsonl.gz") as file:
        said = [json.loads(line) for line in file]
    table = people(corpus, said, ["exact(view='action')"], draws=50).set_index("agent")
    published = {"(all)": 0.791, "autocoderover": 1.0, "openhands": 0.517, "repairagent": 0.862}
    assert {agent: round(table.auc[agent], 3) for agent in published} == published
    assert (table.n_pairs["(all)"], table.n_positive["(all)"]) == (1648, 122)
