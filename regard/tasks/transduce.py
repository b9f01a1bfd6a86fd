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
from regard.errors import DataError, TextError
from regard.metrics.error_rates import piece_error_rate, whole_error_rate
from regard.models.encoder_decoder import EncoderDecoder, Source
from regard.models.nearest import Nearest
from regard.names import PAD, START, STOP, Prediction, Scores
from regard.nn.padding import padded
from regard.tasks.task import Loss, Replay, predict_fitting
from regard.tasks.transducer import Transducer, device_of
from regard.text import fit_tokenizer, load_tokenizer
from regard.text.tokenizer import Tokenizer, fold

WATCHED = 1000  # validation sources looked at while training


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
        if not all(self.split):
            raise ValueError("split: training, validation and test each need a share above 0.")
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
    split_rule = "a hash of the source, as the model sees it: equal sources are on one side"

    def __init__(self, recipe: TransduceRecipe, source: Tokenizer, target: Tokenizer) -> None:
        self.recipe, self.source, self.target = recipe, source, target

    # Reading

    @classmethod
    def read(cls, recipe: TransduceRecipe) -> Splits[Pair]:
        data = recipe.data
        pairs = read_named(data.set) if data.set else read_pairs(Path(data.path or ""))
        return split(pairs, lambda pair: _as_seen(pair.source, recipe.source), data.split)

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
        device = device_of(network)
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
        every = self.inputs(examples)
        known = every[:: -(-len(every) // WATCHED)]  # evenly: files are often sorted
        chosen = set(known)
        watched = [pair for pair in examples if pair.source in chosen]
        prepared = [ids for pair in watched if (ids := self.prepare(pair))]
        losses = [self.loss(network, batch) for batch in self._batches(prepared)]
        tokens = sum(loss.tokens for loss in losses)
        if not tokens:
            raise DataError(
                "every validation example is empty or longer than model.max_length: raise it."
            )
        mean = sum(float(loss.total) for loss in losses) / tokens
        found = predict_fitting(self, self.predictor(network, beam=1, temperature=0.0), known)
        return {"loss": mean, "per": self.score(found, watched)["per"].value}

    def _batches(self, prepared: list[IdPair]) -> list[list[IdPair]]:
        ordered = sorted(prepared, key=self.lengths)
        lengths = np.array([self.lengths(ids) for ids in ordered])
        return [[ordered[i] for i in rows] for rows in cut(range(len(ordered)), lengths, 8000)]

    # Using

    def predictor(self, network: nn.Module, **decoding: Any) -> Transducer:
        """Asking for a temperature means asking to sample, also where the recipe has beams."""
        if decoding.get("temperature"):
            decoding.setdefault("beam", 1)
        chosen = {**self.recipe.decode.model_dump(), **decoding}
        settings = check(DecodeSettings, chosen, "decode")
        longest = self.recipe.model.max_length
        fitting = settings.model_copy(update={"max_length": min(settings.max_length, longest - 1)})
        return Transducer(network, self.source, self.target, fitting, longest)

    def baseline(self, train: Sequence[Pair]) -> Nearest:
        return Nearest.fit([(pair.source, pair.target) for pair in train])

    def load_baseline(self, folder: Path) -> Nearest:
        return Nearest.load(folder)

    def inputs(self, examples: Sequence[Pair]) -> list[str]:
        return list(dict.fromkeys(pair.source for pair in examples))

    def score(self, predictions: Sequence[Prediction], examples: Sequence[Pair]) -> Scores:
        """Every target of a source counts as right: the nearest one is taken."""
        references: dict[str, list[str]] = {}
        for pair in examples:
            references.setdefault(pair.source, []).append(pair.target)
        outputs = [p.output for p in predictions]
        accepted = [references[p.input] for p in predictions]
        return {
            "per": piece_error_rate(outputs, accepted),
            "wer": whole_error_rate(outputs, accepted),
        }

    def samples(self, examples: Sequence[Pair]) -> list[str]:
        if self.recipe.samples:
            return list(self.recipe.samples)
        return [text for text in self.inputs(examples) if self.fits(text)][:12]

    def fits(self, text: str) -> bool:
        return 0 < len(self.source.ids(text)) <= self.recipe.model.max_length

    @torch.no_grad()
    def replay(self, network: nn.Module, text: str) -> Replay:
        predictor = self.predictor(network)
        ids = predictor.encode(text)
        if not ids:
            raise TextError("nothing to look at: the text is empty.")
        best = predictor.search([ids])[0]
        written = [*best.tokens, STOP] if best.finished else best.tokens
        read = [START, *written[:-1]]
        rows, seen = tuple(self.target.pieces(written)), tuple(self.target.pieces(read))
        columns, device = tuple(self.source.pieces(ids)), device_of(network)
        return Replay(
            source=text,
            output=self.target.decode(best.tokens),
            run=lambda: network(Source.of([ids], device), padded([read]).to(device)),
            axes={"encoder": (columns, columns), "decoder": (rows, seen), "cross": (rows, columns)},
        )


def _as_seen(source: str, settings: TokenizerSettings) -> str:
    """The source without what its tokenizer throws away, so that no two that look alike to the
    model are split."""
    source = fold(source) if settings.lowercase else source
    return " ".join(source.split()) if settings.kind == "word" else source


def _both(train: Sequence[Pair]) -> Iterable[str]:
    for pair in train:
        yield pair.source
        yield pair.target
