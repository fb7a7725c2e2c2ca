"""driftlab report: sweep, a rule for each task, one report."""

from pathlib import Path

from driftlab._util.spec import between
from driftlab.cli.options import (
    CacheFolder,
    Folder,
    Jobs,
    Limit,
    MetricSpec,
    Prevalence,
    Prices,
    Signal,
    Skip,
    Traces,
    priced,
    read_traces,
)
from driftlab.cli.study import study

__all__ = ["report"]


def report(
    traces: Traces,
    output: Folder = Path("study"),
    metric: MetricSpec = [],  # noqa: B006
    max_false_stop: Limit = 0.05,
    price: Prices = "",
    prevalence: Prevalence = None,
    signal: Signal = [],  # noqa: B006
    skip_broken: Skip = False,
    cache: CacheFolder = None,
    jobs: Jobs = 1,
) -> None:
    """Sweep, calibrate a rule for each task, and write one report with its evidence and its errors.

    Example: driftlab report data/demo/loops.jsonl -o study/ -m exact -m levenshtein -m signal
    """
    between("--max-false-stop", max_false_stop, 0, 1, words=", neither of them")
    fleet = {"price": priced(price, prevalence), "prevalence": prevalence}
    corpus = read_traces(traces, signal, skip_broken)
    study(corpus, output, metric, max_false_stop, fleet, calibrated=True, cache=cache, n_jobs=jobs)
