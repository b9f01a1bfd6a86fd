"""Texts as rows of numbers: which words, and pairs of neighbours, each of them has.

Words are what WORD finds: runs of letters and digits, of one character too ("I", "7"), and every
! and ? by itself, since they set a rave apart from a remark and a question from an answer. "Don't"
is two words, "don" and "t", and their pair.

Two texts that are judged together share a row: the grams that both have, those that only the first
and those that only the second has, each with its mark, and numbers that say how far they overlap.

n texts   G grams   F features: the grams and, of two texts, the overlaps
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.shapes import BagSettings

Floats = NDArray[np.float64]


class NoGrams(DataError):
    """No gram is in as many texts as it must be."""


WORD = r"\w+|[!?]"
MARKS = ("both: ", "first: ", "second: ")  # no gram has a colon
OVERLAPS = (
    "overlap: words, of the shorter",
    "overlap: words, of the longer",
    "overlap: pairs, of the shorter",
    "overlap: pairs, of the longer",
    "overlap: length",
    "overlap: other numbers",
)


class Grams:
    """The grams that are known, and how texts become rows of them."""

    def __init__(
        self, settings: BagSettings, pairs: bool, known: list[str], idf: Floats | None
    ) -> None:
        self.settings, self.pairs, self.known = settings, pairs, known
        self.idf = idf  # (G,) of tfidf
        self.names = [*known, *OVERLAPS] if pairs else known  # (F,)
        # Made from what is saved, even right after fitting: then loading can change nothing.
        self.vectorizer = _vectorizer(settings, pairs, known)
        if idf is not None:
            self.vectorizer.idf_ = idf

    @classmethod
    def fit(
        cls, settings: BagSettings, texts: Sequence[str], others: Sequence[str] | None
    ) -> tuple[Self, Any]:
        """The grams of these texts, and the texts' rows (n, F)."""
        pairs = others is not None
        vectorizer = _vectorizer(settings, pairs)
        try:
            rows = vectorizer.fit_transform(_documents(texts, others))
        except ValueError as error:  # no grams, or none that is frequent
            raise NoGrams(
                f"nothing to learn from: found {len(texts)} texts, and no gram that is in "
                f"{settings.min_count} of them. Is it the right column? Else lower min_count."
            ) from error
        known = vectorizer.get_feature_names_out().tolist()
        grams = cls(settings, pairs, known, getattr(vectorizer, "idf_", None))
        return grams, grams._with_overlaps(rows, texts, others)

    def rows(self, texts: Sequence[str], others: Sequence[str] | None = None) -> Any:
        """(n, F) sparse, of one text at least. One without a known gram is a row of zeros."""
        found = self.vectorizer.transform(_documents(texts, others))
        return self._with_overlaps(found, texts, others)

    def _with_overlaps(self, rows: Any, texts: Sequence[str], others: Sequence[str] | None) -> Any:
        if others is None:
            return rows
        from scipy.sparse import csr_array, hstack  # type: ignore[import-untyped]

        words = _words(self.settings)
        found = [overlaps(words(a), words(b)) for a, b in zip(texts, others, strict=True)]
        return hstack([rows, csr_array(np.array(found))], format="csr")


def overlaps(first: Sequence[str], second: Sequence[str]) -> list[float]:
    """OVERLAPS of two texts' words, each from 0 to 1; without words, all are 0.

    >>> overlaps(["a", "cat", "sat"], ["the", "cat", "sat", "down"])
    [0.6666666666666666, 0.5, 0.5, 0.3333333333333333, 0.75, 0.0]
    """
    numbers: list[float] = []
    for a, b in ((first, second), (list(pairwise(first)), list(pairwise(second)))):
        both = (Counter(a) & Counter(b)).total()
        numbers += [both / max(1, min(len(a), len(b))), both / max(1, len(a), len(b))]
    digits = [{word for word in words if word.isdecimal()} for words in (first, second)]
    length = min(len(first), len(second)) / max(1, len(first), len(second))
    return [*numbers, length, float(digits[0] != digits[1])]


def _documents(texts: Sequence[str], others: Sequence[str] | None) -> Sequence[Any]:
    return texts if others is None else list(zip(texts, others, strict=True))


def _vectorizer(settings: BagSettings, pairs: bool, known: list[str] | None = None) -> Any:
    """scikit-learn's, that learns the grams of texts or of pairs of texts, or has them already."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    options: dict[str, Any] = {"vocabulary": known}
    if known is None:
        options |= {"min_df": settings.min_count, "max_features": settings.size}
    if pairs:
        options["analyzer"] = _marked(settings)
    else:
        options |= _splitting(settings)
    if settings.weights == "tfidf":
        return TfidfVectorizer(sublinear_tf=True, **options)
    return CountVectorizer(binary=settings.weights == "binary", **options)


def _splitting(settings: BagSettings) -> dict[str, Any]:
    grams = (1, settings.grams)
    return {"token_pattern": WORD, "ngram_range": grams, "lowercase": settings.lowercase}


def _words(settings: BagSettings) -> Callable[[str], list[str]]:
    from sklearn.feature_extraction.text import CountVectorizer

    split: Callable[[str], list[str]] = CountVectorizer(
        **_splitting(settings) | {"ngram_range": (1, 1)}
    ).build_analyzer()
    return split


def _marked(settings: BagSettings) -> Callable[[tuple[str, str]], list[str]]:
    """What turns a pair of texts into its grams, each marked with whose it is."""
    from sklearn.feature_extraction.text import CountVectorizer

    split = CountVectorizer(**_splitting(settings)).build_analyzer()

    def grams(pair: tuple[str, str]) -> list[str]:
        first, second = (Counter(split(text)) for text in pair)
        parts = (first & second, first - second, second - first)
        return [
            mark + gram for mark, part in zip(MARKS, parts, strict=True) for gram in part.elements()
        ]

    return grams
