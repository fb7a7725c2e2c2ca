"""driftlab sweep: every metric at every patience and threshold."""

from pathlib import Path

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

__all__ = ["sweep"]


def sweep(
    traces: Traces,
    output: Folder = Path("study"),
    metric: MetricSpec = [],  # noqa: B006 (typer reads the default, nobody changes it)
    max_false_stop: Limit = 0.05,
    price: Prices = "",
    prevalence: Prevalence = None,
    signal: Signal = [],  # noqa: B006
    skip_broken: Skip = False,
    cache: CacheFolder = None,
    jobs: Jobs = 1,
) -> None:
    """Rank every metric at every patience and threshold; write table, figures and report.

    Example: driftlab sweep data/demo/loops.jsonl -o study/ -m exact -m levenshtein -m signal
    """
    fleet = {"price": priced(price, prevalence), "prevalence": prevalence}
    corpus = read_traces(traces, signal, skip_broken)
    study(corpus, output, metric, max_false_stop, fleet, calibrated=False, cache=cache, n_jobs=jobs)
