"""Tables of a sweep, rounded for people."""

import math
from collections.abc import Sequence
from typing import Any

from driftlab._util.wording import interval_text, number_text, share_text
from driftlab.report.document import Table

__all__ = ["auc", "metric_name", "metric_table", "text_table"]

WIDE = 150  # columns of a terminal


def auc(row: Any) -> str:
    """Return the area of a row of `Sweep.table` with its interval."""
    return interval_text(row["auc"], row["auc_low"], row["auc_high"])


def metric_name(row: Any) -> str:
    """Return metric with view, as in "exact (state)"."""
    return f"{row['metric']} ({row['view']})" if row["view"] else str(row["metric"])


def text_table(frame: Any) -> str:
    """Return `Sweep.table` or `Sweep.best` for a terminal: verdict first, at most 150 columns.

    Parameters
    ----------
    frame : pandas.DataFrame

    Examples
    --------
    >>> from driftlab.tuning.sweep import sweep
    >>> from driftlab.trace.schema import Step, Trace
    >>> found = sweep([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"], patience=[1], decay=[])
    >>> print(text_table(found.table()))
    verdict                      task  metric                AUC [95 %]  prec  recall  saved  stops  delay    n
    undefined: no stalled traces        exact (state) run(1)           –     –       –      –     0%      –  0/0
    undefined: no stalled traces        steps                          –     –       –      –     0%      –  0/0
    """
    heads = ["verdict", "task", "metric", "AUC [95 %]", "prec", "recall", "saved", "stops", "delay", "n"]
    rows = [_terminal_row(row) for row in _records(frame)]
    if not rows:
        return "(no rows)"
    widths = [max(len(line[place]) for line in (heads, *rows)) for place in range(len(heads))]
    _shrink(widths, WIDE - 2 * (len(widths) - 1))
    return "\n".join(_padded(line, widths) for line in (heads, *rows))


def metric_table(frame: Any) -> Table:
    """Return `Sweep.best` as a table of the report."""
    heads = ["verdict", "task", "metric", "accumulator", "AUC [95 %]", "within setup", "whole trace"]
    heads += ["precision", "recall", "saved", "false stops", "delay", "stalled / good"]
    records = _records(frame)
    strong = frozenset(place for place, row in enumerate(records) if str(row["verdict"]).startswith("beats"))
    return Table(heads, [_report_row(row) for row in records], words=4, strong=strong)


def _records(frame: Any) -> list[dict[str, Any]]:
    filled = frame.astype(object).where(frame.notna(), math.nan)
    records: list[dict[str, Any]] = filled.to_dict("records")
    for row in records:
        row |= {name: "" for name in ("view", "accumulator") if not isinstance(row.get(name), str)}
    return records


def _terminal_row(row: dict[str, Any]) -> list[str]:
    name = f"{metric_name(row)} {row['accumulator']}".strip()
    rates = [share_text(row.get(key)) for key in ("recall", "saved", "false_stop_rate")]
    return [
        row["verdict"],
        row["task"],
        name,
        auc(row),
        number_text(row.get("precision")),
        *rates,
        number_text(row.get("delay"), 1),
        _compared(row, "/"),
    ]


def _report_row(row: dict[str, Any]) -> list[str]:
    first = [row["verdict"], row["task"], metric_name(row), row["accumulator"], auc(row)]
    areas = [number_text(row.get(name)) for name in ("within_setup", "auc_trace", "precision")]
    rates = [share_text(row.get(name)) for name in ("recall", "saved", "false_stop_rate")]
    return [
        *first,
        *areas,
        *rates,
        number_text(row.get("delay"), 1),
        _compared(row, " / "),
    ]


def _compared(row: dict[str, Any], between: str) -> str:
    return between.join(number_text(row[key], 0) for key in ("n_stalled", "n_good"))


def _shrink(widths: list[int], room: int) -> None:
    """Take from the columns of words until the line fits: the task first, the verdict last."""
    for place, least in ((1, 12), (2, 24), (0, 12)):
        widths[place] -= max(0, min(widths[place] - least, sum(widths) - room))


def _padded(line: Sequence[str], widths: Sequence[int]) -> str:
    cut = [cell if len(cell) <= width else f"{cell[: width - 1]}…" for cell, width in zip(line, widths, strict=True)]
    pairs = enumerate(zip(cut, widths, strict=True))
    return "  ".join(cell.ljust(width) if place < 3 else cell.rjust(width) for place, (cell, width) in pairs).rstrip()
