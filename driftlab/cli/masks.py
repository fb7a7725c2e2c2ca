"""driftlab masks: what each mask changes on your traces."""

from typing import Annotated

import typer

from driftlab.cli.options import Skip, Traces, read_traces
from driftlab.metrics.mask_report import mask_changes

__all__ = ["masks"]


def masks(
    traces: Traces,
    mask: Annotated[list[str], typer.Option(help="Only these masks; repeat for more.")] = [],  # noqa: B006
    skip_broken: Skip = False,
) -> None:
    """Show what each mask changes on your traces: stalls found, progress hidden.

    Example: driftlab masks data/demo/loops.jsonl
    """
    rows = mask_changes(read_traces(traces, [], skip_broken), masks=mask or None)
    typer.echo(
        f"{'mask':<10} {'view':<8} {'made equal':>10} {'in stalls':>10} {'in good':>10} {'hid a gain':>10}  example"
    )
    for row in rows:
        counts = f"{row.merged:>10} {row.stalls_found:>10} {row.progress_hidden:>10} {row.gains_hidden:>10}"
        typer.echo(f"{row.mask:<10} {row.view:<8} {counts}  {row.example[:60]}")
