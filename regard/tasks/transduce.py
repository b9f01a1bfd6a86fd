"""Text in, other text out: pronounce, translate, summarize. Trained on pairs.

B batch   S source tokens   T target tokens (START or STOP included)
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field, model_validator
from torch import nn

from regard.config import (
    DecodeSettings,
    Recipe,
    Settings,
    TokenizerSettings,
    TransformerSettings,
    check,
)
from regard.data.named import read_named
from regard.data.pairs import Pair, read_pairs
from regard.data.plan import cut
from regard.data.splits import Splits, split
from regard.decode.search import decode
from regard.errors import TextError
from regard.metrics.error_rates import piece_error_rate, whole_error_rate
from regard.models.encoder_decoder import EncoderDecoder, Source
from regard.models.nearest import Nearest
from regard.models.predictor import Predictor
from regard.models.weights import save_weights
from regard.names import PAD, START, STOP, Prediction, Scores
from regard.nn.padding import padded
from regard.tasks.task import Loss, Replay
from regard.text import fit_tokenizer, load_tokenizer
from regard.text.tokenizer import Tokenizer

WATCHED = 2000  # validation sources looked at while training
PREDICT_TOKENS = 8000  # source tokens decoded at once


class PairData(Settings):
    set: str | None = None
    """A named data set, such as "cmudict". Give this or `path`."""
    path: str | None = None
    """A file of source<TAB>target lines; relative to the recipe's folder."""
    split: tuple[float, float, float] = (90, 5, 5)
    """Percent of the sources for training, validation and test, by a hash of the source."""

    @model_validator(mode="after")
    def set_or_path(self) -> Self:
        if (self.set is None) == (self.path is None):
            raise ValueError(
                'give either set or path, as in set = "cmudict" or path = "pairs.tsv".'
            )
        return self


class TransduceRecipe(Recipe):
    task: Literal["transduce"] = "transduce"
    data: PairData
    source: TokenizerSettings
    target: TokenizerSettings | None = None
    """How the target is cut into tokens; without it both sides share the source's tokenizer."""
    model: TransformerSettings = Field(default_factory=TransformerSettings)
    decode: DecodeSettings = Field(default_factory=DecodeSettings)
    samples: tuple[str, ...] = ()
    """Inputs to show when the run is done; some of the test part by default."""


class IdPair(NamedTuple):
    """An example as token ids, without START and STOP."""

    source: list[int]
    target: list[int]


