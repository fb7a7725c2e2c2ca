"""Numbers as people read them."""

import math

__all__ = ["counted", "interval_text", "number_text", "share_text"]


def interval_text(value: float, low: float, high: float) -> str:
    """Return a number with its interval, "–" where it is undefined.

    Examples
    --------
    >>> interval_text(0.5, 0.25, 0.75), interval_text(math.nan, math.nan, math.nan)
    ('0.50 [0.25, 0.75]', '–')
    """
    if math.isnan(value):
        return "–"
    return f"{value:.2f}" if math.isnan(low) else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def share_text(value: float | None) -> str:
    """Return a share in percent: one more digit below 10 %, "–" where it is undefined.

    Examples
    --------
    >>> share_text(0.004), share_text(0.05), share_text(0.7573), share_text(math.nan)
    ('0.4%', '5%', '76%', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    text = f"{100 * value:.1f}" if 0 < value < 0.0995 else f"{100 * value:.0f}"
    return f"{text.removesuffix('.0')}%"


def number_text(value: float | None, digits: int = 2) -> str:
    """Return a rounded number, "–" where it is undefined, "never" for a threshold no score can reach.

    Examples
    --------
    >>> number_text(0.12345), number_text(math.nan), number_text(math.inf)
    ('0.12', '–', 'never')
    """
    if value is None or math.isnan(value):
        return "–"
    return "never" if value == math.inf else f"{value:.{digits}f}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "step"), counted(2, "step"), counted(0, "miss", "misses")
    ('1 step', '2 steps', '0 misses')
    """
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
