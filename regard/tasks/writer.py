"""A language model as a Predictor: a beginning in, what comes after it out."""

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from regard.decode.search import decode_several, decode_stream
from regard.decode.stepper import Decoded
from regard.errors import TextError
from regard.models.weights import save_weights
from regard.names import STOP, UNKNOWN, Prediction
from regard.tasks.continuing import Continuation
from regard.tasks.speaking import has_stopped, written
from regard.tasks.text_recipe import WritingSettings
from regard.text.tokenizer import Tokenizer, require_utf8

ROWS_AT_ONCE = 64  # texts written side by side
SHOWN = 10  # unknown pieces of a beginning
NEWLINE = "\n"


class Writer:
    """
    stepper   the network, or a count model, as decoding wants it
    longest   tokens that it can have in sight; None: no limit
    several   whether it was trained on more than one document: only then does it know how a
              document begins
    """

    name = "network"

    def __init__(
        self,
        stepper: Any,
        tokenizer: Tokenizer,
        settings: WritingSettings,
        longest: int | None,
        *,
        several: bool,
    ) -> None:
        self.stepper, self.tokenizer, self.settings = stepper, tokenizer, settings
        self.longest, self.several = longest, several
        self.answered = 0  # each text ever begun samples from its own random stream

    def encode(self, text: str) -> list[int]:
        """The tokens of a beginning; what stands before a document where there is none."""
        require_utf8(text)
        ids = self.tokenizer.ids(text)
        if self.several:
            ids = [STOP, *ids]
        if not ids:
            ids = self.tokenizer.ids(NEWLINE)
        if not ids or ids == [UNKNOWN]:
            raise TextError("nothing to go on with: give the beginning of a text.")
        limit, most = self.longest, len(ids) + self.settings.max_length
        if limit is not None and self.settings.beyond == "refuse" and most > limit + 1:
            raise TextError(
                f"a beginning of {len(ids)} tokens and {self.settings.max_length} more are too "
                f"long for this model, which has {limit} in sight: shorten one of them, or ask for "
                '--beyond slide (decode.beyond = "slide").'
            )
        return ids

    def fits(self, text: str) -> bool:
        """Can this beginning be gone on with?"""
        try:
            self.encode(text)
        except TextError:
            return False
        return True

    def remarks(self, text: str, written: int = 0) -> list[str]:
        """What to know about how a beginning is read, and about `written` tokens after it."""
        read, unknown = len(self.encode(text)), self.tokenizer.unknown(text)
        shown = " ".join(repr(piece) for piece in unknown[:SHOWN])
        met = [f"never met in training, so read as unknown: {shown}"] if unknown else []
        return met if self.longest is None else [*met, *_forgotten(self.longest, read, written)]

    def predict(self, inputs: Sequence[str]) -> list[Prediction]:
        encoded = [self.encode(text) for text in inputs]
        found: list[Prediction | None] = [None] * len(inputs)
        for places, outputs in self._written(encoded):
            for place, several in zip(places, outputs, strict=True):
                found[place] = self._prediction(inputs[place], encoded[place], several)
        return [one for one in found if one is not None]

    def _prediction(self, text: str, ids: list[int], several: list[Decoded]) -> Prediction:
        unknown = tuple(self.tokenizer.unknown(text)) if UNKNOWN in ids else ()
        texts = [written(self, output) for output in several]
        others = tuple(
            Prediction(text, other, output.score)
            for other, output in zip(texts[1:], several[1:], strict=True)
        )
        return Prediction(text, texts[0], several[0].score, unknown, others)

    def _written(self, encoded: list[list[int]]) -> Iterator[tuple[list[int], list[list[Decoded]]]]:
        """Beginnings of equal length are continued side by side."""
        first, self.answered = self.answered, self.answered + len(encoded)
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
        while order:
            length = len(encoded[order[0]])
            same = [i for i in order[:ROWS_AT_ONCE] if len(encoded[i]) == length]
            order = order[len(same) :]
            yield same, self.write([encoded[i] for i in same], [first + i for i in same])

    def write(self, rows: list[list[int]], numbers: list[int]) -> list[list[Decoded]]:
        """Outputs for beginnings of equal length."""
        return decode_several(
            self.stepper,
            rows,
            len(rows),
            self.settings,
            numbers=numbers,
            prompts=rows,
            done=self.done,
        )

    def done(self, row: int, tokens: list[int]) -> bool:
        return has_stopped(self, tokens)

    @property
    def writes(self) -> Tokenizer:
        return self.tokenizer

    def tokens_for(self, text: str) -> Generator[int, None, Decoded]:
        ids, number = self.encode(text), self.answered
        self.answered += 1
        return decode_stream(
            self.stepper, [ids], self.settings, number=number, prompt=ids, done=self.done
        )

    def save(self, folder: Path) -> None:
        save_weights(self.stepper.network, folder / "model.safetensors")


def _forgotten(longest: int, read: int, written: int) -> Iterator[str]:
    """Sentences on what a network with so many tokens in sight has not seen."""
    if read > longest:
        yield (
            f"the beginning has {read:,} tokens, and the model {longest:,} in sight: only the last "
            "ones are read."
        )
    room = longest + 1 - min(read, longest)  # the next token is chosen without the older half
    if written > room:
        yield (
            f"the model has {longest:,} tokens in sight: after {room:,} written ones it forgets "
            "the older half of the text, again and again."
        )


def writer_of(
    network: Any,
    tokenizer: Tokenizer,
    settings: WritingSettings,
    longest: int | None,
    *,
    several: bool,
) -> Writer:
    network.eval()
    return Writer(
        Continuation(network, ends=several), tokenizer, settings, longest, several=several
    )
