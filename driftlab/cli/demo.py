"""The whole story on the data that ships."""

from collections.abc import Callable
from pathlib import Path

import typer

from driftlab._util.resources import data_folder
from driftlab.cli.options import Folder
from driftlab.fleet.replay import replay
from driftlab.lab.shipped import LIGHT, LIMIT, STUDIED, study
from driftlab.monitor.monitor import Monitor
from driftlab.rules.presets.default import default_policy
from driftlab.trace.corpus import read
from driftlab.trace.schema import Trace
from driftlab.tuning.calibrate import calibrate
from driftlab.tuning.calibration import policy_of

__all__ = ["demo", "stopped_incident", "story"]


def demo(output: Folder = Path("driftlab-demo")) -> None:
    """Tell the whole story on the data that ships.

    Example: driftlab demo -o driftlab-demo
    """
    story(output, typer.echo)


def story(folder: Path, say: Callable[[str], None]) -> None:
    """Watch the incident, study the demo loops, calibrate a rule a task, replay it on unseen problems.

    Parameters
    ----------
    folder : path
        Where report, figures and policy are written.
    say : callable
        Takes the parts of the story.
    """
    from driftlab.report import report, text_table  # noqa: PLC0415 (loads matplotlib)

    loops = data_folder() / "demo"
    say(stopped_incident(read(loops / "incident.jsonl")[0]))
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


def stopped_incident(trace: Trace) -> str:
    """Say where the default policy, which was not tuned on it, stops the incident of the field."""
    monitor = Monitor(default_policy())
    for step in trace.steps:
        verdict = monitor.update(step)
        if verdict.stop:
            return f"The incident: stopped at step {verdict.t} of {len(trace.steps)}, because {verdict.evidence}"
    return f"The incident: not stopped in {len(trace.steps)} steps"
