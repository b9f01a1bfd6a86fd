"""What is this text? Trained on texts with labels.

B batch   T tokens   C classes
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, cast

from torch import Tensor, nn

from regard.config import Tree
from regard.data.labels import Labelled
from regard.data.splits import Splits
from regard.errors import ConfigError, RunError
from regard.files import read_table
from regard.label_shapes import ReadingStackSettings
from regard.models.classifier import Classifier, ReadingSettings
from regard.models.weights import load_weights, read_weights
from regard.models.wide import Wide
from regard.names import START, STOP, UNKNOWN
from regard.tasks.judging import Encoded, Judge, source_of
from regard.tasks.label_data import input_of, texts_of, warn_of
from regard.tasks.label_proof import invent_labels, probe_of_labels, replay_of
from regard.tasks.label_recipe import ClassifyRecipe
from regard.tasks.label_share import settle_share
from regard.tasks.label_teaching import labelled
from regard.tasks.labelling import Judged, Labelling
from regard.tasks.named_labels import label_counts
from regard.tasks.probe import Probe
from regard.tasks.task import Replay
from regard.tasks.truncating import Token
from regard.tasks.truncating import cut as shortened
from regard.text import fit_tokenizer, load_tokenizer
from regard.text.spelling import parts_of
from regard.text.tokenizer import Tokenizer, fold

BY_KIND: dict[str, type[Labelling]] = {}
"""Kinds of models that are no networks over tokens, and how to classify by them."""
Spelled = tuple[int, tuple[int, ...]]  # a token, and its runs of letters where they are asked for
NEXT_TOKENS = "embed.judge.weight"  # of a GPT with model.tied = false: it scores next tokens alone


class Classify(Labelling):
    def __init__(
        self,
        recipe: ClassifyRecipe,
        tokenizer: Tokenizer,
        counts: Mapping[str, int],
        texts: int | None = None,
    ) -> None:
        super().__init__(recipe, counts, texts)
        self.tokenizer = tokenizer

    # What is learned before the network

    @classmethod
    def fit(cls, recipe: ClassifyRecipe, train: Sequence[Labelled]) -> Any:
        """By the kind of model that the recipe has."""
        known = labelled(train)
        warn_of(known, recipe.data.separator)
        if kind := BY_KIND.get(recipe.model.kind):
            return kind.fit(recipe, train)
        counts = label_counts(train, recipe.data.separator)
        if recipe.begin is not None:
            tokenizer = tokenizer_of(Path(recipe.begin))
        else:
            assert recipe.tokens is not None
            tokenizer = fit_tokenizer(recipe.tokens, (t for e in train for t in (e.text, e.other)))
        return cls(recipe, tokenizer, counts, len(known))

    @classmethod
    def load(cls, recipe: ClassifyRecipe, saved: dict[str, Any]) -> Any:
        if kind := BY_KIND.get(recipe.model.kind):
            return kind.load(recipe, saved)
        texts = saved.get("texts", 0)  # older runs did not say
        match saved:
            case {"labels": dict(counts)} if counts and _are_numbers([*counts.values(), texts]):
                tokenizer = load_tokenizer(saved.get("tokens"))
                return cls(recipe, tokenizer, counts, saved.get("texts"))
        raise RunError('tokenizer.json: "labels" should name every class. Copy the run again.')

    def as_json(self) -> dict[str, Any]:
        return {"tokens": self.tokenizer.as_json(), **self.labels_as_json()}

    def vocabulary(self) -> dict[str, int]:
        return {"tokens": self.tokenizer.size}

    # Training

    @property
    def shape(self) -> ReadingSettings:
        return cast(ReadingSettings, self.recipe.model)

    def network(self) -> nn.Module:
        return Classifier(self.shape, self.tokenizer.size, len(self.labels))

    def begin(self, network: nn.Module, train: Sequence[Labelled]) -> None:
        """Where the recipe names a run to begin with: its weights. A linear judge beside the
        network learns now."""
        if self.recipe.begin is not None and self.recipe.begin_with == "weights":
            path = Path(self.recipe.begin) / "model.safetensors"
            weights = read_weights(path)
            weights.pop(NEXT_TOKENS, None)
            load_weights(network.get_submodule("body.stack"), weights, str(path))
        if self.shape.wide:
            known = [e for e in self.taught(train) if -1 not in self.classes_of(e)]
            wide = cast(Wide, network.get_submodule("wide"))
            ids = [self.encode(input_of(e)).ids for e in known]
            wide.fit(ids, self.trained(known), balanced=self.recipe.balanced)

    def settle(
        self, network: nn.Module, splits: Splits[Labelled], baselines: Mapping[str, Any]
    ) -> Tree:
        if self.shape.wide:
            settle_share(self, network, splits.validation)
        return super().settle(network, splits, baselines)

    @property
    def _causal(self) -> bool:
        return isinstance(self.shape, ReadingStackSettings) and self.shape.causal

    @cached_property
    def _segments(self) -> bool:
        return isinstance(self.shape, ReadingStackSettings) and self.shape.segments > 0

    def encode(self, text: str) -> Encoded:
        """[START] text [STOP] other [STOP]; a language model begins texts with STOP."""
        return self._read(text)[0]

    def is_cut(self, text: str) -> bool:
        return self._read(text)[1]

    def _read(self, text: str) -> tuple[Encoded, bool]:
        """What the network takes, and whether it is less than all."""
        first, second = (self._tokens(part) for part in texts_of(text, self.pairs))
        start: Spelled = (STOP if self._causal else START, ())
        head, tail = self._arranged(first, second, start, (STOP, ()))
        ids, spelling = map(list, zip(*head, *tail, strict=True))
        segments = [0] * len(head) + [1] * len(tail) if self._segments else None
        encoded = Encoded(ids, segments, spelling if self.shape.spelling else None)
        return encoded, len(first) + len(second) > self._room

    @property
    def _room(self) -> int:
        """For tokens of texts, beside those that stand around them."""
        return self.shape.max_length - 2 - self.pairs

    def _arranged(
        self, first: list[Token], second: list[Token], start: Token, stop: Token
    ) -> tuple[list[Token], list[Token]]:
        """What is read of the two texts, with what stands around them."""
        room, keep = self._room, self.recipe.keep
        half = max(room - len(second), -(-room // 2)) if self.pairs else room
        head = [start, *shortened(first, half, keep), stop]
        tail = [*shortened(second, room - len(head) + 2, keep), stop] if self.pairs else []
        return head, tail

    def pieces(self, text: str) -> list[str]:
        """One for each token that is read, to show; what is unknown stands as it was typed."""
        first, second = (self._typed(part)[1] for part in texts_of(text, self.pairs))
        head, tail = self._arranged(first, second, "", "")
        ids = self.encode(text).ids
        told = zip(ids, self.tokenizer.pieces(ids), head + tail, strict=True)
        return [typed if token == UNKNOWN else piece for token, piece, typed in told]

    def _typed(self, text: str) -> tuple[list[int], list[str]]:
        """Its tokens, and the characters that each of them stands for."""
        ids, offsets = self.tokenizer.encode(text)
        return ids, [text[start:stop] for start, stop in offsets]

    def _tokens(self, text: str) -> list[Spelled]:
        rows = self.shape.spelling
        if not rows:
            return [(token, ()) for token in self.tokenizer.ids(text)]
        folded = self.recipe.tokens is not None and self.recipe.tokens.lowercase
        ids, words = self._typed(text)
        spelled = (parts_of(fold(word) if folded else word, rows) for word in words)
        return list(zip(ids, spelled, strict=True))

    def prepare(self, examples: Sequence[Labelled]) -> list[Judged | None]:
        rows = []
        for example in examples:
            (ids, segments, spelling), cut = self._read(input_of(example))
            classes = self.classes_of(example)
            rows.append(Judged(ids, segments, classes, cut=cut, spelling=spelling))
        return [None if -1 in row.classes or not row.classes else row for row in rows]

    def logits(self, network: nn.Module, batch: list[Judged]) -> Tensor:
        device = next(network.parameters()).device
        rows = [Encoded(row.ids, row.segments, row.spelling) for row in batch]
        logits: Tensor = network(source_of(rows, device))
        return logits

    # Using

    def judge(self, network: nn.Module, temperature: float = 1.0) -> Judge:
        return Judge(network, self, temperature)

    def unknown(self, text: str) -> list[str]:
        found = map(self.tokenizer.unknown, texts_of(text, self.pairs))
        return list(dict.fromkeys(chain.from_iterable(found)))

    def replay(self, network: nn.Module, text: str) -> Replay:
        return replay_of(self, network, text)

    # Proving

    def probe(self) -> Probe:
        return probe_of_labels(self.tokenizer.size, self.shape.max_length)

    def invent(self, dice: Random, rows: int) -> list[Labelled]:
        between = self.recipe.data.separator
        return invent_labels(dice, rows, self.tokenizer, self.labels, between, pairs=self.pairs)


def _are_numbers(found: Sequence[Any]) -> bool:
    return {type(one) for one in found} == {int}


def tokenizer_of(folder: Path) -> Tokenizer:
    """Of a run that holds a language model."""
    saved = read_table(folder / "tokenizer.json")
    if "tokens" not in saved:
        raise ConfigError(f"begin: {folder} holds no language model to begin with.")
    return load_tokenizer(saved["tokens"])
