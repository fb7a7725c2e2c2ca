"""Which measurement tells that an agent loop has stalled, at what patience, how sure, at what cost."""

import importlib
from typing import TYPE_CHECKING, Any

from driftlab._util.errors import DriftlabWarning, InputError, MissingExtra
from driftlab.detectors import DETECTORS, detector
from driftlab.lab.labeller.label import label
from driftlab.metrics import METRICS, metric
from driftlab.metrics.measurements import Measurements, measure
from driftlab.metrics.models import register_model
from driftlab.monitor.monitor import Monitor, Verdict
from driftlab.rules.policy import Policy, StopRule
from driftlab.rules.presets.default import default_policy
from driftlab.rules.roles import Role
from driftlab.trace.corpus import Corpus, read, stream, write
from driftlab.trace.schema import SignalSpec, Span, Step, Trace
from driftlab.trace.views import MASKS, register_mask

# Nothing imported here loads pandas, scikit-learn, matplotlib or torch: they are loaded where first needed,
# so that a guard in production stays light. Functions named like their module (measure, sweep, calibrate)
# are bound last, over the submodules that importing binds.
from driftlab.tuning.calibrate import Calibration, calibrate
from driftlab.tuning.sweep import Sweep, sweep

if TYPE_CHECKING:
    from driftlab import plot as plot
    from driftlab.lab.labeller.widget import Labeller as Labeller

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
    "Role",
    "SignalSpec",
    "Span",
    "Step",
    "StopRule",
    "Sweep",
    "Trace",
    "Verdict",
    "calibrate",
    "default_policy",
    "detector",
    "label",
    "measure",
    "metric",
    "read",
    "register_mask",
    "register_model",
    "stream",
    "sweep",
    "write",
]


def __getattr__(name: str) -> Any:
    if name == "plot":  # drawing loads matplotlib
        return importlib.import_module("driftlab.plot")
    if name == "Labeller":  # a widget loads the notebook's machinery
        return importlib.import_module("driftlab.lab.labeller.label").Labeller
    raise AttributeError(f"module 'driftlab' has no attribute {name!r}")
