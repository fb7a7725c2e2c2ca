"""Labels and alarms to outcomes, rates, curves, costs; ranking, controls, intervals, agreement."""
