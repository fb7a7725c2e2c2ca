"""Figure of how far two sets of labels agree."""

import numpy as np
from matplotlib.axes import Axes

from driftlab._util.wording import share_text
from driftlab.evaluation.agreement import Agreement
from driftlab.plot.style import INK, SMALL, message, single, tidy, title

__all__ = ["agreement"]

ORDER = ("good", "unsure", "stalled")


def agreement(found: Agreement, *, names: tuple[str, str] = ("first", "second"), ax: Axes | None = None) -> Axes:
    """Draw how often each label of one annotator met each label of the other.

    Parameters
    ----------
    found : Agreement
        From `driftlab.evaluation.agreement.agreement`.
    names : (str, str)
        Of the two annotators.
    ax : Axes, optional

    Returns
    -------
    Axes
        Equal labels are on the diagonal; the title gives their share, kappa with its interval, the onsets.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from driftlab.evaluation.agreement import agreement as compare
    >>> ax = agreement(compare({"a": "good", "b": "stalled"}, {"a": "good", "b": "good"}), names=("ann", "bo"))
    >>> ax.get_title(loc="left").replace("\\n", " ").split(",")[0]
    'ann and bo agree on 50% of 2 traces'
    >>> plt.close(ax.figure)
    """
    if not found.n:
        return message(ax, f"{names[0]} and {names[1]} labelled no trace in common")
    ax = single(ax, width=6.4, height=4.2)
    used = [label for label in ORDER if _used(found, label)]
    counts = np.array([[found.table.get(own, {}).get(other, 0) for other in used] for own in used])
    ax.imshow(counts, cmap="Blues", vmin=0, vmax=max(1, counts.max()))
    for row, column in np.ndindex(counts.shape):
        dark = counts[row, column] > 0.6 * counts.max()
        ax.text(column, row, str(counts[row, column]), ha="center", va="center", color="white" if dark else INK)
    ax.set_xticks(range(len(used)), used)
    ax.set_yticks(range(len(used)), used)
    tidy(ax, f"label of {names[1]} (traces)", f"label of {names[0]}")
    ax.tick_params(length=0, labelsize=SMALL)
    title(ax, _finding(found, names), beside=3.2)  # square cells leave the sides free
    return ax


def _used(found: Agreement, label: str) -> bool:
    across = sum(found.table.get(label, {}).values())
    return bool(across or sum(row.get(label, 0) for row in found.table.values()))


def _finding(found: Agreement, names: tuple[str, str]) -> str:
    words = f"{names[0]} and {names[1]} agree on {share_text(found.agreed[0])} of {found.n} traces"
    value, low, high = found.kappa
    words += ", kappa undefined" if np.isnan(value) else f", kappa {value:.2f} [{low:.2f}, {high:.2f}]"
    near = f"{share_text(found.within[0])} of {found.onsets} onsets within {found.tolerance} steps"
    return words + (f"; {near}" if found.onsets else "")
