"""The labeller: a widget, a page without a kernel, plain calls."""

from typing import TYPE_CHECKING, Any

from driftlab.lab.labeller.label import label
from driftlab.lab.labeller.session import Session
from driftlab.lab.labeller.static_page import Page, show

if TYPE_CHECKING:
    from driftlab.lab.labeller.widget import Labeller

__all__ = ["Labeller", "Page", "Session", "label", "show"]


def __getattr__(name: str) -> Any:
    if name == "Labeller":  # the widget needs the extra `lab`
        from driftlab.lab.labeller.widget import Labeller  # noqa: PLC0415

        return Labeller
    raise AttributeError(f"module 'driftlab.lab.labeller' has no attribute {name!r}")
