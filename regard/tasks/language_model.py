"""What comes next? Trained on any text; writes on from any beginning.

B rows   T tokens   V vocabulary
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Self

import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import Tree
from regard.data.corpus import Texts
from regard.data.seen import Seen
from regard.errors import ConfigError, RunError
from regard.models.decoder import Decoder
from regard.models.ngram import NGram
from regard.models.predictor import Predictor
from regard.models.recurrent import RecurrentNetwork
from regard.names import PAD, Scores
from regard.nn.padding import padded
from regard.shapes import DecoderSettings
from regard.tasks.batches import Batches
from regard.tasks.carrying import Carried
from regard.tasks.decoding import chosen_decoding
from regard.tasks.memorised import memorised
from regard.tasks.ngram_writer import NGramWriter
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
)
from regard.tasks.text_choices import FACES, choose_for_text, example_for_text
from regard.tasks.text_compare import compare_texts, trained_on
from regard.tasks.text_data import (
    Documents,
    TextSplits,
    Tokens,
    beginnings,
    pieces_of,
    read_corpus,
    read_text,
    texts_to_learn_from,
    tokens_of,
)
from regard.tasks.text_proof import LONGEST, invent_text, probe_of_text
from regard.tasks.text_recipe import LanguageRecipe, WritingSettings
from regard.tasks.text_replay import replay_of, trace_of
from regard.tasks.text_scores import Context, beside_it, guess, tallies_of, texts_in
from regard.tasks.usual import Usual
from regard.tasks.windows import Shuffled, Streams, Window
from regard.tasks.writer import Writer, writer_of
from regard.text import fit_tokenizer, load_tokenizer
from regard.text.tokenizer import Tokenizer

COUNTED = 20_000_000  # tokens that the n-gram model learns from, at most
WATCHED = 50_000  # tokens judged by each validation
MADE_UP = 4  # windows that documents without a file have, at least


class LanguageModel(Usual):
    Recipe: ClassVar = LanguageRecipe
    faces: ClassVar = FACES
    columns: ClassVar = ("column", "target")  # there is only one
    face_settings: ClassVar = {"lstm": {"model": {"kind": "rnn"}}}

    def __init__(self, recipe: LanguageRecipe, tokenizer: Tokenizer, *, several: bool) -> None:
        self.recipe, self.tokenizer, self.several = recipe, tokenizer, several
        self._carried = Carried()
        self._tokens: dict[int, tuple[Texts, Tokens]] = {}

    # Reading

    @classmethod
    def read(cls, recipe: LanguageRecipe) -> TextSplits:
        return read_text(recipe.data)

    @property
    def split_rule(self) -> str:
        return "position: the text's beginning trains, its end tests"

    @classmethod
    def read_file(cls, recipe: LanguageRecipe, paths: Sequence[Path]) -> Part[str]:
        corpus = read_corpus(recipe.data, paths)
        return Part(corpus.all(), corpus.notes, corpus.skipped)  # type: ignore[arg-type]

    @classmethod
    def choose(cls, tree: Tree, face: str) -> Choice:
        return choose_for_text(tree, face)

    @classmethod
    def example(cls, face: str) -> Tree:
        return example_for_text(face)

    # The tokenizer

    @classmethod
    def fit(cls, recipe: LanguageRecipe, train: Texts) -> Self:
        tokenizer = fit_tokenizer(recipe.tokens, texts_to_learn_from(train))
        return cls(recipe, tokenizer, several=train.documents > 1)

    @classmethod
    def load(cls, recipe: LanguageRecipe, saved: dict[str, Any]) -> Self:
        if not isinstance(saved.get("several"), bool):
            raise RunError('tokenizer.json: "several" should be true or false. Copy the run again.')
        return cls(recipe, load_tokenizer(saved.get("tokens")), several=saved["several"])

    def as_json(self) -> dict[str, Any]:
        return {"tokens": self.tokenizer.as_json(), "several": self.several}

    def vocabulary(self) -> dict[str, int]:
        return {"tokens": self.tokenizer.size}

    # Training

    def network(self) -> nn.Module:
        shape = self.recipe.model
        if isinstance(shape, DecoderSettings):
            return Decoder.of(shape, self.tokenizer.size)
        return RecurrentNetwork(shape, self.tokenizer.size, tied=shape.tied)

    @property
    def length(self) -> int:
        return self.recipe.model.max_length

    @property
    def carries(self) -> bool:
        """Does its state go from step to step?"""
        return self.recipe.model.kind == "rnn"

    @property
    def across(self) -> bool:
        return self.recipe.data.across or self.carries

    def tokens(self, texts: Documents) -> Tokens:
        """Cut once, and kept: a part of a text is asked for again and again."""
        if not isinstance(texts, Texts):
            return tokens_of(texts, self.tokenizer)
        if id(texts) not in self._tokens:
            self._tokens[id(texts)] = texts, tokens_of(texts, self.tokenizer)
        return self._tokens[id(texts)][1]

    def prepare(self, examples: Documents) -> list[Window | None]:
        """Windows that stand for themselves: the beginnings of documents, or all of a text."""
        if not isinstance(examples, Texts):
            return [Window(self.tokens([text]).row[: self.length + 1]) for text in examples]
        row = self.tokens(examples).row
        starts = range(0, len(row) - 1, self.length)
        return [Window(row[start : start + self.length + 1]) for start in starts]

    def batches(self, train: Documents) -> Batches[Window]:
        """Documents that a proof makes up are short: they are cut into some windows at least."""
        kind = Streams if self.carries else Shuffled
        row, settings = self.tokens(train).row, self.recipe.train
        most = self.length if isinstance(train, Texts) else max(1, (len(row) - 1) // MADE_UP)
        return kind(row, min(self.length, most), settings.batch_tokens, self.recipe.seed)

    def lengths(self, prepared: Window) -> tuple[int]:
        return (len(prepared.ids) - 1,)

    def loss(self, network: nn.Module, batch: list[Window], smoothing: float = 0.0) -> Loss:
        device = next(network.parameters()).device
        ids = padded([window.ids.tolist() for window in batch]).to(device)  # (B, T + 1)
        logits = self._logits(network, ids[:, :-1], batch)  # (B, T, V)
        total = F.cross_entropy(
            logits.flatten(0, 1),
            ids[:, 1:].flatten(),
            ignore_index=PAD,
            label_smoothing=smoothing,
            reduction="sum",
        )
        return Loss(total, sum(len(window.ids) - 1 for window in batch))

    def _logits(self, network: Any, ids: Tensor, batch: list[Window]) -> Tensor:
        if isinstance(network, Decoder):
            return network(ids, texts=None if self.across else texts_in(ids))
        logits, last = network.read(ids, self._carried.before(batch, ids.device))
        self._carried.after(batch, last)
        return logits

    def carried(self) -> dict[str, Tensor]:
        return self._carried.as_tensors()

    def carry_on(self, tensors: Mapping[str, Tensor]) -> None:
        self._carried = Carried(tensors)

    def validate(self, network: nn.Module, examples: Documents) -> dict[str, float]:
        row = self.tokens(examples).row
        judged = guess(network, row[: WATCHED + 1], self.context())
        loss = float(judged.losses.mean())
        return {"loss": loss, "token_accuracy": 100 * float(judged.right.mean())}

    def context(self, stride: int | None = None) -> Context:
        """What tokens are judged with; a `stride` replaces the recipe's."""
        if stride is not None and not 1 <= stride <= self.length:
            raise ConfigError(
                f"stride ({stride}): expected 1 to {self.length}, the tokens of a window, "
                "model.max_length."
            )
        chosen = stride or self.recipe.stride or (None if self.carries else self.length)
        return Context(self.length, chosen, self.across)

    # Using

    def predictor(self, network: nn.Module, **decoding: Any) -> Writer:
        settings = chosen_decoding(self.recipe.decode, decoding)
        assert isinstance(settings, WritingSettings)
        return writer_of(network, self.tokenizer, settings, self._sight, several=self.several)

    @property
    def _sight(self) -> int | None:
        return None if self.carries else self.length

    def baselines(self, train: Documents) -> dict[str, Predictor]:
        row, tokenizer, settings = self.tokens(train).row, self.tokenizer, self.recipe.decode
        cut = len(row) > COUNTED
        model = NGram.fit(row[:COUNTED], tokenizer.size, self.recipe.order, cut=cut)
        seen = Seen.of(pieces_of(train))
        return {"ngram": NGramWriter(model, tokenizer, settings, several=self.several, seen=seen)}

    def load_baselines(self, folder: Path) -> dict[str, Predictor]:
        settings, several = self.recipe.decode, self.several
        return {
            "ngram": NGramWriter.load(folder / "ngram", self.tokenizer, settings, several=several)
        }

    def better(self, one: Scores, other: Scores) -> bool:
        return one["bits_per_byte"].value < other["bits_per_byte"].value

    def inputs(self, examples: Documents) -> list[str]:
        return []

    def evaluate(
        self, network: nn.Module, examples: Documents, baselines: Mapping[str, Any], decoding: Tree
    ) -> Evaluation:
        """`decoding` may have a stride; nothing is written."""
        tokens, context = self.tokens(examples), self.context(decoding.get("stride"))
        found = tallies_of(network, tokens, context)
        beside = {one.name: beside_it(one.model, tokens) for one in baselines.values()}
        counts = {"examples": len(tokens.row) - 1, "unknown_tokens": tokens.unknown}
        known = trained_on(baselines, examples)
        counts |= {"may_be_in_training": 1} if known is None else {"in_training": known}
        scores = {name: tally.score() for name, tally in found.items()}
        return Evaluation(scores, beside, counts, unit="tokens")

    def compare(self, one: Trained, other: Trained, examples: Documents) -> Compared:
        return compare_texts(one, other, examples)

    def last_scores(self, network: nn.Module, splits: TextSplits) -> Scores:
        train, test = self.tokens(splits.train).row, self.tokens(splits.test).row
        found = memorised(self.predictor(network).stepper, train, test)
        return {} if found is None else {"memorised": found}

    def samples(self, examples: Documents) -> list[str]:
        if self.recipe.samples:
            return list(self.recipe.samples)
        return beginnings(examples)

    def fits(self, text: str) -> bool:
        settings = self.recipe.decode
        return Writer(None, self.tokenizer, settings, self._sight, several=self.several).fits(text)

    def unknown(self, text: str) -> list[str]:
        return self.tokenizer.unknown(text)

    def replay(self, network: nn.Module, text: str) -> Replay:
        return replay_of(self.predictor(network), text)

    def trace(self, predictor: Writer, text: str, others: int) -> list[Step]:
        return trace_of(predictor, text, others)

    # Proving

    def probe(self) -> Probe:
        longest = LONGEST if self.carries else self.length
        return probe_of_text(self.tokenizer.size, longest)

    def invent(self, dice: Random, rows: int) -> list[str]:
        return invent_text(dice, rows, self.tokenizer)
