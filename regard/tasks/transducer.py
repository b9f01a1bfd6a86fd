"""A trained network that turns text into text, as a Predictor: strings in, strings out."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.config import DecodeSettings
from regard.data.plan import cut
from regard.decode.search import decode_several, decode_stream
from regard.decode.stepper import Decoded
from regard.errors import TextError
from regard.models.encoder import Source
from regard.models.weights import save_weights
from regard.names import UNKNOWN, Prediction
from regard.tasks.speaking import has_stopped, written
from regard.text.tokenizer import Tokenizer, require_utf8

TOKENS_AT_ONCE = 8000  # source tokens decoded in one batch


class Transducer:
    name = "network"

    def __init__(
        self,
        network: Any,
        source: Tokenizer,
        target: Tokenizer,
        settings: DecodeSettings,
        longest: int,
    ) -> None:
        self.network, self.source, self.target = network, source, target
        self.settings, self.longest = settings, longest
        self.answered = 0  # each input ever answered samples from its own random stream

    def predict(self, inputs: Sequence[str]) -> list[Prediction]:
        """One prediction an input. An input without tokens gets an empty output."""
        encoded = [self.encode(text) for text in inputs]
        found = {i: Prediction(text, "") for i, text in enumerate(inputs)}
        for i, outputs in self.search(encoded).items():
            best, *others = (self._told(inputs[i], output) for output in outputs)
            unknown = self.source.unknown(inputs[i]) if UNKNOWN in encoded[i] else ()
            found[i] = replace(best, unknown=tuple(unknown), others=tuple(others))
        return [found[i] for i in range(len(inputs))]

    def _told(self, text: str, output: Decoded) -> Prediction:
        return Prediction(text, written(self, output), output.score, finished=output.finished)

    @property
    def writes(self) -> Tokenizer:
        return self.target

    def done(self, row: int, tokens: list[int]) -> bool:
        return has_stopped(self, tokens)

    def tokens_for(self, text: str) -> Generator[int, None, Decoded]:
        ids, number = self.encode(text), self.answered
        if not ids:
            raise TextError("nothing was said: the text is empty.")
        self.answered += 1
        self.network.eval()
        source = Source.of([ids], device_of(self.network))
        return decode_stream(self.network, source, self.settings, number=number, done=self.done)

    def search(self, encoded: Sequence[list[int]]) -> dict[int, list[Decoded]]:
        """The outputs for each row that has tokens, short rows decoded with short ones."""
        order = sorted((i for i, ids in enumerate(encoded) if ids), key=lambda i: len(encoded[i]))
        lengths = np.array([len(encoded[i]) for i in order]).reshape(-1, 1)
        first, self.answered = self.answered, self.answered + len(encoded)
        found: dict[int, list[Decoded]] = {}
        self.network.eval()
        for rows in cut(order, lengths, TOKENS_AT_ONCE):
            source = Source.of([encoded[i] for i in rows], device_of(self.network))
            streams = [first + i for i in rows]
            outputs = decode_several(
                self.network, source, len(rows), self.settings, numbers=streams, done=self.done
            )
            found |= zip(rows, outputs, strict=True)
        return found

    def encode(self, text: str) -> list[int]:
        require_utf8(text)
        ids = self.source.ids(text)
        if len(ids) > self.longest:
            raise TextError(
                f"the input {text[:40]!r}... has {len(ids)} tokens, but this model was trained "
                f"for at most {self.longest}: split it, or train with a larger model.max_length."
            )
        return ids

    def save(self, folder: Path) -> None:
        save_weights(self.network, folder / "model.safetensors")


def device_of(network: torch.nn.Module) -> torch.device:
    return next(network.parameters()).device
