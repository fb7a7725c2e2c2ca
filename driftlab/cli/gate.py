"""driftlab gate: a rule judged on held-out traces."""

import json
from typing import Annotated

import typer

from driftlab.cli.options import AsJson, Rule, Skip, Traces, read_traces
from driftlab.fleet.gate import gate as judge
from driftlab.rules.policy import Policy

__all__ = ["gate"]


def gate(
    rule: Rule,
    traces: Traces,
    min_recall: Annotated[float | None, typer.Option(help="What the lower bound of recall must reach.")] = None,
    max_false_stop: Annotated[float | None, typer.Option(help="What the upper bound of false stops may reach.")] = None,
    min_saved: Annotated[float | None, typer.Option(help="Share of stalled steps that must be saved.")] = None,
    as_json: AsJson = False,
    skip_broken: Skip = False,
) -> None:
    """Judge a rule on held-out traces by confidence bounds; exit with 1 and the reason when it fails.

    Example: driftlab gate --max-false-stop 0.1 data/rules/demo.toml data/demo/loops.jsonl
    """
    corpus = read_traces(traces, [], skip_broken)
    policy = Policy.load(rule)
    found = judge(policy, corpus, min_recall=min_recall, max_false_stop=max_false_stop, min_saved=min_saved)
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))
    raise typer.Exit(found.exit_code)
