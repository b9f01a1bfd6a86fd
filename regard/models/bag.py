"""The bag of words that keeps networks honest: grams without order, and a linear judge over them
from scikit-learn. A network has understood something of a text only where it beats this one.

What is saved are arrays and a list of grams, never Python objects.

n texts   C classes   G grams   F features (see grams.py)
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from regard.errors import DataError, RunError
from regard.files import make_folder, read_bytes, read_table, write_bytes, write_json
from regard.label_shapes import BagSettings
from regard.models.grams import OVERLAPS, Floats, Grams
from regard.models.judges import learn, strength

FILE, FACTS = "bag.safetensors", "bag.json"
AT_ONCE = 1000  # texts whose rows are held at a time: some MB, of reviews
NAMES = ("words", "words and pairs", "words, pairs and triples")


class Bag:
    """Learned by `fit`, in one go.

    >>> texts = ["a good film", "so good !", "a bad film", "bad , bad"]
    >>> bag = Bag.fit(BagSettings(), texts, np.array([1, 1, 0, 0]), classes=2)
    >>> bag.name, bag.scores(["good", "bad"]).argmax(axis=1).tolist()
    ('bag of words and pairs, tfidf, logistic', [1, 0])
    """

    def __init__(
        self, settings: BagSettings, grams: Grams, weights: Floats, intercept: Floats
    ) -> None:
        self.settings = settings  # with the strength that was chosen, where none was given
        self.grams = grams
        self.weights = np.ascontiguousarray(weights)  # (F, C)
        self.intercept = intercept  # (C,)

    @property
    def name(self) -> str:
        grams = NAMES[self.settings.grams - 1]
        letters = f", up to {self.settings.letters} letters" if self.settings.letters else ""
        return f"bag of {grams}{letters}, {self.settings.weights}, {self.settings.judge}"

    @property
    def size(self) -> int:
        """How many grams it knows."""
        return len(self.grams.known)

    @classmethod
    def fit(
        cls,
        settings: BagSettings,
        texts: Sequence[str],
        labels: NDArray[Any],
        classes: int,
        others: Sequence[str] | None = None,
    ) -> Self:
        """Learn from texts (n), or from pairs of them with `others` (n).

        labels   (n,) the class of each text, below `classes`, or (n, classes) of 0 and 1: several
                 labels, each a yes or no by itself

        A class that no text has is never chosen; a label that all texts or none have is answered
        from that alone."""
        labels = _checked(labels, classes, len(texts))
        _refuse_unequal(texts, others)
        grams, rows = Grams.fit(settings, texts, others)
        settings = settings.model_copy(update={"strength": strength(settings, rows)})
        return cls(settings, grams, *learn(settings, rows, labels, classes, len(grams.known)))

    def scores(self, texts: Sequence[str], others: Sequence[str] | None = None) -> Floats:
        """(n, C) decision values; of logistic these are logits: softmax, or sigmoid for several
        labels, makes them probabilities. Two classes have the values -d/2 and d/2. A text without
        a known gram gets the intercept, and so do two texts without words."""
        self._refuse_unasked(texts, others)
        scores = np.empty((len(texts), len(self.intercept)))
        for start in range(0, len(texts), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            rows = self.grams.rows(texts[some], None if others is None else others[some])
            scores[some] = rows @ self.weights + self.intercept
        return scores

    def weights_of(self, text: str, other: str | None = None) -> list[tuple[str, Floats]]:
        """What each known gram of a text adds to the score of every class (C,); with the intercept,
        these add up to the scores. Words come first, then letters, each sorted by the gram;
        overlaps of two texts come last."""
        others = None if other is None else [other]
        self._refuse_unasked([text], others)
        row = self.grams.rows([text], others)
        values = zip(row.indices.tolist(), row.data.tolist(), strict=True)
        return [(self.grams.names[n], value * self.weights[n]) for n, value in values]

    def _refuse_unasked(self, texts: Sequence[str], others: Sequence[str] | None) -> None:
        if (others is not None) != self.grams.pairs:
            learned, found = ("pairs of", "single") if self.grams.pairs else ("single", "pairs of")
            raise DataError(f"this bag learned from {learned} texts, found {found} texts.")
        _refuse_unequal(texts, others)

    def save(self, folder: Path) -> None:
        """Write the grams and their weights."""
        make_folder(folder)
        arrays = {"weights": self.weights, "intercept": self.intercept}
        if self.grams.idf is not None:
            arrays["idf"] = self.grams.idf
        write_bytes(folder / FILE, save_arrays(arrays))
        facts = {"settings": self.settings.model_dump(), "pairs": self.grams.pairs}
        grams = {"grams": self.grams.words, "letters": self.grams.letters}
        write_json(folder / FACTS, facts | grams)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote; it scores exactly as the one saved."""
        facts = {"letters": [], **read_table(folder / FACTS)}  # older bags have none
        try:
            settings = BagSettings.model_validate(facts["settings"])
            arrays = load_arrays(read_bytes(folder / FILE))
            pairs, words, letters = facts["pairs"], facts["grams"], facts["letters"]
            _refuse_unfit(settings, pairs, words, letters, arrays)
            grams = Grams(settings, pairs, words, arrays.get("idf"), letters)
            return cls(settings, grams, arrays["weights"], arrays["intercept"])
        except (OSError, SafetensorError, LookupError, TypeError, ValueError) as error:
            raise RunError(f"{folder}: not a saved baseline: {error}\nCopy it again.") from error


def _checked(labels: NDArray[Any], classes: int, texts: int) -> NDArray[Any]:
    several = labels.ndim == 2
    expected = (texts, classes) if several else (texts,)
    if labels.shape != expected:
        raise DataError(f"expected labels {expected}, found {labels.shape}: one for each text.")
    limit = 2 if several else classes
    wrong = ~np.isin(labels, np.arange(limit))
    if wrong.any():
        raise DataError(f"expected labels from 0 to {limit - 1}, found {labels[wrong][0]}.")
    if not (labels != labels[:1]).any():
        raise DataError(
            f"nothing to tell apart: found {texts} texts, all of the same class. "
            "Is it the right column?"
        )
    return labels


def _refuse_unequal(texts: Sequence[str], others: Sequence[str] | None) -> None:
    if others is not None and len(others) != len(texts):
        raise DataError(f"found {len(texts)} first texts but {len(others)} second ones.")


def _refuse_unfit(
    settings: BagSettings, pairs: Any, words: Any, letters: Any, arrays: dict[str, NDArray[Any]]
) -> None:
    """A ValueError where the parts of a saved bag do not fit together."""
    whole = isinstance(pairs, bool) and _are_grams(words) and _are_grams(letters) and words
    if not whole or bool(letters) != (settings.letters > 0) or (pairs and letters):
        raise ValueError("its grams are not as Regard writes them")
    grams, classes = len(words) + len(letters), max(1, arrays["intercept"].size)
    features = grams + pairs * len(OVERLAPS)
    shapes: dict[str, tuple[int, ...]] = {"weights": (features, classes), "intercept": (classes,)}
    if settings.weights == "tfidf":
        shapes["idf"] = (grams,)
    if shapes != {name: array.shape for name, array in arrays.items()}:
        raise ValueError("its grams and weights do not fit together")
    if not all(a.dtype == np.float64 and np.isfinite(a).all() for a in arrays.values()):
        raise ValueError("some of its weights are no numbers")


def _are_grams(found: Any) -> bool:
    texts = isinstance(found, list) and all(isinstance(gram, str) for gram in found)
    return texts and len(set(found)) == len(found)