class Transduce:
    Recipe: ClassVar = TransduceRecipe

    def __init__(self, recipe: TransduceRecipe, source: Tokenizer, target: Tokenizer) -> None:
        self.recipe, self.source, self.target = recipe, source, target

    # Reading

    @classmethod
    def read(cls, recipe: TransduceRecipe) -> Splits[Pair]:
        data = recipe.data
        pairs = read_named(data.set) if data.set else read_pairs(Path(data.path or ""))
        return split(pairs, lambda pair: pair.source, data.split)

    @classmethod
    def read_file(cls, recipe: TransduceRecipe, path: Path) -> list[Pair]:
        return list(read_pairs(path))

    # Tokenizers

    @classmethod
    def fit(cls, recipe: TransduceRecipe, train: Sequence[Pair]) -> Self:
        sources, targets = (pair.source for pair in train), (pair.target for pair in train)
        if recipe.target is None:
            shared = fit_tokenizer(recipe.source, _both(train))
            return cls(recipe, shared, shared)
        source = fit_tokenizer(recipe.source, sources)
        return cls(recipe, source, fit_tokenizer(recipe.target, targets))

    @classmethod
    def load(cls, recipe: TransduceRecipe, saved: dict[str, Any]) -> Self:
        source = load_tokenizer(saved.get("source"))
        return cls(recipe, source, load_tokenizer(saved.get("target")) if recipe.target else source)

    def as_json(self) -> dict[str, Any]:
        own = {"target": self.target.as_json()} if self.recipe.target else {}
        return {"source": self.source.as_json(), **own}

    # Training

    def network(self) -> EncoderDecoder:
        own = self.source.size if self.recipe.target else None
        return EncoderDecoder(self.recipe.model, own, self.target.size)

    def prepare(self, example: Pair) -> IdPair | None:
        ids = IdPair(self.source.ids(example.source), self.target.ids(example.target))
        limit = self.recipe.model.max_length
        return ids if 0 < len(ids.source) <= limit and len(ids.target) < limit else None

    def lengths(self, prepared: IdPair) -> tuple[int, int]:
        return len(prepared.source), len(prepared.target) + 1

    def loss(self, network: nn.Module, batch: list[IdPair], smoothing: float = 0.0) -> Loss:
        device = _device_of(network)
        read = padded([[START, *pair.target] for pair in batch]).to(device)  # (B, T)
        write = padded([[*pair.target, STOP] for pair in batch]).to(device)  # (B, T)
        logits = network(Source.of([pair.source for pair in batch], device), read)  # (B, T, V)
        total = F.cross_entropy(
            logits.flatten(0, 1),
            write.flatten(),
            ignore_index=PAD,
            label_smoothing=smoothing,
            reduction="sum",
        )
        return Loss(total, sum(len(pair.target) + 1 for pair in batch))

    @torch.no_grad()
    def validate(self, network: nn.Module, examples: Sequence[Pair]) -> dict[str, float]:
        known = list(dict.fromkeys(pair.source for pair in examples))[:WATCHED]
        watched = [pair for pair in examples if pair.source in set(known)]
        prepared = [ids for pair in watched if (ids := self.prepare(pair))]
        losses = [self.loss(network, batch) for batch in self._batches(prepared)]
        mean = sum(float(loss.total) for loss in losses) / sum(loss.tokens for loss in losses)
        greedy = DecodeSettings(max_length=self.recipe.decode.max_length)
        outputs = Transducer(self, network, greedy).predict(known)
        return {"loss": mean, "per": _score(outputs, watched)["per"].value}

    def _batches(self, prepared: list[IdPair]) -> list[list[IdPair]]:
        ordered = sorted(prepared, key=self.lengths)
        lengths = np.array([self.lengths(ids) for ids in ordered])
        return [[ordered[i] for i in rows] for rows in cut(range(len(ordered)), lengths, 8000)]

    # Using

    def predictor(self, network: nn.Module, **decoding: Any) -> "Transducer":
        settings = {**self.recipe.decode.model_dump(), **decoding}
        return Transducer(self, network, check(DecodeSettings, settings, "decode"))

    def baseline(self, train: Sequence[Pair]) -> Nearest:
        return Nearest.fit([(pair.source, pair.target) for pair in train])

    def load_baseline(self, folder: Path) -> Nearest:
        return Nearest.load(folder)

    def evaluate(self, predictor: Predictor, examples: Sequence[Pair]) -> Scores:
        sources = list(dict.fromkeys(pair.source for pair in examples))
        return _score(predictor.predict(sources), examples)

    def samples(self, examples: Sequence[Pair]) -> list[str]:
        if self.recipe.samples:
            return list(self.recipe.samples)
        return list(dict.fromkeys(pair.source for pair in examples))[:12]

    @torch.no_grad()
    def replay(self, network: nn.Module, text: str) -> Replay:
        if not self.source.ids(text):
            raise TextError("nothing to look at: the text is empty.")
        output = self.predictor(network).predict([text])[0].output
        device = _device_of(network)
        ids = IdPair(self.source.ids(text), self.target.ids(output))
        written = tuple(self.target.pieces([*ids.target, STOP]))
        read = tuple(self.target.pieces([START, *ids.target]))
        source = tuple(self.source.pieces(ids.source))
        return Replay(
            source=text,
            output=output,
            run=lambda: network(
                Source.of([ids.source], device), padded([[START, *ids.target]]).to(device)
            ),
            axes={
                "encoder": (source, source),
                "decoder": (written, read),
                "cross": (written, source),
            },
        )


class Transducer:
    """A trained network as a Predictor: strings in, strings out, in order."""

    name = "transformer"

    def __init__(self, task: Transduce, network: Any, settings: DecodeSettings) -> None:
        self.task, self.network, self.settings = task, network, settings

    def predict(self, inputs: Sequence[str]) -> list[Prediction]:
        """One prediction an input. An input without tokens gets an empty output."""
        encoded = [self._encode(text) for text in inputs]
        order = sorted((i for i, ids in enumerate(encoded) if ids), key=lambda i: len(encoded[i]))
        found = {i: Prediction(text, "") for i, text in enumerate(inputs)}
        lengths = np.array([[len(encoded[i])] for i in order]).reshape(-1, 1)
        self.network.eval()
        for rows in cut(order, lengths, PREDICT_TOKENS):
            source = Source.of([encoded[i] for i in rows], _device_of(self.network))
            for i, best in zip(
                rows,
                decode(self.network, source, len(rows), self.settings, numbers=rows),
                strict=True,
            ):
                found[i] = Prediction(inputs[i], self.task.target.decode(best.tokens), best.score)
        return [found[i] for i in range(len(inputs))]

    def save(self, folder: Path) -> None:
        save_weights(self.network, folder / "model.safetensors")

    def _encode(self, text: str) -> list[int]:
        ids = self.task.source.ids(text)
        limit = self.task.recipe.model.max_length
        if len(ids) > limit:
            raise TextError(
                f"the input {text[:40]!r}... has {len(ids)} tokens, but this model was trained "
                f"for at most {limit}: split it, or train with a larger model.max_length."
            )
        return ids


def _score(outputs: list[Prediction], examples: Iterable[Pair]) -> Scores:
    """Every pronunciation or translation of a source counts as right: the nearest is taken."""
    references: dict[str, list[str]] = {}
    for pair in examples:
        references.setdefault(pair.source, []).append(pair.target)
    answers = [p.output for p in outputs]
    accepted = [references[p.input] for p in outputs]
    return {"per": piece_error_rate(answers, accepted), "wer": whole_error_rate(answers, accepted)}


def _both(train: Sequence[Pair]) -> Iterable[str]:
    for pair in train:
        yield pair.source
        yield pair.target


def _device_of(network: nn.Module) -> torch.device:
    return next(network.parameters()).device
