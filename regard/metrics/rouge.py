"""ROUGE (Lin 2004): how much of a reference, such as a summary, an output has.

Tokens are runs of a-z and 0-9 after lowercasing, not stemmed, as in the package rouge-score. All
other characters only separate, so that "naïve" is "na" and "ve", and a text in another script
has no tokens at all and scores 0: these are metrics for English.

An example's score is F1 with the reference that gives the highest; the value is their mean.
"""

import re
from collections import Counter
from collections.abc import Callable

import numpy as np

from regard.metrics.bootstrap import Tally, percent
from regard.metrics.metric import Metric, Outputs, References
from regard.metrics.sequences import common_subsequence

Tokens = list[str]


@Metric
def rouge1(outputs: Outputs, references: References) -> Tally:
    """F1 of tokens, in percent, the mean over examples.

    >>> rouge1(["the cat sat"], [["The cat."]]).value
    80.0
    """
    return _tally("rouge1", outputs, references, lambda a, b: _ngram_f1(a, b, 1))


@Metric
def rouge2(outputs: Outputs, references: References) -> Tally:
    """F1 of pairs of neighbouring tokens, in percent, the mean over examples.

    >>> rouge2(["the cat sat down"], [["the cat sat"]]).value
    80.0
    """
    return _tally("rouge2", outputs, references, lambda a, b: _ngram_f1(a, b, 2))


@Metric
def rougeL(outputs: Outputs, references: References) -> Tally:
    """F1 of the longest common subsequence of tokens, in percent, the mean over examples.

    >>> rougeL(["cat the sat on"], [["the cat sat on"]]).value
    75.0
    """
    return _tally("rougeL", outputs, references, _subsequence_f1)


def tokens(text: str) -> Tokens:
    """
    >>> tokens("It's 2 naïve cats.")
    ['it', 's', '2', 'na', 've', 'cats']
    """
    return re.findall("[a-z0-9]+", text.lower())


def _tally(
    name: str, outputs: Outputs, references: References, f1: Callable[[Tokens, Tokens], float]
) -> Tally:
    rows = np.ones((len(outputs), 2))  # F1, and one for the example itself
    for row, output, known in zip(rows, outputs, references, strict=True):
        found = tokens(output)
        row[0] = max(f1(found, tokens(reference)) for reference in known)
    return Tally(rows, percent, f"{name}|f1:mean|tokens:a-z0-9-lowercase|references:best-of-all")


def _ngram_f1(output: Tokens, reference: Tokens, n: int) -> float:
    ours, theirs = _ngrams(output, n), _ngrams(reference, n)
    shared = sum(min(count, theirs[ngram]) for ngram, count in ours.items() if ngram in theirs)
    return _f1(shared, ours.total(), theirs.total())


def _ngrams(pieces: Tokens, n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(pieces[i:] for i in range(n)), strict=False))


def _subsequence_f1(output: Tokens, reference: Tokens) -> float:
    return _f1(common_subsequence(output, reference), len(output), len(reference))


def _f1(shared: int, ours: int, theirs: int) -> float:
    """The harmonic mean of shared / ours and shared / theirs; 0 where nothing is shared."""
    return 2 * shared / (ours + theirs) if shared else 0.0
