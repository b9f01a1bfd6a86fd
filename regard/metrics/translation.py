"""BLEU and chrF, counted by sacrebleu (Post 2018), so that they are the numbers papers report.

sacrebleu counts the n-grams of every sentence; the sums are turned into the score here, for
many samples at a time. It is imported only when a score is asked for.
"""

from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from regard.metrics.bootstrap import Counts, Tally
from regard.metrics.metric import Metric, Outputs, References

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacreMetric

BETA = 2  # chrF2: recall counts twice as much as precision


@Metric
def bleu(outputs: Outputs, references: References) -> Tally:
    """BLEU (Papineni et al. 2002) of the whole corpus, 0 to 100: 13a tokens, capitals count,
    exponential smoothing.

    >>> bleu(["the cat sat on the mat"], [["the cat sat on the mat"]]).value
    100.0
    """
    from sacrebleu import BLEU

    # force: no remark on standard error about outputs that look tokenized.
    metric = BLEU(tokenize="13a", smooth_method="exp", force=True)
    rows, signature = _count(metric, outputs, references)
    return Tally(rows, bleu_value, f"BLEU|{signature}")


@Metric
def chrf(outputs: Outputs, references: References) -> Tally:
    """chrF2 (Popović 2015) of the whole corpus, 0 to 100: n-grams of 1 to 6 characters, blanks
    left out, capitals count.

    >>> chrf(["the cat"], [["the cat", "a cat"]]).value
    100.0
    """
    from sacrebleu import CHRF

    rows, signature = _count(CHRF(beta=BETA), outputs, references)
    return Tally(rows, chrf_value, f"chrF{BETA}|{signature}")


def bleu_value(totals: Counts) -> Counts:
    """(..., 10) -> (...). Counts: output tokens, those of the nearest reference, then for n-grams
    of 1 to 4 tokens how many are right, and how many there are."""
    length, wanted = totals[..., 0], totals[..., 1]
    right, all_ngrams = totals[..., 2:6], totals[..., 6:10]
    missing = right == 0
    halved = 0.5 ** missing.cumsum(axis=-1)  # each order without a match counts half the one before
    precision = np.where(missing, halved, right) / np.maximum(all_ngrams, 1)
    mean = np.exp(np.log(precision).mean(axis=-1))
    brevity = np.exp(np.minimum(0, 1 - wanted / np.maximum(length, 1)))
    defined = right.any(axis=-1) & all_ngrams.all(axis=-1)
    return np.where(defined, 100 * brevity * mean, 0.0)


def chrf_value(totals: Counts) -> Counts:
    """(..., 18) -> (...). Counts, for n-grams of 1 to 6 characters each: those of the output,
    those of the reference, those they share."""
    output, reference, shared = (totals[..., i::3] for i in range(3))  # (..., 6) each
    counted = (output > 0) & (reference > 0)  # a text of 3 characters has no 4-grams to miss
    orders = np.maximum(counted.sum(axis=-1), 1)
    precision = (counted * shared / np.maximum(output, 1)).sum(axis=-1) / orders
    recall = (counted * shared / np.maximum(reference, 1)).sum(axis=-1) / orders
    below = BETA**2 * precision + recall
    above: Counts = 100 * (1 + BETA**2) * precision * recall
    return above / np.where(below == 0, 1, below)


def _count(metric: "SacreMetric", outputs: Outputs, references: References) -> tuple[Counts, str]:
    """sacrebleu's counts of every sentence, and its signature.

    Counts are not in its public interface, only scores are. This is the one place that reaches
    behind it; the tests compare every score with the public one.
    """
    streams = list(zip_longest(*references))  # the first references, the second ...; None: no more
    counts = metric._extract_corpus_statistics(outputs, streams)
    return np.array(counts, float), str(metric.get_signature())
