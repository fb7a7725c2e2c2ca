"""Figures: each function takes data, returns matplotlib axes; nothing is saved, no style is set."""

from driftlab._util.extras import need

need("matplotlib", "study")

from driftlab.plot.agree import agreement  # noqa: E402 - the line above says which extra is missing
from driftlab.plot.operating import amoc, cost, pr  # noqa: E402
from driftlab.plot.ranks import roc  # noqa: E402
from driftlab.plot.runs import similarity, strip  # noqa: E402
from driftlab.plot.spread import scores, waste  # noqa: E402
from driftlab.plot.tables import heatmap, overview  # noqa: E402

__all__ = ["agreement", "amoc", "cost", "heatmap", "overview", "pr", "roc", "scores", "similarity", "strip", "waste"]
