"""What every metric of texts has in common: how it is called, and what it refuses."""

from collections.abc import Callable, Sequence
from functools import update_wrapper

from regard.errors import DataError
from regard.metrics.bootstrap import Tally
from regard.names import Score

Outputs = Sequence[str]
References = Sequence[Sequence[str]]
"""A list of accepted references, at least one, for every output."""


class Metric:
    """A decorator: the function below it tallies examples, the metric scores them.

    metric(outputs, references)         the score, with its interval and signature
    metric.tally(outputs, references)   the counts behind it, a row for every example
    """

    def __init__(self, count: Callable[[Outputs, References], Tally]) -> None:
        self.count = count
        update_wrapper(self, count)

    def __call__(self, outputs: Outputs, references: References) -> Score:
        return self.tally(outputs, references).score()

    def tally(self, outputs: Outputs, references: References) -> Tally:
        check(outputs, references)
        return self.count(outputs, references)


def check(outputs: Outputs, references: References) -> None:
    """Refuse what can not be scored."""
    if not outputs:
        raise DataError("nothing to score: there is no output. Is the file or the split empty?")
    if len(outputs) != len(references):
        raise DataError(
            "outputs and references do not line up: expected a list of references for each "
            f"output, found {len(outputs)} outputs and {len(references)} lists."
        )
    for number, known in enumerate(references, start=1):
        if isinstance(known, str) or not known:
            raise DataError(
                f"nothing to score example {number} against: expected a list of at least one "
                f"reference, found {known!r}."
            )
