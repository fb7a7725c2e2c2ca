"""Which measurement tells that an agent loop has stalled, at what patience, how sure, at what cost."""

import importlib
from typing import TYPE_CHECKING, Any

# Nothing imported here loads pandas, scikit-learn, matplotlib or torch: they are loaded where first needed,
# so that a guard in production stays light. Functions named like their module (measure, sweep, calibrate)
# are bound last, over the submodules that importing binds.
from driftlab.calibrate import Calibration, calibrate
from driftlab.corpus import Corpus, read, stream, write
from driftlab.detectors import DETECTORS, detector
from driftlab.errors import DriftlabWarning, InputError, MissingExtra
from driftlab.measure import Measurements, measure
from driftlab.metrics import METRICS, metric
from driftlab.monitor import Monitor, Verdict
from driftlab.rule import Policy, StopRule
from driftlab.sweep import Sweep, sweep
from driftlab.text import MASKS, register_mask
from driftlab.trace import SignalSpec, Span, Step, Trace

if TYPE_CHECKING:
    from driftlab import plot as plot

__all__ = [
    "DETECTORS",
    "MASKS",
    "METRICS",
    "Calibration",
    "Corpus",
    "DriftlabWarning",
    "InputError",
    "Measurements",
    "MissingExtra",
    "Monitor",
    "Policy",
    "SignalSpec",
    "Span",
    "Step",
    "StopRule",
    "Sweep",
    "Trace",
    "Verdict",
    "calibrate",
    "detector",
    "measure",
    "metric",
    "read",
    "register_mask",
    "stream",
    "sweep",
    "write",
]


def __getattr__(name: str) -> Any:
    if name == "plot":  # drawing loads matplotlib
        return importlib.import_module("driftlab.plot")
    raise AttributeError(f"module 'driftlab' has no attribute {name!r}")
