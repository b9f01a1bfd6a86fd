"""What a classifier must beat: the most frequent label, and a bag of words.

n texts   C classes
"""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from regard.errors import RunError
from regard.files import make_folder, read_table, write_json
from regard.label_shapes import BagSettings
from regard.models.bag import Bag
from regard.models.grams import NoGrams
from regard.names import Prediction
from regard.tasks.judging import predicted_all, probabilities_of
from regard.tasks.label_data import both_texts

WEIGHTS = 40_000_000  # of a bag, at most: with 1,000 classes the 40,000 most frequent grams

Wanted = NDArray[np.int64]  # (n,) class numbers, or (n, C) of zeros and ones


class Majority:
    """Whatever the text: how frequent each label is. It also remembers, by a hash, which texts it
    has seen."""

    name = "most frequent label"
    file = "majority.json"

    def __init__(
        self, shares: Sequence[float], seen: frozenset[str], labels: Sequence[str], several: bool
    ) -> None:
        self.shares, self.seen, self.labels, self.several = list(shares), seen, labels, several

    @classmethod
    def fit(
        cls,
        inputs: Sequence[str],
        wanted: Wanted,
        labels: Sequence[str],
        *,
        several: bool,
        unlabelled: Sequence[str] = (),
    ) -> Self:
        counts = wanted.sum(axis=0) if several else np.bincount(wanted, minlength=len(labels))
        shares = (counts / max(1, len(inputs))).tolist()
        return cls(shares, frozenset(map(_digest, [*inputs, *unlabelled])), labels, several)

    def probabilities(self, inputs: Sequence[str]) -> NDArray[np.float64]:
        return np.tile(np.array(self.shares, dtype=np.float64), (len(inputs), 1))

    def predict(self, inputs: Sequence[str]) -> list[Prediction]:
        return predicted_all(inputs, self.probabilities(inputs), self.labels, several=self.several)

    def known(self, inputs: Sequence[str]) -> list[bool]:
        return [_digest(text) in self.seen for text in inputs]

    def save(self, folder: Path) -> None:
        make_folder(folder)
        write_json(folder / self.file, {"shares": self.shares, "seen": sorted(self.seen)})

    @classmethod
    def load(cls, folder: Path, labels: Sequence[str], *, several: bool) -> Self:
        match read_table(folder / cls.file):
            case {"shares": [*shares], "seen": [*seen]} if len(shares) == len(labels):
                return cls(shares, frozenset(seen), labels, several)
        raise RunError(f"{folder / cls.file}: not a saved baseline. Copy the run again.")


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def fitting_bag(
    settings: BagSettings, inputs: Sequence[str], wanted: Wanted, classes: int, *, pairs: bool
) -> Bag | None:
    """A bag of any texts, within memory; None where there is no word in all of them, or nothing to
    tell apart. Of few texts, or of a script without blanks, each gram may be in one text only: they
    count then."""
    if not (wanted != wanted[:1]).any():
        return None
    texts, others = both_texts(inputs, pairs)
    settings = settings.model_copy(update={"size": most_grams(classes)})
    for least in (settings.min_count, 1):
        with suppress(NoGrams):
            rarest = settings.model_copy(update={"min_count": least})
            return Bag.fit(rarest, texts, wanted, classes, others)
    return None


def most_grams(classes: int) -> int:
    """Grams that a bag of so many classes may know, so that it fits into memory."""
    return max(1, WEIGHTS // classes)


class Bags:
    """TF-IDF of words and pairs of words, judged by logistic regression."""

    name = "bag of words and pairs (TF-IDF, logistic regression)"
    file = "calibration.json"

    def __init__(self, bag: Bag, labels: Sequence[str], several: bool, pairs: bool) -> None:
        self.bag, self.labels, self.several, self.pairs = bag, labels, several, pairs
        self.temperature = 1.0  # until it is settled, or loaded

    @classmethod
    def fit(
        cls,
        inputs: Sequence[str],
        wanted: Wanted,
        labels: Sequence[str],
        *,
        several: bool,
        pairs: bool,
    ) -> Self | None:
        """None where there is no word in all texts, or nothing to tell apart."""
        bag = fitting_bag(BagSettings(), inputs, wanted, len(labels), pairs=pairs)
        return None if bag is None else cls(bag, labels, several, pairs)

    def probabilities(self, inputs: Sequence[str]) -> NDArray[np.float64]:
        return probabilities_of(self.scores(inputs) / self.temperature, several=self.several)

    def scores(self, inputs: Sequence[str]) -> NDArray[np.float64]:
        """(n, C)"""
        return self.bag.scores(*both_texts(inputs, self.pairs))

    def predict(self, inputs: Sequence[str]) -> list[Prediction]:
        return predicted_all(inputs, self.probabilities(inputs), self.labels, several=self.several)

    def save(self, folder: Path) -> None:
        self.bag.save(folder)
        write_json(folder / self.file, {"temperature": self.temperature})

    @classmethod
    def load(cls, folder: Path, labels: Sequence[str], *, several: bool, pairs: bool) -> Self:
        found = cls(Bag.load(folder), labels, several, pairs)
        if (folder / cls.file).exists():  # older runs have none
            match read_table(folder / cls.file):
                case {"temperature": float(temperature)} if temperature > 0:
                    found.temperature = temperature
                case _:
                    raise RunError(f"{folder / cls.file}: not a temperature. Copy the run again.")
        return found
