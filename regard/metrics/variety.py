"""How varied outputs are: a chatbot that answers everything alike may still score well."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from regard.metrics.bootstrap import Tally, percent
from regard.metrics.metric import Metric, Outputs, References


@Metric
def distinct1(outputs: Outputs, references: References) -> Tally:
    """Different words among all words of the outputs, in percent (Li et al. 2016). References do
    not matter.

    >>> distinct1(["so it is", "it is so"], [["."], ["."]]).value
    50.0
    """
    return _distinct(outputs, 1)


@Metric
def distinct2(outputs: Outputs, references: References) -> Tally:
    """Different pairs of neighbouring words among all such pairs of the outputs, in percent. More
    outputs have fewer: compare equal numbers of them.

    >>> distinct2(["so it is", "it is so"], [["."], ["."]]).value
    75.0
    """
    return _distinct(outputs, 2)


def _distinct(outputs: Outputs, n: int) -> Tally:
    """An n-gram that is met k times counts 1/k each time; so the counts of outputs add up to that
    of different ones, and do not depend on their order."""
    found = [list(_ngrams(output.split(), n)) for output in outputs]
    times = Counter(ngram for ngrams in found for ngram in ngrams)
    rows = [(sum(1 / times[ngram] for ngram in ngrams), len(ngrams)) for ngrams in found]
    return Tally(np.array(rows, float), percent, f"distinct{n}|words:between-blanks|case:mixed")


def _ngrams(words: list[str], n: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(n)), strict=False)
