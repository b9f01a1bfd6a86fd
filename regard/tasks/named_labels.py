"""The labels of texts: their names, their numbers, and what can be said about texts by them alone.

n texts   C classes
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.config import Tree
from regard.data.formats import short
from regard.data.labels import Labelled, labels_of
from regard.errors import TextError
from regard.tasks.label_data import input_of, texts_of
from regard.tasks.label_recipe import ClassifyRecipe
from regard.tasks.usual import Usual

NAMED = 5  # strange labels that are named


class NamedLabels(Usual):
    """A base for tasks that judge texts by labels."""

    def __init__(
        self, recipe: ClassifyRecipe, counts: Mapping[str, int], texts: int | None = None
    ) -> None:
        """
        counts   how many training texts each label has
        texts    how many there are; where each has one label, as many as labels
        """
        self.recipe = recipe
        self.labels, self.counts = list(counts), list(counts.values())
        self.texts = sum(self.counts) if texts is None else texts

    @property
    def several(self) -> bool:
        """May a text have several labels, or none?"""
        return self.recipe.data.separator is not None

    @property
    def pairs(self) -> bool:
        return self.recipe.data.other is not None

    def classes_of(self, example: Labelled) -> tuple[int, ...]:
        """Numbers of its labels; one that was never trained on has no number: -1."""
        found = labels_of(example.label, self.recipe.data.separator)
        return tuple(self._numbers.get(label, -1) for label in found)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}

    def labels_as_json(self) -> Tree:
        return {"labels": dict(zip(self.labels, self.counts, strict=True)), "texts": self.texts}

    def inputs(self, examples: Sequence[Labelled]) -> list[str]:
        return [input_of(e) for e in examples]

    def wanted(self, examples: Sequence[Labelled]) -> NDArray[np.int64]:
        """(n,) class numbers, unknown ones behind the known; or (n, C + 1) of zeros and ones, the
        last for labels that were never trained on."""
        classes = [self.classes_of(e) for e in examples]
        if not self.several:
            return np.array([c[0] if c[0] >= 0 else len(self.labels) for c in classes])
        found = np.zeros((len(classes), len(self.labels) + 1), dtype=np.int64)
        for row, one in enumerate(classes):
            found[row, list(one)] = 1  # -1 is the last
        return found

    def trained(self, train: Sequence[Labelled]) -> NDArray[np.int64]:
        """The same of texts whose labels are all known: (n,), or (n, C)."""
        wanted = self.wanted(train)
        return wanted[:, :-1] if self.several else wanted

    def doubt(self, examples: Sequence[Labelled], baselines: Mapping[str, Any]) -> str:
        separator, known = self.recipe.data.separator, self._numbers
        found = Counter(one for e in examples for one in labels_of(e.label, separator))
        strange = {label: n for label, n in found.most_common() if label not in known}
        if not strange:
            return ""
        named = ", ".join(f"{short(label)} ({n:,})" for label, n in list(strange.items())[:NAMED])
        more = ", ..." if len(strange) > NAMED else "."
        what = "1 label was" if len(strange) == 1 else f"{len(strange):,} labels were"
        return f"{what} never trained on, which counts as wrong: {named}{more}"

    def answers(self, examples: Sequence[Labelled]) -> dict[str, list[str]]:
        """In the order in which labels are told, whatever order a cell has them in."""
        found: dict[str, list[str]] = {}
        for example in examples:
            labels = labels_of(example.label, self.recipe.data.separator)
            last = len(self.labels)
            wanted = ", ".join(sorted(labels, key=lambda one: self._numbers.get(one, last)))
            found.setdefault(input_of(example), []).append(wanted)
        return found

    def fits(self, text: str) -> bool:
        first, second = texts_of(text, self.pairs)
        return bool(first.strip() and (second.strip() or not self.pairs))

    def require(self, text: str) -> None:
        """Refuse what can not be judged: nothing, or one text where two are judged together."""
        if not text.strip():
            raise TextError("there is nothing to judge: the text is empty.")
        if not self.fits(text):
            raise TextError(
                "two texts are judged together, with a tab between them: first<TAB>second; found "
                f"one alone, {short(text)}."
            )


def label_counts(examples: Sequence[Labelled], separator: str | None) -> dict[str, int]:
    """How many texts each label has; the labels in order, numbers by their size."""
    found = Counter(label for e in examples for label in labels_of(e.label, separator))
    numbers = all(re.fullmatch(r"-?\d{1,18}", label) for label in found)
    return {label: found[label] for label in sorted(found, key=int if numbers else str)}
