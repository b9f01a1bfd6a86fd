"""The plainest scores: how many outputs, or next tokens, are the wanted ones."""

from collections.abc import Sequence
from operator import eq

import numpy as np

from regard.errors import DataError
from regard.metrics.bootstrap import Counts, Tally, percent
from regard.metrics.metric import Metric, Outputs, References


@Metric
def exact_match(outputs: Outputs, references: References) -> Tally:
    """The share of outputs that equal one of their references, in percent. Blanks around either
    do not count; those within, capitals and punctuation do.

    >>> exact_match(["a cat ", "A dog"], [["the cat", "a cat"], ["a dog"]]).value
    50.0
    """
    rows = [
        (output.strip() in {reference.strip() for reference in known}, 1)
        for output, known in zip(outputs, references, strict=True)
    ]
    return Tally(np.array(rows, float), percent, "exact_match|blanks:outer-stripped|references:any")


def token_accuracy(predicted: Sequence[Sequence[int]], wanted: Sequence[Sequence[int]]) -> Tally:
    """The share of positions where the predicted next token is the wanted one, in percent.

    predicted, wanted   a row of ids for every example, of equal lengths and without padding

    >>> token_accuracy([[5, 6, 7], [8]], [[5, 6, 9], [8]]).score().value
    75.0
    """
    if len(predicted) != len(wanted):
        raise DataError(
            "predicted and wanted tokens do not line up: expected a row of each for every "
            f"example, found {len(predicted)} and {len(wanted)} rows."
        )
    for number, (found, right) in enumerate(zip(predicted, wanted, strict=True), start=1):
        if len(found) != len(right):
            raise DataError(
                f"predicted and wanted tokens of example {number} do not line up: found "
                f"{len(found)} and {len(right)}. Leave padding out of both."
            )
    if not any(map(len, wanted)):
        raise DataError("nothing to score: there is no token. Is the file or the split empty?")
    rows = [(sum(map(eq, p, w)), len(w)) for p, w in zip(predicted, wanted, strict=True)]
    return Tally(np.array(rows, float), percent, "token_accuracy|positions:without-padding")


def perplexity(losses: Sequence[float], tokens: Sequence[int]) -> Tally:
    """How many equally likely next tokens would be as hard to guess: e to the mean loss of a token.

    losses   of every example, summed over its tokens, natural logarithm

    >>> round(perplexity([np.log(8)], [3]).score().value, 6)
    2.0
    """
    rows = np.array([losses, tokens], float).T
    if not rows.size:
        raise DataError("nothing to score: there is no token. Is the file or the split empty?")
    return Tally(rows, _perplexity, "perplexity|of-tokens:without-padding")


def _perplexity(totals: Counts) -> Counts:
    value: Counts = np.exp(totals[..., 0] / totals[..., 1])
    return value
