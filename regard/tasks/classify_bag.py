"""Classify by a bag of words: learned at once, by scikit-learn, and no step of training is left.

n texts   C classes   F features
"""

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.config import Tree
from regard.data.labels import Labelled
from regard.errors import RunError
from regard.label_shapes import BagSettings
from regard.models.bag import Bag
from regard.models.bag_network import BagNetwork
from regard.models.encoder import Source
from regard.models.grams import Grams
from regard.tasks.batches import AtOnce
from regard.tasks.classify import BY_KIND
from regard.tasks.judging import Judging, likeliest
from regard.tasks.label_baselines import most_grams
from regard.tasks.label_data import both_texts, texts_of
from regard.tasks.label_proof import probe_of_labels, rows_of, shares_of
from regard.tasks.label_recipe import ClassifyRecipe
from regard.tasks.label_teaching import labelled
from regard.tasks.labelling import Judged, Labelling
from regard.tasks.named_labels import label_counts
from regard.tasks.probe import Probe
from regard.tasks.task import Replay

PROVED = 64  # grams of a text that a proof makes up, at most
SHOWN = 24  # grams in a picture


class ClassifyByBag(Labelling):
    def __init__(
        self,
        recipe: ClassifyRecipe,
        grams: Grams,
        counts: Mapping[str, int],
        texts: int | None = None,
    ) -> None:
        super().__init__(recipe, counts, texts)
        self.grams = grams
        self._learned: Bag | None = None

    @classmethod
    def fit(cls, recipe: ClassifyRecipe, train: Sequence[Labelled]) -> "ClassifyByBag":
        counts = label_counts(train, recipe.data.separator)
        blank = cls(recipe, Grams(_shape(recipe), False, ["a"], None), counts)  # to number labels
        bag = blank._learn(train)
        task = cls(recipe, bag.grams, counts, len(labelled(train)))
        task._learned, task.lent, task._given_none = bag, blank.lent, blank._given_none
        return task

    def _learn(self, train: Sequence[Labelled]) -> Bag:
        examples = self.taught(train)
        first, others = both_texts(self.inputs(examples), self.pairs)
        wanted, classes = self.trained(examples), len(self.labels)
        shape, most = _shape(self.recipe), most_grams(len(self.labels))
        bag = Bag.fit(
            shape.model_copy(update={"size": shape.size or most}), first, wanted, classes, others
        )
        if shape.size is None and bag.size >= most:
            warnings.warn(
                f"of {classes:,} classes only the {most:,} most frequent grams are kept, so that "
                "they fit into memory: set model.size for another number.",
                stacklevel=2,
            )
        return bag

    @classmethod
    def load(cls, recipe: ClassifyRecipe, saved: dict[str, Any]) -> "ClassifyByBag":
        shape = _shape(recipe)
        match {"letters": [], **saved}:  # older runs have none
            case {
                "grams": [*words],
                "letters": [*letters],
                "idf": list() | None as idf,
                "pairs": bool(pairs),
                "labels": dict(counts),
            } if _fit(shape, words, letters):
                weights = None if idf is None else np.array(idf, dtype=np.float64)
                grams = Grams(shape, pairs, words, weights, letters)
                return cls(recipe, grams, counts, saved.get("texts"))
        raise RunError("tokenizer.json: not the grams of a bag. Copy the run again.")

    def as_json(self) -> dict[str, Any]:
        idf = None if self.grams.idf is None else self.grams.idf.tolist()
        grams = {"grams": self.grams.words, "letters": self.grams.letters, "idf": idf}
        return {**grams, "pairs": self.grams.pairs, **self.labels_as_json()}

    def vocabulary(self) -> dict[str, int]:
        return {"grams": len(self.grams.known)}

    def network(self) -> nn.Module:
        return BagNetwork(len(self.grams.names), len(self.labels))

    def begin(self, network: nn.Module, train: Sequence[Labelled]) -> None:
        """What is learned at once; once more, where a run was stopped before it was saved."""
        bag = self._learned or self._learn(train)
        assert isinstance(network, BagNetwork)
        with torch.no_grad():
            network.weights.copy_(torch.from_numpy(bag.weights))
            network.intercept.copy_(torch.from_numpy(bag.intercept))

    def bag(self, network: nn.Module) -> Bag:
        assert isinstance(network, BagNetwork)
        weights, intercept = (p.detach().cpu().numpy() for p in network.parameters())
        return Bag(_shape(self.recipe), self.grams, weights, intercept)

    # Learning: for the proofs; a training has no steps

    def batches(self, train: Sequence[Labelled]) -> AtOnce[Judged]:  # type: ignore[override]
        learned = len(train) - self._given_none
        unknown = sum(-1 in self.classes_of(e) for e in train)
        make = partial(super().batches, train)
        return AtOnce(learned - unknown, unknown, make)

    def cuts(self, batches: Any) -> Tree:
        return {"given_none": self._given_none}  # whole texts are read

    def prepare(self, examples: Sequence[Labelled]) -> list[Judged | None]:
        first, others = both_texts(self.inputs(examples), self.pairs)
        rows = self.grams.rows(first, others)
        found: list[Judged | None] = []
        for number, example in enumerate(examples):
            part = slice(rows.indptr[number], rows.indptr[number + 1])
            ids, values = rows.indices[part].tolist(), rows.data[part].tolist()
            row = Judged(ids or [0], None, self.classes_of(example), tuple(values or [0.0]))
            found.append(None if -1 in row.classes or not row.classes else row)
        return found

    def logits(self, network: nn.Module, batch: list[Judged]) -> Tensor:
        source = Source.of([row.ids for row in batch])
        longest = max(len(row.ids) for row in batch)
        values = [[*row.values, *[0.0] * (longest - len(row.ids))] for row in batch]
        logits: Tensor = network(source, torch.tensor(values, dtype=torch.float64))
        return logits

    # Using

    def judge(self, network: nn.Module, temperature: float = 1.0) -> Judging:
        return BagJudge(self, network, temperature)

    def is_cut(self, text: str) -> bool:
        return False

    def unknown(self, text: str) -> list[str]:
        return []

    def replay(self, network: nn.Module, text: str) -> Replay:
        """The grams that said most about the label."""
        (found,) = self.predictor(network).predict([text])
        label = self.labels.index(likeliest(found))
        first, second = texts_of(text, self.pairs)
        parts = self.bag(network).weights_of(first, second if self.pairs else None)
        parts = sorted(parts, key=lambda part: -abs(part[1][label]))
        parts = parts or [("(no known gram)", np.zeros(len(self.labels)))]
        names = tuple(name for name, _ in parts[:SHOWN])
        shares = shares_of(torch.tensor([float(w[label]) for _, w in parts]))[:, :SHOWN]
        axes = {"weights": (rows_of(self.labels[label]), names)}
        return Replay(text, found.output, lambda: shares, (label,), axes)

    # Proving

    def probe(self) -> Probe:
        return probe_of_labels(len(self.grams.names), PROVED)

    def invent(self, dice: Random, rows: int) -> list[Labelled]:
        between = self.recipe.data.separator
        words = self.grams.words
        texts = [" ".join(dice.choices(words, k=dice.randint(1, 5))) for _ in range(2 * rows)]
        several = 2 if between else 1
        return [
            Labelled(
                texts[2 * n],
                (between or "").join(dice.sample(self.labels, min(len(self.labels), several))),
                texts[2 * n + 1] if self.pairs else "",
            )
            for n in range(rows)
        ]


class BagJudge(Judging):
    """Whole texts to the bag."""

    def __init__(self, task: ClassifyByBag, network: nn.Module, temperature: float) -> None:
        super().__init__(network, task, temperature)
        self.task = task

    def scores(self, inputs: Sequence[str]) -> NDArray[np.float64]:
        if not inputs:
            return np.zeros((0, len(self.task.labels)))
        return self.task.bag(self.network).scores(*both_texts(inputs, self.task.pairs))


def _fit(shape: BagSettings, words: list[Any], letters: list[Any]) -> bool:
    texts = all(isinstance(gram, str) for gram in [*words, *letters])
    return texts and bool(letters) == bool(shape.letters)


def _shape(recipe: ClassifyRecipe) -> BagSettings:
    """One setting lets classes count the same, whatever the model; a bag has its own too."""
    model = cast(BagSettings, recipe.model)
    return model.model_copy(update={"balanced": model.balanced or recipe.balanced})


BY_KIND["bag"] = ClassifyByBag
