"""The registry of metrics: a new one is a dataclass in this folder, a line here."""

from driftlab._util.registry import Registry
from driftlab._util.spec import parse
from driftlab.metrics.arguments import Arguments
from driftlab.metrics.base import Metric, Pairwise, TextMetric
from driftlab.metrics.containment import Containment
from driftlab.metrics.difflib import Difflib
from driftlab.metrics.embedding import Embedding
from driftlab.metrics.exact import Exact
from driftlab.metrics.jaccard import Jaccard
from driftlab.metrics.levenshtein import Levenshtein
from driftlab.metrics.models import register_model
from driftlab.metrics.noise import Noise
from driftlab.metrics.novelty import Novelty
from driftlab.metrics.repeat import Repeat
from driftlab.metrics.signal import Signal

METRICS: Registry[type[Metric]] = Registry(
    "metric",
    (
        (kind.name, kind)
        for kind in (
            Arguments,
            Containment,
            Difflib,
            Embedding,
            Exact,
            Jaccard,
            Levenshtein,
            Noise,
            Novelty,
            Repeat,
            Signal,
        )
    ),
)


def metric(spec: str | Metric) -> Metric:
    """Return the metric that a spec names.

    Parameters
    ----------
    spec : str or Metric
        For example ``"levenshtein(view='output')"``; a metric is returned as it is.

    Raises
    ------
    InputError
        When the name or a parameter is unknown, or a value is not allowed.

    Examples
    --------
    >>> metric("levenshtein(view='output')").compare("3 passed", "4 passed")
    0.125
    """
    if isinstance(spec, Metric):
        return spec
    found: Metric = parse(spec, METRICS, "metric")
    return found


__all__ = ["METRICS", "Metric", "Pairwise", "TextMetric", "metric", "register_model"]
