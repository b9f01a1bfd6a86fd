"""Texts as rows of numbers: which words, and pairs of neighbours, each of them has.

Words are what WORD finds: runs of letters and digits, of one character too ("I", "7"), and every
! and ? by itself, since they set a rave apart from a remark and a question from an answer. "Don't"
is two words, "don" and "t", and their pair. In scripts without blanks every letter is a word. Where
they are asked for, grams of letters stand beside them: all that are 2 to so many characters long,
marks and blanks included.

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
from regard.label_shapes import BagSettings
from regard.names import UNSPACED

Floats = NDArray[np.float64]
Options = dict[str, Any]  # of scikit-learn


class NoGrams(DataError):
    """No gram is in as many texts as it must be."""


WORD = rf"(?=\w)[{UNSPACED}]|[^\W{UNSPACED}]+|[!?]"
MARKS = ("both: ", "first: ", "second: ")  # no gram of words has a colon
LETTERS = "letters:"  # what follows is the gram, from its first blank to its last
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
        self,
        settings: BagSettings,
        pairs: bool,
        words: list[str],
        idf: Floats | None,
        letters: Sequence[str] = (),
    ) -> None:
        self.settings, self.pairs = settings, pairs
        self.words, self.letters = words, list(letters)
        self.idf = idf  # (G,) of tfidf
        self.known = [*words, *(LETTERS + gram for gram in letters)]  # (G,)
        self.names = [*self.known, *OVERLAPS] if pairs else self.known  # (F,)
        # Made from what is saved, even right after fitting: then loading can change nothing.
        splits = _splits(settings, pairs).values()
        parts = zip(splits, (words, self.letters), strict=False)
        self.vectorizers = [_vectorizer(settings, split, known) for split, known in parts]
        if idf is not None:
            for part, values in zip(self.vectorizers, np.split(idf, [len(words)]), strict=False):
                part.idf_ = values

    @classmethod
    def fit(
        cls, settings: BagSettings, texts: Sequence[str], others: Sequence[str] | None
    ) -> tuple[Self, Any]:
        """The grams of these texts, and the texts' rows (n, F)."""
        documents, pairs = _documents(texts, others), others is not None
        if pairs and settings.letters:
            raise DataError(f"letters = {settings.letters}: of single texts only, found pairs.")
        splits = _splits(settings, pairs).items()
        found = [_learned(settings, name, split, documents) for name, split in splits]
        known = [part.get_feature_names_out().tolist() for part, _ in found]
        tfidf = settings.weights == "tfidf"
        idf = np.concatenate([part.idf_ for part, _ in found]) if tfidf else None
        grams = cls(settings, pairs, known[0], idf, *known[1:])
        return grams, grams._side_by_side([rows for _, rows in found], texts, others)

    def rows(self, texts: Sequence[str], others: Sequence[str] | None = None) -> Any:
        """(n, F) sparse, of one text at least. One without a known gram is a row of zeros."""
        documents = _documents(texts, others)
        parts = [vectorizer.transform(documents) for vectorizer in self.vectorizers]
        return self._side_by_side(parts, texts, others)

    def _side_by_side(
        self, parts: list[Any], texts: Sequence[str], others: Sequence[str] | None
    ) -> Any:
        """Words, then letters, then the overlaps of two texts."""
        from scipy.sparse import csr_array, hstack  # type: ignore[import-untyped]

        if others is not None:
            words = _words(self.settings)
            found = [overlaps(words(a), words(b)) for a, b in zip(texts, others, strict=True)]
            parts = [*parts, csr_array(np.array(found))]
        return parts[0] if len(parts) == 1 else hstack(parts, format="csr")


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


def _learned(
    settings: BagSettings, name: str, split: Options, documents: Sequence[Any]
) -> tuple[Any, Any]:
    """The vectorizer of one part, and its rows."""
    vectorizer = _vectorizer(settings, split)
    try:
        return vectorizer, vectorizer.fit_transform(documents)
    except ValueError as error:  # no grams, or none that is frequent
        raise NoGrams(
            f"nothing to learn from: found {len(documents)} texts, and no {name} that is in "
            f"{settings.min_count} of them. Is it the right column? Else lower min_count."
        ) from error


def _vectorizer(settings: BagSettings, split: Options, known: list[str] | None = None) -> Any:
    """scikit-learn's, that learns the grams of one part, or has them already."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    options: Options = {"vocabulary": known, **split}
    if known is None:
        options |= {"min_df": settings.min_count, "max_features": settings.size}
    if settings.weights == "tfidf":
        return TfidfVectorizer(sublinear_tf=True, **options)
    return CountVectorizer(binary=settings.weights == "binary", **options)


def _splits(settings: BagSettings, pairs: bool) -> dict[str, Options]:
    """How each part cuts texts, or pairs of texts, into its grams."""
    words = {"analyzer": _marked(settings)} if pairs else _splitting(settings)
    return {"gram": words} | ({"gram of letters": _spelling(settings)} if settings.letters else {})


def _spelling(settings: BagSettings) -> Options:
    def whole(text: str) -> str:
        """Half characters as ?, since no file could hold their grams."""
        text = text.lower() if settings.lowercase else text
        return text.encode("utf-8", "replace").decode("utf-8")

    return {"analyzer": "char", "ngram_range": (2, settings.letters), "preprocessor": whole}


def _splitting(settings: BagSettings) -> Options:
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
