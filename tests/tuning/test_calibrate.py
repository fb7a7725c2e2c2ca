"""Calibration: chosen and certified on different problems, told in words, saved as plain values."""

import math

import numpy as np
import pytest
from studies import drawn, study

from driftlab._util.errors import InputError
from driftlab.monitor.monitor import Monitor
from driftlab.rules.policy import Policy
from driftlab.trace.schema import SignalSpec, Span, Step, Trace
from driftlab.tuning.calibrate import calibrate, halves
from driftlab.tuning.objective import Price

METRIC = ["levenshtein"]


@pytest.fixture(scope="module")
def many():
    return drawn(0, 80, 160, shift=1.5)


def test_no_problem_is_on_both_sides():
    measured = study([[1.0] * 3] * 30, [[0.0] * 3] * 30, problem=[str(n % 20) for n in range(60)])
    first, second = halves(measured, 0.5, 0)
    assert not {i.group for i in first.infos} & {i.group for i in second.infos}
    assert len(first.infos) + len(second.infos) == 60


def test_the_rule_keeps_its_limit_where_it_was_certified(many):
    found = calibrate(many, metrics=METRIC, max_false_stop=0.1, repeats=0)
    assert found.missing == 0
    assert found.tally.false_stop <= math.floor(0.1 * (found.n_good + 1))
    assert found.tally.hit > 0
    assert found.rule.evidence["promise"] == "false-stop rate <= 0.1 on average"
    assert found.nested is None


def test_the_evidence_of_the_certifying_half_does_not_depend_on_the_labels_it_did_not_see(many):
    """Relabelling the stalled half of the certifying problems moves neither detector nor threshold."""
    found = calibrate(many, metrics=METRIC, max_false_stop=0.1, repeats=0, seed=1)
    _, second = halves(many, 0.5, 1)
    unseen = {info.id for info in second.infos if info.label == "stalled"}
    infos = tuple(type(i)(id=i.id) if i.id in unseen else i for i in many.infos)
    blind = calibrate(
        type(many)(infos, many.offsets, many.columns), metrics=METRIC, max_false_stop=0.1, repeats=0, seed=1
    )
    assert (blind.rule.detector, blind.rule.threshold) == (found.rule.detector, found.rule.threshold)


def test_a_larger_limit_never_means_a_higher_threshold_for_one_detector(many):
    limits = [0.05, 0.1, 0.2, 0.4]
    options = {"metrics": METRIC, "patience": [2], "decay": [], "repeats": 0}
    found = [calibrate(many, max_false_stop=limit, objective="recall", **options).rule for limit in limits]
    of_one = [rule.threshold for rule in found if rule.detector == found[0].detector]
    assert of_one == sorted(of_one, reverse=True)


def test_confident_is_stricter_than_mean(many):
    mean, confident = (
        calibrate(many, metrics=METRIC, max_false_stop=0.1, promise=p, repeats=0) for p in ("mean", "confident")
    )
    assert confident.rule.threshold >= mean.rule.threshold
    assert confident.rule.evidence["promise"] == "false-stop rate <= 0.1 with 0.9 confidence"


def test_a_nudge_comes_at_a_lower_threshold_and_the_policy_holds_both(many, tmp_path):
    found = calibrate(many, metrics=METRIC, max_false_stop=0.05, nudge=0.3, repeats=0)
    assert found.nudge.threshold < found.rule.threshold
    assert [rule.action for rule in found.policy.rules] == ["stop", "nudge"]
    found.save(tmp_path / "policy.toml")
    assert Policy.load(tmp_path / "policy.toml").rules == found.policy.rules
    assert "nudge" in str(found)


def test_a_price_chooses_without_a_promise(many):
    found = calibrate(many, metrics=METRIC, max_false_stop=None, objective=Price(5, 1), repeats=1)
    assert found.rule.evidence["promise"] == "none"
    assert "judged" in str(found)
    dear = calibrate(many, metrics=METRIC, max_false_stop=None, objective=Price(1e6, 1), repeats=0)
    assert dear.tally.false_stop <= found.tally.false_stop


