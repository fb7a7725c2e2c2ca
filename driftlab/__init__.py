"""Which measurement tells that an agent loop has stalled, at what patience, how sure, at what cost."""

from typing import TYPE_CHECKING
from typing import Any as _Any

# Nothing imported here loads pandas, scikit-learn, matplotlib or torch: they are loaded where first needed,
# so that a guard in production stays light.
from driftlab._util.errors import DriftlabWarning, InputError, MissingExtra
from driftlab.detectors import DETECTORS, detector
from driftlab.evaluation.agreement import agreement
from driftlab.fleet.gate import Gate, gate
from driftlab.fleet.replay import Replay, replay
from driftlab.lab.labeller.label import label
from driftlab.metrics import METRICS, metric
from driftlab.metrics.measurements import Measurements, measure
from driftlab.metrics.models import register_model
from driftlab.monitor import Monitor, Verdict
from driftlab.rules.policy import Policy, StopRule
from driftlab.rules.presets.default import PRESETS, default_policy
from driftlab.rules.roles import Role
from driftlab.trace.corpus import Corpus, read, stream, write
from driftlab.trace.masks import MASKS, register_mask
from driftlab.trace.schema import SignalSpec, Span, Step, Trace
from driftlab.tuning.calibrate import Calibration, calibrate
from driftlab.tuning.objective import Price
from driftlab.tuning.sweep import Sweep, sweep
from driftlab.tuning.transfer import transfer

if TYPE_CHECKING:
    from driftlab import plot
    from driftlab.importers.formats.hf_datasets import from_datasets
    from driftlab.importers.load import IMPORTERS, load
    from driftlab.lab.labeller.widget import Labeller
    from driftlab.report import report

__all__ = [
    "DETECTORS",
    "IMPORTERS",
    "MASKS",
    "METRICS",
    "PRESETS",
    "Calibration",
    "Corpus",
    "DriftlabWarning",
    "Gate",
    "InputError",
    "Labeller",
    "Measurements",
    "MissingExtra",
    "Monitor",
    "Policy",
    "Price",
    "Replay",
    "Role",
    "SignalSpec",
    "Span",
    "Step",
    "StopRule",
    "Sweep",
    "Trace",
    "Verdict",
    "agreement",
    "calibrate",
    "default_policy",
    "detector",
    "from_datasets",
    "gate",
    "label",
    "load",
    "measure",
    "metric",
    "plot",
    "read",
    "register_mask",
    "register_model",
    "replay",
    "report",
    "stream",
    "sweep",
    "transfer",
    "write",
]


def __getattr__(name: str) -> _Any:
    # Loaded when first asked for: drawing loads matplotlib, a widget the notebook's machinery, and a guard in
    # production reads no foreign log.
    if name == "plot":
        import driftlab.plot as found  # noqa: PLC0415 (`from driftlab import plot` would ask here again)
    elif name == "report":
        from driftlab.report import report as found  # type: ignore[no-redef]  # noqa: PLC0415
    elif name == "Labeller":
        from driftlab.lab.labeller.widget import Labeller as found  # type: ignore[no-redef]  # noqa: PLC0415
    elif name == "IMPORTERS":
        from driftlab.importers.load import IMPORTERS as found  # type: ignore[no-redef]  # noqa: PLC0415
    elif name == "load":
        from driftlab.importers.load import load  # noqa: PLC0415

        found = _public(load)
    elif name == "from_datasets":
        from driftlab.importers.formats.hf_datasets import from_datasets  # noqa: PLC0415

        found = _public(from_datasets)
    else:
        raise AttributeError(f"module 'driftlab' has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


def _public(value: _Any) -> _Any:
    """Say that a value is driftlab's: an error reads driftlab.InputError, wherever its file lies; so does a pickle."""
    value.__module__ = "driftlab"
    globals()[value.__name__] = value
    return value


for _name in __all__:
    if callable(globals().get(_name)):
        _public(globals()[_name])
