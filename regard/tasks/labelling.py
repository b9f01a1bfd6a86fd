"""What all that judge texts by labels have in common, whatever the model: labels, losses, scores.

B batch   C classes
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.config import Tree
from regard.data.labels import Labelled
from regard.data.splits import Splits
from regard.errors import ConfigError
from regard.metrics.bootstrap import Tally
from regard.models.predictor import Predictor
from regard.names import Scores
from regard.tasks.batches import Rows
from regard.tasks.judging import Judging, probabilities_of
from regard.tasks.label_baselines import Bags, Majority
from regard.tasks.label_choices import FACES, choose_for_labels, example_for_labels
from regard.tasks.label_comparing import compare_labels
from regard.tasks.label_data import input_of, read_part, read_sides
from regard.tasks.label_details import details_of
from regard.tasks.label_loss import (
    loss_of_one,
    loss_of_several,
    weights_of_one,
    weights_of_several,
)
from regard.tasks.label_recipe import ClassifyRecipe
from regard.tasks.label_scores import scored, tallies_of, temperature_of
from regard.tasks.label_teaching import labelled, taught, unlabelled, with_unlabelled
from regard.tasks.named_labels import NamedLabels, label_counts
from regard.tasks.task import Choice, Compared, Evaluation, Loss, Part, Step, Trained

SAMPLES = 12


class Judged(NamedTuple):
    """A text as token ids, and the classes it belongs to."""

    ids: list[int]
    segments: list[int] | None
    classes: tuple[int, ...]
    values: tuple[float, ...] = ()  # of a bag: what each of its grams counts
    cut: bool = False  # whether a part of the text was left out
    spelling: list[tuple[int, ...]] | None = None  # runs of letters of each token


class Labelling(NamedLabels, ABC):
    """A base: a task says how texts become what its model takes, and how the model judges."""

    Recipe: ClassVar = ClassifyRecipe
    faces: ClassVar = FACES
    columns: ClassVar = ("text", "label")
    temperature = 1.0  # until it is settled, or recalled
    _taught: tuple[list[int], int] | None = None  # texts of each label and of all, where taught
    _given_none = 0  # texts that came without labels, and were given none of several

    @classmethod
    @abstractmethod
    def fit(cls, recipe: ClassifyRecipe, train: Sequence[Labelled]) -> Any: ...
    @classmethod
    @abstractmethod
    def load(cls, recipe: ClassifyRecipe, saved: dict[str, Any]) -> Any: ...
    @abstractmethod
    def prepare(self, examples: Sequence[Labelled]) -> list[Judged | None]: ...
    @abstractmethod
    def logits(self, network: nn.Module, batch: list[Judged]) -> Tensor:
        """Scores (B, C)"""

    @abstractmethod
    def judge(self, network: nn.Module, temperature: float = 1.0) -> Judging: ...
    @abstractmethod
    def is_cut(self, text: str) -> bool:
        """Is a part of it not read?"""

    @abstractmethod
    def unknown(self, text: str) -> list[str]: ...

    @classmethod
    def read(cls, recipe: ClassifyRecipe) -> Splits[Labelled]:
        return with_unlabelled(read_sides(recipe.data), recipe.data)

    @property
    def split_rule(self) -> str:
        if self.pairs:
            return "a hash of the texts: pairs that share one are on one side, unless too many do"
        return "a hash of the text: equal texts are on one side"

    @classmethod
    def read_file(cls, recipe: ClassifyRecipe, paths: Sequence[Path]) -> Part[Labelled]:
        if len(paths) != 1:
            raise ConfigError(f"labelled texts are read from one file, found {len(paths)}.")
        return read_part(recipe.data, paths[0])

    @classmethod
    def choose(cls, tree: Tree, face: str) -> Choice:
        return choose_for_labels(tree, face)

    @classmethod
    def example(cls, face: str) -> Tree:
        return example_for_labels(face)

    def batches(self, train: Sequence[Labelled]) -> Rows[Judged]:
        tokens, seed = self.recipe.train.batch_tokens, self.recipe.seed
        examples = self.taught(train)
        if unlabelled(train):
            found = label_counts(examples, self.recipe.data.separator)
            self._taught = [found.get(label, 0) for label in self.labels], len(examples)
        return Rows(self.prepare(examples), self.lengths, tokens, seed)

    def taught(self, train: Sequence[Labelled]) -> list[Labelled]:
        """What is learned from: the labelled texts, and behind them the others with the labels that
        bags of words give them."""
        wanted, separator = self.trained(labelled(train)), self.recipe.data.separator
        found = taught(
            train,
            wanted,
            self.labels,
            separator,
            pairs=self.pairs,
            balanced=self.recipe.balanced,
            teachers=self.recipe.data.teachers,
        )
        self.lent = max(self.lent, found.lent)
        self._given_none = len(train) - len(found.examples)
        return found.examples

    def cuts(self, batches: Rows[Judged]) -> Tree:
        found = sum(row.cut for row in batches.rows)
        return {"cut_texts": found, "kept": self.recipe.keep, "given_none": self._given_none}

    def lengths(self, prepared: Judged) -> tuple[int]:
        return (len(prepared.ids),)

    def loss(self, network: nn.Module, batch: list[Judged], smoothing: float = 0.0) -> Loss:
        logits = self.logits(network, batch)  # (B, C)
        weights = self._weights.to(logits) if self.recipe.balanced else None
        if self.several:
            total = loss_of_several(logits, [row.classes for row in batch], weights, smoothing)
        else:
            total = loss_of_one(logits, [row.classes[0] for row in batch], weights, smoothing)
        return Loss(total, len(batch))

    @cached_property
    def _weights(self) -> Tensor:
        """(C,)"""
        counts, texts = self._taught or (self.counts, self.texts)
        return weights_of_several(counts, texts) if self.several else weights_of_one(counts)

    def validate(self, network: nn.Module, examples: Sequence[Labelled]) -> dict[str, float]:
        known = [e for e in examples if -1 not in self.classes_of(e)]
        scores = self.judge(network).scores([input_of(e) for e in known])
        found = self.tallies(probabilities_of(scores, several=self.several), known)
        values = {name: float(t.value_of(t.rows.sum(axis=0))) for name, t in found.items()}
        return {"loss": values["log_loss"], "accuracy": values["accuracy"]}

    def predictor(self, network: nn.Module, **decoding: Any) -> Judging:
        """`n`: how many labels are told, the likeliest first."""
        for name in decoding.keys() - {"n"}:
            raise ConfigError(f"{name}: a classifier writes nothing, so it has no such setting.")
        judge = self.judge(network, self.temperature)
        judge.n = decoding.get("n", 1)
        if judge.n < 1:
            raise ConfigError(f"n: at least one label is told, found {judge.n}.")
        if judge.n > 1 and self.several:
            raise ConfigError(
                "n: a text may have several labels, or none: all that are likelier than not are "
                "told already, and --json tells the probability of each."
            )
        return judge

    def settle(
        self, network: nn.Module, splits: Splits[Labelled], baselines: Mapping[str, Any]
    ) -> Tree:
        """The temperatures that make probabilities as often right as they say (Guo et al. 2017), of
        the model and of the bag beside it: what only one of them got would flatter it."""
        known = [e for e in splits.validation if -1 not in self.classes_of(e)]
        if known:
            inputs, wanted = self.inputs(known), self.trained(known)
            self.temperature = temperature_of(self.judge(network).scores(inputs), wanted)
            if isinstance(bag := baselines.get("bag"), Bags):
                bag.temperature = temperature_of(bag.scores(inputs), wanted)
        return {"calibration": {"temperature": self.temperature}}

    def recall(self, facts: Tree) -> None:
        self.temperature = float(facts.get("calibration", {}).get("temperature", 1.0))

    def baselines(self, train: Sequence[Labelled]) -> dict[str, Predictor]:
        known, others = labelled(train), self.inputs(unlabelled(train))
        inputs, wanted = self.inputs(known), self.trained(known)
        labels, several = self.labels, self.several
        bag = Bags.fit(inputs, wanted, labels, several=several, pairs=self.pairs)
        majority = Majority.fit(inputs, wanted, labels, several=several, unlabelled=others)
        return {"majority": majority, **({"bag": bag} if bag else {})}

    def load_baselines(self, folder: Path) -> dict[str, Predictor]:
        """The bag is not there where no text had a word."""
        labels, several = self.labels, self.several
        found: dict[str, Predictor] = {
            "majority": Majority.load(folder / "majority", labels, several=several)
        }
        if (folder / "bag").exists():
            found["bag"] = Bags.load(folder / "bag", labels, several=several, pairs=self.pairs)
        return found

    def known(self, baselines: dict[str, Any], inputs: Sequence[str]) -> list[bool]:
        found: list[bool] = baselines["majority"].known(inputs)
        return found

    def better(self, one: Scores, other: Scores) -> bool:
        return one["accuracy"].value > other["accuracy"].value

    def tallies(
        self, probabilities: NDArray[np.float64], examples: Sequence[Labelled]
    ) -> dict[str, Tally]:
        return tallies_of(probabilities, self.wanted(examples), several=self.several)

    def evaluate(
        self,
        network: nn.Module,
        examples: Sequence[Labelled],
        baselines: Mapping[str, Any],
        decoding: Tree,
    ) -> Evaluation:
        inputs, models = self.inputs(examples), {"": self.predictor(network, **decoding)}
        models |= {one.name: one for one in baselines.values()}
        chances = {name: model.probabilities(inputs) for name, model in models.items()}
        found = {name: scored(self.tallies(one, examples)) for name, one in chances.items()}
        counts = {
            "examples": len(examples),
            "cut_texts": sum(map(self.is_cut, inputs)),
            "kept": self.recipe.keep,
            "unknown_labels": sum(-1 in self.classes_of(e) for e in examples),
            "unknown_inputs": sum(bool(self.unknown(text)) for text in inputs),
            "in_training": sum(self.known(dict(baselines), inputs)),
        }
        details = details_of(inputs, chances[""], self.wanted(examples), self.labels)
        return Evaluation(found.pop(""), found, counts, unit="texts", details=details)

    def compare(self, one: Trained, other: Trained, examples: Sequence[Labelled]) -> Compared:
        return compare_labels(one, other, examples)

    def samples(self, examples: Sequence[Labelled]) -> list[str]:
        if self.recipe.samples:
            return list(self.recipe.samples)
        every = self.inputs(examples)
        return every[:: -(-len(every) // SAMPLES) or 1]

    def trace(self, predictor: Any, text: str, others: int) -> list[Step]:
        raise ConfigError("a classifier writes nothing, so there is nothing to trace.")