def test_choosing_and_certifying_on_the_same_problems_pays_for_every_detector(many):
    found = calibrate(many, metrics=METRIC, max_false_stop=0.1, promise="confident", share=1.0)
    assert found.n_good == 160
    assert found.nested is None
    assert f"paid for by risk / {len(found.candidates)}" in str(found)


def test_choosing_and_certifying_on_the_same_problems_keeps_the_worth_that_was_asked_for(many):
    def few_delays(curve):
        return -np.nan_to_num(curve.mean_delay, nan=99.0)

    options = {"metrics": METRIC, "max_false_stop": 0.1, "promise": "confident", "share": 1.0}
    by_delay, by_recall = (calibrate(many, objective=objective, **options) for objective in (few_delays, "recall"))
    assert by_recall.candidates["recall"].iloc[0] == by_recall.candidates["recall"].max() == by_recall.tally.recall
    assert by_delay.candidates["objective"].iloc[0] == pytest.approx(-by_delay.tally.mean_delay)
    assert by_delay.rule.detector != by_recall.rule.detector
    assert by_delay.candidates["false_stop_rate"].iloc[0] == by_delay.tally.false_stop_rate


@pytest.mark.parametrize("seed", range(6))
def test_a_nudge_never_comes_after_the_stop(seed):
    measured = study([[0.9] * 5] * 20 + [[0.7] * 5] + [[0.95] * 5] * 20, [[0.5] * 5] * 60)
    options = {"metrics": METRIC, "patience": [1], "decay": [], "repeats": 0, "seed": seed}
    found = calibrate(measured, max_false_stop=0.1, nudge=0.2, **options)
    assert found.nudge.threshold <= found.rule.threshold < math.inf


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"promise": "sure"}, "promise must be"),
        ({"share": 1.0}, "share=1.0 needs"),
        ({"nudge": 0.01}, "nudge must lie"),
        ({"task": "sql"}, "no trace has task 'sql'"),
        ({"objective": "luck"}, "unknown objective 'luck'"),
    ],
)
def test_what_cannot_be_asked_for_is_told(many, options, words):
    with pytest.raises(InputError, match=words):
        calibrate(many, metrics=METRIC, repeats=0, **options)


def test_too_few_good_traces_only_watch():
    found = calibrate(drawn(0, 20, 20), metrics=METRIC)
    assert found.rule.watch_only
    assert found.missing == 19 - found.n_good > 0
    assert f"watch only; {found.n_good} good traces of different problems, {found.missing} more needed" in str(found)


def test_a_rule_that_only_watches_can_be_saved(tmp_path):
    found = calibrate(drawn(0, 20, 20), metrics=METRIC)
    found.save(tmp_path / "rule.toml")
    assert Policy.load(tmp_path / "rule.toml").rules[0].threshold == math.inf


def test_the_nested_estimate_is_part_of_the_evidence(many):
    found = calibrate(many, metrics=METRIC, max_false_stop=0.1, repeats=2)
    assert found.rule.evidence["nested_youden"] == pytest.approx(found.nested.youden)
    assert "on new problems" in str(found)


def test_random_state_is_another_word_for_the_seed(many):
    one = calibrate(many, metrics=METRIC, seed=4, repeats=0)
    two = calibrate(many, metrics=METRIC, random_state=4, repeats=0)
    assert one.rule == two.rule


def test_a_signal_that_made_the_label_chooses_nothing():
    def run(n, bad):
        steps = [Step.of(state=f"{n} {t if not bad else 0}", reward=0.0 if bad else float(t)) for t in range(6)]
        label = {"label": "stalled", "stalls": [Span(1)]} if bad else {"label": "good"}
        return Trace(id=f"{n}{bad}", problem=str(n), label_source="signal:reward", steps=steps, **label)

    found = calibrate([run(n, bad) for n in range(45) for bad in (True, False)], metrics=["exact", "signal"], repeats=0)
    assert not any("signal" in each for each in found.candidates["detector"])
    assert found.candidates["detector"].str.startswith("plateau(exact").any()


