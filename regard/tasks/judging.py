"""A classifier as a Predictor: texts in, labels and their probabilities out.

B texts   C classes
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.plan import cut as cut_batches
from regard.models.encoder import Source
from regard.models.weights import save_weights
from regard.names import Prediction

TOKENS_AT_ONCE = 16_000
YES = 0.5  # the probability from which on one of several labels is given


class Judging(ABC):
    """
    network       what judges
    labels        names of the classes, in order
    several       whether a text may have several labels, or none
    temperature   divides the scores, so that probabilities are as often right as they say
    """

    name = "network"

    def __init__(
        self, network: Any, labels: Sequence[str], *, several: bool, temperature: float = 1.0
    ) -> None:
        self.network, self.labels = network, labels
        self.several, self.temperature = several, temperature

    @abstractmethod
    def scores(self, inputs: Sequence[str]) -> NDArray[np.float64]:
        """(B, C) before they become probabilities"""

    def unknown(self, text: str) -> list[str]:
        """Pieces that were never met in training."""
        return []

    def is_cut(self, text: str) -> bool:
        """Is a part of it not read?"""
        return False

    def predict(self, inputs: Sequence[str]) -> list[Prediction]:
        found = predicted_all(inputs, self.probabilities(inputs), self.labels, several=self.several)
        return [
            replace(one, unknown=tuple(self.unknown(one.input)), cut=self.is_cut(one.input))
            for one in found
        ]

    def probabilities(self, inputs: Sequence[str]) -> NDArray[np.float64]:
        """(B, C)"""
        return probabilities_of(self.scores(inputs) / self.temperature, several=self.several)

    def save(self, folder: Path) -> None:
        save_weights(self.network, folder / "model.safetensors")


class Reader(Protocol):
    """What cuts texts into tokens: a task."""

    labels: list[str]

    @property
    def several(self) -> bool: ...
    def encode(self, text: str) -> tuple[list[int], list[int] | None]:
        """Token ids, and segments or None"""

    def unknown(self, text: str) -> list[str]: ...
    def is_cut(self, text: str) -> bool: ...


class Judge(Judging):
    """A network over tokens."""

    def __init__(self, network: Any, reader: Reader, temperature: float = 1.0) -> None:
        super().__init__(network, reader.labels, several=reader.several, temperature=temperature)
        self.encode, self.reader = reader.encode, reader

    def unknown(self, text: str) -> list[str]:
        return self.reader.unknown(text)

    def is_cut(self, text: str) -> bool:
        return self.reader.is_cut(text)

    @torch.no_grad()
    def scores(self, inputs: Sequence[str]) -> NDArray[np.float64]:
        """Short texts are read with short ones."""
        self.network.eval()
        device = next(self.network.parameters()).device
        encoded = [self.encode(text) for text in inputs]
        order = sorted(range(len(inputs)), key=lambda i: len(encoded[i][0]))
        lengths = np.array([len(encoded[i][0]) for i in order]).reshape(-1, 1)
        found = np.zeros((len(inputs), len(self.labels)))
        for rows in cut_batches(order, lengths, TOKENS_AT_ONCE):
            source = source_of([encoded[i] for i in rows], device)
            found[rows] = self.network(source).double().cpu().numpy()
        return found


def source_of(rows: Sequence[tuple[list[int], list[int] | None]], device: torch.device) -> Source:
    ids, segments = zip(*rows, strict=True)
    source = Source.of(list(ids), device)
    if segments[0] is None:
        return source
    return Source(source.ids, source.lengths, Source.of(list(segments), device).ids)


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
) -> Prediction:
    """The likeliest label, or all that are likelier than not, separated by commas."""
    if several:
        chosen = [i for i, p in enumerate(chances) if p >= YES]
        output = ", ".join(labels[i] for i in chosen)
        sure = float(np.prod(np.maximum(chances, 1 - chances)))
    else:
        best = int(chances.argmax())
        output, sure = labels[best], float(chances[best])
    by_label = {label: float(p) for label, p in zip(labels, chances, strict=True)}
    return Prediction(text, output, float(np.log(max(sure, 1e-300))), probabilities=by_label)
