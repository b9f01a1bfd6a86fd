"""A trained network that turns text into text, as a Predictor: strings in, strings out."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.config import DecodeSettings
from regard.data.plan import cut
from regard.decode.search import Heard, decode_several
from regard.decode.stepper import Decoded
from regard.errors import TextError
from regard.models.encoder import Source
from regard.models.weights import save_weights
from regard.names import STOP, UNKNOWN, Prediction
from regard.text.tokenizer import Tokenizer, require_utf8

TOKENS_AT_ONCE = 8000  # source tokens decoded in one batch
HALF = "\ufffd"  # how bytes are shown that are not yet a character


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
            best, *others = (Prediction(inputs[i], self._text(o), o.score) for o in outputs)
            unknown = self.source.unknown(inputs[i]) if UNKNOWN in encoded[i] else ()
            found[i] = replace(best, unknown=tuple(unknown), others=tuple(others))
        return [found[i] for i in range(len(inputs))]

    def say(self, text: str, heard: Callable[[str], object]) -> Decoded:
        """The answer to one input; `heard` is told every new piece of it as soon as it is there. A
        beam is told when it is done."""
        tokens: list[int] = []
        told = ""

        def tell(newest: list[int]) -> None:
            nonlocal told
            tokens.extend(token for token in newest if token != STOP)
            whole = self.target.decode(tokens)
            if not whole.endswith(HALF):  # wait for the rest of the character
                heard(whole[len(told) :])
                told = whole

        ids = self.encode(text)
        if not ids:
            raise TextError("nothing was said: the text is empty.")
        answer = self.search([ids], tell)[0][0]
        heard(self._text(answer)[len(told) :])
        return answer

    def _text(self, output: Decoded) -> str:
        return self.target.decode(output.tokens)

    def search(self, encoded: Sequence[list[int]], heard: Heard = len) -> dict[int, list[Decoded]]:
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
                self.network, source, len(rows), self.settings, numbers=streams, heard=heard
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