def test_numbers_and_text_calibrate_alike():
    from driftlab.detectors import needed
    from driftlab.metrics.measurements import measure
    from driftlab.tuning.plan import plan
    from driftlab.tuning.sweep import grid

    work = [Trace(id=f"w{n}", label="good", steps=[Step(state=f"{n} {t}") for t in range(5)]) for n in range(50)]
    loops = [Trace(id=f"l{n}", label="stalled", stalls=[Span(1)], steps=[Step(state="x")] * 5) for n in range(50)]
    runs = work + loops
    asked = plan(runs, ["exact"])
    numbers = calibrate(measure(runs, needed(grid(asked))), metrics=["exact"], repeats=0)
    text = calibrate(runs, metrics=["exact"], repeats=0)
    assert numbers.rule == text.rule
    assert str(numbers.provenance["data"]).startswith("numbers:")
    assert np.isfinite(text.rule.threshold)


def test_the_advice_joins_every_reason(many):
    found = calibrate(many, metrics=METRIC, max_false_stop=0.1, repeats=2)
    assert found.advice("beats steps and placebo; not explained by setup")[0]
    assert not found.advice("not better than steps")[0]
    assert not found.advice(prevalence=0.001)[0]
    deploy, reasons = found.advice(price=Price(1e6, 1))
    assert not deploy
    assert "at 1e+06 a false stop" in reasons[0]


def test_a_lucky_choice_is_not_advised():
    found = calibrate(drawn(0, 30, 60, shift=0.0), metrics=METRIC, max_false_stop=0.1, repeats=2)
    assert not found.advice()[0]
    watching = calibrate(drawn(0, 20, 20), metrics=METRIC, repeats=0)
    assert any("the rule can only watch: " in reason for reason in watching.advice()[1])


def test_what_a_fold_leaves_must_still_certify():
    """Of few good traces five folds leave too few to certify: more folds are made, or nothing is told."""
    few = calibrate(drawn(0, 20, 19, shift=2.0), metrics=METRIC, max_false_stop=0.1, seed=3)
    assert few.n_good < 11
    assert "a fold leaves too few to certify, which takes 9" in str(few)
    watching = calibrate(drawn(0, 20, 10), metrics=METRIC)
    assert "nothing is known: the rule only watches" in str(watching)
    many_folds = calibrate(drawn(0, 30, 44, shift=2.0), metrics=METRIC, max_false_stop=0.05, repeats=1)
    assert many_folds.n_good == 24  # of 5 folds each would leave 19.2
    assert many_folds.nested.table["fold"].max() > 4


def test_without_traces_there_is_nothing_to_calibrate():
    with pytest.raises(InputError, match="there are no traces"):
        calibrate([])


def test_a_risk_is_a_share():
    work = [Trace(id=str(n), label="good", steps=[Step(state=s) for s in "abc"]) for n in range(8)]
    with pytest.raises(InputError, match="risk must be between 0 and 1, got 0"):
        calibrate(work, metrics=["exact"], promise="confident", risk=0)


def test_without_a_stalled_run_no_share_is_made_up():
    work = [Trace(id=str(n), label="good", steps=[Step(state=s) for s in "abc"]) for n in range(8)]
    words = str(calibrate(work, metrics=["exact"]))
    assert "0 of 0 stalls hit, nothing to save, 0 premature\n" in words
    assert "nan" not in words


def test_a_path_is_no_corpus():
    with pytest.raises(InputError, match=r"read a file with dl\.read\(path\)"):
        calibrate("runs.jsonl")


def test_a_saved_calibration_keeps_the_direction_of_its_signal(tmp_path):
    errors = {"e": SignalSpec("lower")}

    def run(name, label, values, **fields):
        steps = [Step.of(signals={"e": float(x)}) for x in values]
        return Trace(id=name, problem=name, label=label, signal_specs=errors, steps=steps, **fields)

    good = [run(f"g{n}", "good", range(20, 4, -1)) for n in range(60)]
    stalled = [run(f"s{n}", "stalled", [20, 19, *[18] * 14], stalls=[Span(3)]) for n in range(60)]
    found = calibrate([*good, *stalled], metrics=["signal('e')"], repeats=0)
    found.save(tmp_path / "rule.toml")
    monitor = Monitor.load(tmp_path / "rule.toml")
    for step in good[0].steps:
        monitor.update(step)
    assert monitor.alarm is None
