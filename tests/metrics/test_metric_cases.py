"""The rows of metric_cases.jsonl that are about evaluation, plateaus and files; test_metrics.py has the metrics."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import CASES

from driftlab._util.plain import for_json
from driftlab.detectors import Plateau, Run, score
from driftlab.evaluation.controls import average_precision
from driftlab.evaluation.evaluation import Evaluation
from driftlab.evaluation.tally import tally
from driftlab.metrics import metric
from driftlab.metrics.measurements import Measurements
from driftlab.rules.policy import Policy, StopRule
from driftlab.trace.schema import Span, TraceInfo
from driftlab.tuning.objective import f_beta

RECORDS = [json.loads(line) for line in (CASES / "metric_cases.jsonl").read_text().splitlines()]
EXACT = metric("exact")
Case = dict[str, Any]


def for_toml(value: Any) -> Any:
    """Read the placeholders of the file."""
    words = {"__NaN__": math.nan, "__Infinity__": math.inf}
    if isinstance(value, list):
        return [for_toml(item) for item in value]
    if isinstance(value, dict):
        return {key: for_toml(item) for key, item in value.items()}
    return words.get(value, value) if isinstance(value, str) else value


def study(kinds: list[int]) -> Evaluation:
    """Return one trace of one step for each label: 1 is stalled, 0 is good."""
    infos = tuple(
        TraceInfo(id=str(n), label="stalled", stalls=(Span(0),)) if kind else TraceInfo(id=str(n), label="good")
        for n, kind in enumerate(kinds)
    )
    count = len(kinds)
    return Evaluation(Measurements(infos, np.arange(count + 1), {EXACT: np.ones(count)}), draws=10)


def roc_auc(case: Case) -> float:
    found = study(case["a"])
    return found.rank(np.array(for_toml(case["b"]), dtype=float), found.whole).auc


def precision_of_ranking(case: Case) -> float:
    found = study(case["a"])
    return average_precision(found.whole, np.array(case["b"]), found.measurements.offsets)


def tallied(case: Case) -> Any:
    """Read predictions as alarms at the first step."""
    return tally(np.where(np.array(case["b"]) == 1, 0, -1), study(case["a"]).labels)


def f1(case: Case) -> float:
    return float(f_beta(1)(tallied(case)))  # a tally has the precision and recall that a curve has


def roc_points(case: Case) -> Any:
    found = study(case["a"])
    share, recall = found.whole.roc(np.array(case["b"]), found.measurements.offsets)
    points = {"share": share, "recall": recall, "threshold": [math.inf, *case["b"]]}
    return json.loads(json.dumps(for_json(points), allow_nan=False))


def plateau_fires(case: Case) -> float:
    deltas, limit, patience = np.array([1.0, *for_toml(case["a"])]), case["b"]["threshold"], case["b"]["patience"]
    found = Measurements((TraceInfo(id="a"),), np.array([0, len(deltas)]), {EXACT: deltas})
    rule = StopRule(Plateau(EXACT, Run(patience)), 1 - limit)
    assert (score(found, [rule.detector])[rule.detector] >= 0).all()
    return float(rule.alarms(found)[0] >= 0)


ANSWERS: dict[str, Callable[[Case], Any]] = {
    "roc_auc": roc_auc,
    "average_precision": precision_of_ranking,
    "precision": lambda case: tallied(case).precision,
    "recall": lambda case: tallied(case).recall,
    "f1": f1,
    "roc_curve": roc_points,
    "plateau_fires": plateau_fires,
}
FILES = ("config_roundtrip", "config_load")
OURS = [pytest.param(case, id=f"{case['case_id']}-{case['metric']}") for case in RECORDS if case["metric"] in ANSWERS]


@pytest.mark.parametrize("case", OURS)
def test_cases(case: Case) -> None:
    answer, expected = ANSWERS[case["metric"]], case.get("expect")
    if "expect_error" in case:
        with pytest.raises(ValueError, match=r"\w"):
            answer(case)
    elif not isinstance(expected, dict):
        assert answer(case) == pytest.approx(expected, abs=case.get("tol", 0.0)), case["why"]
    elif expected.get("is_nan"):
        assert math.isnan(answer(case)), case["why"]
    else:
        assert answer(case)["recall"][-1] == 1.0


def test_small_floats_stay_floats(tmp_path: Path) -> None:
    case = next(case for case in RECORDS if case["case_id"] == "m84")
    rule = StopRule(Plateau(EXACT, Run(case["a"]["patience"])), case["a"]["threshold"])
    rule.save(tmp_path / "rule.toml")
    assert StopRule.load(tmp_path / "rule.toml") == rule
    assert type(StopRule.load(tmp_path / "rule.toml").threshold) is float


def test_another_language_is_refused_not_guessed() -> None:
    case = next(case for case in RECORDS if case["case_id"] == "m85")
    with pytest.raises(ValueError, match="not a driftlab-policy/1 file"):
        Policy.parse(case["a"])


def test_infinity_is_a_word_where_json_has_none(tmp_path: Path) -> None:
    case = next(case for case in RECORDS if case["case_id"] == "m86")
    text = json.dumps(for_json(for_toml(case["a"])), allow_nan=False)
    assert json.loads(text) == {"threshold": "watch only"}
    StopRule(Plateau(EXACT, Run(2)), math.inf).save(tmp_path / "rule.toml")  # TOML has infinity
    assert StopRule.load(tmp_path / "rule.toml").watch_only


def test_every_row_of_the_file_is_a_test_somewhere() -> None:
    from test_metrics import OURS as METRICS

    assert {case["metric"] for case in RECORDS} <= {*METRICS, *ANSWERS, *FILES}
