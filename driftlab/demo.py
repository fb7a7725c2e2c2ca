"""The whole story on the data that ships."""

from collections.abc import Callable
from pathlib import Path

from driftlab.calibrate import calibrate
from driftlab.calibrate.calibration import policy_of
from driftlab.corpus import Corpus, read
from driftlab.lab.lessons import prepare
from driftlab.monitor import Monitor
from driftlab.policies import default_policy
from driftlab.replay import replay
from driftlab.report import report, text_table
from driftlab.shipped import data_folder
from driftlab.sweep import Sweep, sweep
from driftlab.trace import Trace

METRICS = ("exact", "difflib", "levenshtein", "embedding", "signal")
LIGHT = ("exact", "difflib", "levenshtein", "signal")  # what the rule may use, so that it runs without a model
LIMIT = 0.05
STUDIED = 0.7  # share of problems that are studied; the rules are replayed on the rest


def demo(folder: Path, say: Callable[[str], None]) -> None:
    """Watch the incident, study the demo loops, calibrate a rule a task, replay it on unseen problems.

    Parameters
    ----------
    folder : path
        Where report, figures and policy are written.
    say : callable
        Takes the parts of the story.
    """
    loops = data_folder() / "demo"
    say(incident(read(loops / "incident.jsonl")[0]))
    corpus = read(loops / "loops.jsonl")
    say(f"\nThe loops that ship\n{corpus.summary()}")
    studied, unseen = corpus.split_by_problem(seed=0, share=STUDIED)
    found = study(studied)
    say(f"\nWhich measurement tells? {len(studied)} loops, controls last\n{text_table(found.best())}")
    rules = {task: calibrate(studied, task=task, max_false_stop=LIMIT, metrics=LIGHT) for task in found.tasks}
    for task, rule in rules.items():
        say(f"\nA rule for {task} that may stop {LIMIT:.0%} of good loops\n{rule}")
    policy = policy_of(list(rules.values()))
    policy.save(folder / "policy.toml")
    say(f"\nReplayed on {len(unseen)} loops over problems it has not seen\n{replay(policy, unseen)}")
    written = report(found, list(rules.values()), corpus=studied, folder=folder)
    figures = sum(path.suffix == ".png" for path in written)
    say(f"\nWritten to {folder}: report.html, report.md, table.csv, policy.toml, {figures} figures")


def incident(trace: Trace) -> str:
    """Say where the default policy, which was not tuned on it, stops the incident of the field."""
    monitor = Monitor(default_policy())
    for step in trace.steps:
        verdict = monitor.update(step)
        if verdict.stop:
            return f"The incident: stopped at step {verdict.t} of {len(trace.steps)}, because {verdict.evidence}"
    return f"The incident: not stopped in {len(trace.steps)} steps"


def study(corpus: Corpus) -> Sweep:
    """Sweep the five metrics; the embedding's deltas ship as numbers, so that no model is loaded."""
    prepared = prepare(corpus, METRICS)
    return sweep(prepared.measured, prepared.metrics)
