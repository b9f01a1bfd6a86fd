"""A classifier as a Predictor: texts in, labels and their probabilities out.

B texts   C classes
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.plan import cut as cut_batches
from regard.models.encoder import Source
from regard.models.weights import save_weights
from regard.names import Prediction
from regard.nn.padding import boxed, padded

TOKENS_AT_ONCE = 16_000
YES = 0.5  # the probability from which on one of several labels is given


class Reader(Protocol):
    """What a judge asks about texts: a task."""

    labels: list[str]
    """Names of the classes, in order."""

    @property
    def several(self) -> bool:
        """May a text have several labels, or none?"""

    def require(self, text: str) -> None:
        """Refuse what can not be judged."""

    def unknown(self, text: str) -> list[str]:
        """Pieces that were never met in training."""

    def is_cut(self, text: str) -> bool:
        """Is a part of it not read?"""


class Judging(ABC):
    """
    network       what judges
    temperature   divides the scores, so that probabilities are as often right as they say
    n             how many labels are told, the likeliest first
    """

    name = "network"

    def __init__(self, network: Any, reader: Reader, temperature: float = 1.0) -> None:
        self.network, self.reader, self.temperature, self.n = network, reader, temperature, 1

    @abstractmethod
    def scores(self, inputs: Sequence[str]) -> NDArray[np.float64]:
        """(B, C) before they become probabilities"""

    def predict(self, inputs: Sequence[str]) -> list[Prediction]:
        for text in inputs:
            self.reader.require(text)
        labels, several = self.reader.labels, self.reader.several
        rows = zip(inputs, self.probabilities(inputs), strict=True)
        found = [predicted(text, row, labels, several=several, n=self.n) for text, row in rows]
        return [
            replace(
                one,
                unknown=tuple(self.reader.unknown(one.input)),
                cut=self.reader.is_cut(one.input),
            )
            for one in found
        ]

    def probabilities(self, inputs: Sequence[str]) -> NDArray[np.float64]:
        """(B, C)"""
        return self.chances(self.scores(inputs))

    def chances(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """(B, C) -> (B, C)"""
        return probabilities_of(scores / self.temperature, several=self.reader.several)

    def save(self, folder: Path) -> None:
        save_weights(self.network, folder / "model.safetensors")


class Encoded(NamedTuple):
    """A text as a network takes it; what it takes none of is None."""

    ids: list[int]
    segments: list[int] | None = None
    spelling: list[tuple[int, ...]] | None = None  # runs of letters of each token


class TokenReader(Reader, Protocol):
    def encode(self, text: str) -> Encoded: ...


class Judge(Judging):
    """A network over tokens."""

    def __init__(self, network: Any, reader: TokenReader, temperature: float = 1.0) -> None:
        super().__init__(network, reader, temperature)
        self.encode = reader.encode

    @torch.no_grad()
    def scores(self, inputs: Sequence[str]) -> NDArray[np.float64]:
        """Short texts are read with short ones."""
        self.network.eval()
        device = next(self.network.parameters()).device
        encoded = [self.encode(text) for text in inputs]
        order = sorted(range(len(inputs)), key=lambda i: len(encoded[i].ids))
        lengths = np.array([len(encoded[i].ids) for i in order]).reshape(-1, 1)
        found = np.zeros((len(inputs), len(self.reader.labels)))
        for rows in cut_batches(order, lengths, TOKENS_AT_ONCE):
            source = source_of([encoded[i] for i in rows], device)
            found[rows] = self.network(source).double().cpu().numpy()
        return found


def source_of(rows: Sequence[Encoded], device: torch.device) -> Source:
    source = Source.of([row.ids for row in rows], device)
    segments = [row.segments for row in rows if row.segments is not None]
    spelling = [row.spelling for row in rows if row.spelling is not None]
    return replace(
        source,
        segments=padded(segments).to(device) if segments else None,
        spelling=boxed(spelling).to(device) if spelling else None,
    )


def probabilities_of(scores: NDArray[np.float64], *, several: bool) -> NDArray[np.float64]:
    """(B, C) -> (B, C): rows that sum to one, or of each label by itself."""
    if several:
        whole: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(scores, -500, 500)))
        return whole
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    one: NDArray[np.float64] = shifted / shifted.sum(axis=1, keepdims=True)
    return one


def predicted_all(
    inputs: Sequence[str],
    probabilities: NDArray[np.float64],
    labels: Sequence[str],
    *,
    several: bool,
) -> list[Prediction]:
    pairs = zip(inputs, probabilities, strict=True)
    return [predicted(text, row, labels, several=several) for text, row in pairs]


def predicted(
    text: str,
    chances: NDArray[np.float64],
    labels: Sequence[str],
    *,
    several: bool,
    n: int = 1,
) -> Prediction:
    """The `n` likeliest labels, or all that are likelier than not, separated by commas."""
    by_label = {label: float(p) for label, p in zip(labels, chances, strict=True)}
    if several:
        given = tuple(label for label, p in by_label.items() if p >= YES)
        sure = _log(float(np.prod(np.maximum(chances, 1 - chances))))
        return Prediction(text, ", ".join(given), sure, probabilities=by_label, labels=given)
    order = np.argsort(-chances, kind="stable")[:n]
    best, *others = (Prediction(text, labels[i], _log(float(chances[i]))) for i in order)
    return replace(best, others=tuple(others), probabilities=by_label)


def likeliest(judgement: Prediction) -> str:
    """The label with the highest probability, whether it is given or not."""
    chances = judgement.probabilities or {}
    return max(chances, key=lambda label: chances[label])


def _log(chance: float) -> float:
    return float(np.log(max(chance, 1e-300)))
