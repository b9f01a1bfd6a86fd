"""Text in, other text out: pronounce, translate, summarize. Trained on pairs.

B batch   S source tokens   T target tokens (START or STOP included)
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import Tree
from regard.data.pairs import Pair
from regard.data.plan import cut
from regard.data.splits import Splits
from regard.errors import DataError, TextError
from regard.metrics import LOWER_IS_BETTER, METRICS
from regard.metrics.bootstrap import Tally
from regard.models.encoder import Source
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.predictor import Predictor
from regard.models.seq2seq import Seq2Seq
from regard.names import PAD, START, STOP, Prediction, Scores
from regard.nn.padding import padded
from regard.tasks.answering import evaluate_answers
from regard.tasks.batches import Rows
from regard.tasks.decoding import chosen_decoding
from regard.tasks.pair_baselines import fit_baselines, load_baselines
from regard.tasks.pair_choices import FACES, choose_for_pairs, example_for_pairs
from regard.tasks.pair_comparing import compare_pairs
from regard.tasks.pair_data import read_part, read_splits
from regard.tasks.pair_doubts import turned_around
from regard.tasks.pair_proof import invent_pairs, probe_of_pairs
from regard.tasks.pair_recipe import TransduceRecipe, as_seen
from regard.tasks.pair_replay import replay_of, trace_of
from regard.tasks.pair_scores import answers_of, judged, tallies_of, told_tokens
from regard.tasks.probe import Probe
from regard.tasks.task import (
    Choice,
    Compared,
    Evaluation,
    Loss,
    Part,
    Replay,
    Step,
    Trained,
    predict_fitting,
)
from regard.tasks.transducer import Transducer, device_of
from regard.tasks.usual import Usual
from regard.text import fit_tokenizer, load_tokenizer
from regard.text.tokenizer import Tokenizer

NETWORKS: dict[str, Any] = {"transformer": EncoderDecoder, "rnn": Seq2Seq}
SAMPLES = 12  # inputs shown when the run is done
WATCHED = 1000  # validation sources looked at while training


class IdPair(NamedTuple):
    """An example as token ids, without START and STOP."""

    source: list[int]
    target: list[int]


class Transduce(Usual):
    Recipe: ClassVar = TransduceRecipe
    faces: ClassVar = FACES

    def __init__(self, recipe: TransduceRecipe, source: Tokenizer, target: Tokenizer) -> None:
        self.recipe, self.source, self.target = recipe, source, target

    # Reading

    @classmethod
    def read(cls, recipe: TransduceRecipe) -> Splits[Pair]:
        return read_splits(recipe.data, lambda pair: as_seen(pair.group, recipe.source))

    @property
    def split_rule(self) -> str:
        if self.recipe.data.turns:
            return "a hash of the conversation: all its replies are on one side"
        return "a hash of the source, as the model sees it: equal sources are on one side"

    @classmethod
    def read_file(cls, recipe: TransduceRecipe, paths: Sequence[Path]) -> Part[Pair]:
        return read_part(recipe.data, paths, fallback=True)

    @classmethod
    def choose(cls, tree: Tree, face: str) -> Choice:
        return choose_for_pairs(tree, face)

    @classmethod
    def example(cls, face: str) -> Tree:
        return example_for_pairs(face)

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

    def vocabulary(self) -> dict[str, int]:
        if self.recipe.target is None:
            return {"both": self.source.size}
        return {"source": self.source.size, "target": self.target.size}

    # Training

    def network(self) -> nn.Module:
        own, shape = self.source.size if self.recipe.target else None, self.recipe.model
        return NETWORKS[shape.kind](shape, own, self.target.size)

    def prepare(self, examples: Sequence[Pair]) -> list[IdPair | None]:
        sources = self.source.ids_of([pair.source for pair in examples])
        targets = self.target.ids_of([pair.target for pair in examples])
        limit = self.recipe.model.max_length
        return [
            IdPair(source, target) if 0 < len(source) <= limit and len(target) < limit else None
            for source, target in zip(sources, targets, strict=True)
        ]

    def batches(self, train: Sequence[Pair]) -> Rows[IdPair]:
        settings = self.recipe.train
        return Rows(self.prepare(train), self.lengths, settings.batch_tokens, self.recipe.seed)

    def lengths(self, prepared: IdPair) -> tuple[int, int]:
        return len(prepared.source), len(prepared.target) + 1

    def loss(self, network: nn.Module, batch: list[IdPair], smoothing: float = 0.0) -> Loss:
        logits = self._logits(network, batch)  # (B, T, V)
        write = padded([[*pair.target, STOP] for pair in batch]).to(logits.device)  # (B, T)
        total = F.cross_entropy(
            logits.flatten(0, 1),
            write.flatten(),
            ignore_index=PAD,
            label_smoothing=smoothing,
            reduction="sum",
        )
        return Loss(total, sum(len(pair.target) + 1 for pair in batch))

    def _logits(self, network: nn.Module, batch: list[IdPair]) -> Tensor:
        """Scores (B, T, V) of each next target token, given the source and those before it."""
        device = device_of(network)
        read = padded([[START, *pair.target] for pair in batch]).to(device)  # (B, T)
        return network(Source.of([pair.source for pair in batch], device), read)

    @torch.no_grad()
    def validate(self, network: nn.Module, examples: Sequence[Pair]) -> dict[str, float]:
        every = self.inputs(examples)
        known = every[:: -(-len(every) // WATCHED)]  # evenly: files are often sorted
        chosen = set(known)
        watched = [pair for pair in examples if pair.source in chosen]
        prepared = [ids for ids in self.prepare(watched) if ids]
        losses = [self.loss(network, batch) for batch in self._batches(prepared)]
        tokens = sum(loss.tokens for loss in losses)
        if not tokens:
            raise DataError(
                "every validation example is empty or longer than model.max_length: raise it."
            )
        mean = sum(float(loss.total) for loss in losses) / tokens
        greedy = self.predictor(network, beam=1, temperature=0.0, n=1)
        first = self.recipe.metrics[0]
        outputs, accepted = judged(predict_fitting(self, greedy, known), watched)
        return {"loss": mean, first: METRICS[first](outputs, accepted).value}

    def _batches(self, prepared: list[IdPair]) -> list[list[IdPair]]:
        ordered = sorted(prepared, key=self.lengths)
        lengths = np.array([self.lengths(ids) for ids in ordered])
        return [[ordered[i] for i in rows] for rows in cut(range(len(ordered)), lengths, 8000)]

    # Using

    def predictor(self, network: nn.Module, **decoding: Any) -> Transducer:
        longest = self.recipe.model.max_length  # tokens read, START among them, or written
        settings = chosen_decoding(self.recipe.decode, decoding, longest)
        return Transducer(network, self.source, self.target, settings, longest)

    def baselines(self, train: Sequence[Pair]) -> dict[str, Predictor]:
        return fit_baselines(train)

    def load_baselines(self, folder: Path) -> dict[str, Predictor]:
        return load_baselines(folder)

    def known(self, baselines: dict[str, Any], inputs: Sequence[str]) -> list[bool]:
        pairs = baselines["nearest"].pairs
        trained = {as_seen(source, self.recipe.source) for source, _ in pairs}
        return [as_seen(text, self.recipe.source) in trained for text in inputs]

    def better(self, one: Scores, other: Scores) -> bool:
        first = self.recipe.metrics[0]
        sign = -1 if first in LOWER_IS_BETTER else 1
        return sign * one[first].value > sign * other[first].value

    def inputs(self, examples: Sequence[Pair]) -> list[str]:
        return list(dict.fromkeys(pair.source for pair in examples))

    def score(self, predictions: Sequence[Prediction], examples: Sequence[Pair]) -> Scores:
        outputs, accepted = judged(predictions, examples)
        return {name: METRICS[name](outputs, accepted) for name in self.recipe.metrics}

    def evaluate(
        self,
        network: nn.Module,
        examples: Sequence[Pair],
        baselines: Mapping[str, Predictor],
        decoding: Tree,
    ) -> Evaluation:
        sure = {n: tally.score() for n, tally in self.tallies(network, examples).items()}
        score = partial(self.score, examples=examples)
        counts = {"unknown_targets": sum(bool(self.target.unknown(p.target)) for p in examples)}
        return evaluate_answers(self, network, examples, baselines, decoding, score, sure, counts)

    def compare(self, one: Trained, other: Trained, examples: Sequence[Pair]) -> Compared:
        return compare_pairs(one, other, examples)

    def answers(self, examples: Sequence[Pair]) -> dict[str, list[str]]:
        return answers_of(examples)

    def doubt(self, examples: Sequence[Pair], baselines: Mapping[str, Any]) -> str:
        return turned_around(examples, baselines["nearest"].pairs)

    @torch.no_grad()
    def tallies(self, network: nn.Module, examples: Sequence[Pair]) -> dict[str, Tally]:
        """How well the next token is known when all before it are given."""
        network.eval()
        batches = self._batches([ids for ids in self.prepare(examples) if ids])
        return tallies_of(
            [
                row
                for batch in batches
                for row in told_tokens(self._logits(network, batch), [ids.target for ids in batch])
            ]
        )

    def samples(self, examples: Sequence[Pair]) -> list[str]:
        if self.recipe.samples:
            return list(self.recipe.samples)
        fitting = [text for text in self.inputs(examples) if self.fits(text)]
        return fitting[:: -(-len(fitting) // SAMPLES) or 1]  # evenly: files are often sorted

    def fits(self, text: str) -> bool:
        try:
            return 0 < len(self.source.ids(text)) <= self.recipe.model.max_length
        except TextError:  # half a character
            return False

    def unknown(self, text: str) -> list[str]:
        return self.source.unknown(text)

    def replay(self, network: nn.Module, text: str) -> Replay:
        return replay_of(self.predictor(network), text)

    def trace(self, predictor: Transducer, text: str, others: int) -> list[Step]:
        return trace_of(predictor, text, others)

    # Proving

    def probe(self) -> Probe:
        return probe_of_pairs(self.source.size, self.target.size, self.recipe.model.max_length)

    def invent(self, dice: Random, rows: int) -> list[Pair]:
        longest = self.recipe.model.max_length
        return invent_pairs(dice, rows, self.source, self.target, longest)


def _both(train: Sequence[Pair]) -> Iterable[str]:
    for pair in train:
        yield pair.source
        yield pair.target
