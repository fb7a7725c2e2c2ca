"""Labels and alarms to outcomes, rates, curves, costs; ranking, controls, intervals, agreement."""

__all__ = [
    "agreement",
    "auc",
    "bands",
    "bootstrap",
    "controls",
    "cost",
    "evaluation",
    "labels",
    "operating_point",
    "ranking",
    "stats",
    "strata",
    "tally",
    "thresholds",
]
