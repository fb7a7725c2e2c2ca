"""The rates that outcomes are read by, each written once for numbers and for arrays."""

from typing import TYPE_CHECKING, Any

from driftlab.evaluation.labels import ratio

__all__ = ["Rates"]


class Rates:
    """Rates of whatever holds counts of outcomes; `nan` over nothing, and the counts beside it say why.

    Counts are numbers, as of a `Tally`, or arrays that broadcast, as of a `Curve`; so are the rates.

    Attributes
    ----------
    hit, premature, late, false_stop : int or int array
        Traces.
    saved_steps, stalled_steps : int or int array
        Steps after the alarms that hit; all steps of stalled traces.
    n_stalled, n_good : int or int array
        What recall and the false-stop rate divide by.

    Examples
    --------
    >>> from driftlab.evaluation.tally import Tally
    >>> found = Tally(8, 1, 0, 1, 2, 8, 0, 30, 90, 4, 70, 4.0)
    >>> found.recall, found.precision, found.false_stop_rate, round(found.youden, 2)
    (0.8, 0.7272727272727273, 0.2, 0.6)
    """

    if TYPE_CHECKING:  # read-only here: some hold these as fields, some work them out

        @property
        def hit(self) -> Any: ...
        @property
        def premature(self) -> Any: ...
        @property
        def late(self) -> Any: ...
        @property
        def false_stop(self) -> Any: ...
        @property
        def saved_steps(self) -> Any: ...
        @property
        def stalled_steps(self) -> Any: ...
        @property
        def n_stalled(self) -> Any: ...
        @property
        def n_good(self) -> Any: ...

    @property
    def precision(self) -> Any:
        """Hits over all alarms on labelled traces."""
        return ratio(self.hit, self.hit + self.premature + self.late + self.false_stop)

    @property
    def recall(self) -> Any:
        """Hits over all stalled traces."""
        return ratio(self.hit, self.n_stalled)

    @property
    def saved(self) -> Any:
        """Steps after hits over all steps of stalled traces."""
        return ratio(self.saved_steps, self.stalled_steps)

    @property
    def false_stop_rate(self) -> Any:
        """False stops over all good traces."""
        return ratio(self.false_stop, self.n_good)

    @property
    def youden(self) -> Any:
        """Recall minus false-stop rate: 0 for a rule that knows nothing."""
        return self.recall - self.false_stop_rate
