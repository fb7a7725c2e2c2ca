"""Commands that run a policy: over finished runs, in a live loop."""

import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from driftlab.cli.options import Rule, Signal, Skip, Traces, new_file, read_traces
from driftlab.errors import InputError
from driftlab.explain import short
from driftlab.files import replacing
from driftlab.monitor import Monitor
from driftlab.replay import replay as shadow
from driftlab.rule import Policy

app = typer.Typer()


@app.command()
def replay(
    rule: Rule,
    traces: Traces,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="CSV file for one row a run.", callback=new_file)
    ] = None,
    signal: Signal = [],  # noqa: B006 (typer reads the default, nobody changes it)
    skip_broken: Skip = False,
) -> None:
    """Shadow run: which finished runs the policy would have stopped, where and why.

    Example: driftlab replay data/rules/demo.toml data/demo/loops.jsonl
    """
    found = shadow(Policy.load(rule), read_traces(traces, signal, skip_broken))
    for run in found.runs:
        if run.alarm is not None:
            typer.echo(f"{run.id}: {run.action} at step {run.alarm} of {run.steps} ({run.outcome}): {run.why}")
    typer.echo(str(found))
    if output is not None:
        with replacing(output) as temporary:
            found.table().to_csv(temporary, index=False)
        typer.echo(f"written: {output}")


@app.command()
def watch(
    rule: Rule,
    task: Annotated[str | None, typer.Option(help="The kind of work; only the policy's rules for it run.")] = None,
) -> None:
    """Watch a live loop in any language: a step (JSON) a line in, a verdict a line out.

    A line that is no step is answered with an error line; the watch goes on and exits with 2 at the end.

    Example: driftlab watch data/rules/demo.toml --task code < data/demo/incident_steps.jsonl
    """
    monitor, broken = Monitor.load(rule, task=task), False
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            answer = _verdict(monitor, line)
        except InputError as error:
            answer, broken = {"line": number, "error": str(error)}, True
        typer.echo(msgspec.json.encode(answer).decode())
        sys.stdout.flush()
    raise typer.Exit(2 if broken else 0)


def _verdict(monitor: Monitor, line: bytes) -> dict[str, Any]:
    try:
        step = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"not a line of JSON: {error}") from error
    if not isinstance(step, dict):
        raise InputError(f"expected an object with the fields of a step, got {short(step)}")
    verdict = monitor.update(step)
    return {**msgspec.to_builtins(verdict), "stop": verdict.stop}
