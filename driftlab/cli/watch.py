"""driftlab watch: a policy in a live loop, in any language."""

import sys
from typing import Annotated, Any

import msgspec
import typer

from driftlab._util.errors import InputError
from driftlab.cli.options import Rule
from driftlab.monitor.monitor import Monitor
from driftlab.trace.messages import short

__all__ = ["watch"]


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
