"""The metric–task report: one HTML file, Markdown, tables, figures."""

from driftlab.report.build import report
from driftlab.report.tables import text_table

__all__ = ["report", "text_table"]
