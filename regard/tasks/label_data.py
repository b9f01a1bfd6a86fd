"""Labelled texts on their sides."""

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from regard.data.label_doubts import DoubtfulLabels, doubts_about, refuse_one_sided, refuse_useless
from regard.data.labels import Labelled, read_labels
from regard.data.splits import Splits, groups, split
from regard.tasks.label_recipe import LabelData
from regard.tasks.parts import parted, shares_left
from regard.tasks.task import Part

BETWEEN = "\t"  # two texts that are judged together, as one input
LARGEST = 0.25  # of the smaller side that is held out: more would leave it to chance what is there
TIED = (
    "{largest:,} of {pairs:,} pairs hang together by texts that they share: too many for one side, "
    "so texts of the test part may be known from other pairs."
)


def read_part(data: LabelData, path: Path) -> Part[Labelled]:
    columns = data.text, data.label, data.other
    return Part(*read_labels(path, *columns, bad_rows=data.bad_rows, separator=data.separator))


def read_sides(data: LabelData) -> Splits[Labelled]:
    """Equal texts are on one side, also where a part has a file of its own."""
    path = Path(str(data.path))
    whole = read_part(data, path)
    refuse_useless(whole.examples, path, data.separator)
    sides = _divided(whole.examples, data)
    own = {
        side: read_part(data, Path(getattr(data, side)))
        for side in ("test", "validation")
        if getattr(data, side)
    }
    kept, gone = parted(sides, own, input_of)
    refuse_one_sided(kept["train"], kept["validation"], path, data.separator)
    every = whole.notes, sides.notes, *(part.notes for part in own.values())
    notes = dict.fromkeys(note for notes in every for note in notes)
    skipped = whole.skipped + sum(part.skipped for part in own.values())
    return Splits(kept["train"], kept["validation"], kept["test"], tuple(notes), skipped, gone)


def _divided(examples: Sequence[Labelled], data: LabelData) -> Splits[Labelled]:
    """By a hash of their texts. A text comes again in other pairs, so pairs that hang together by
    texts are on one side; a new pair may tie two groups, and move one of them. Where a topic, say,
    ties so many that the sides would depend on one group, only equal pairs stay together."""
    shares = shares_left(data)
    held_out = min((share for share in shares[1:] if share), default=0)
    if data.other is None or not held_out:
        return split(examples, input_of, shares)
    inputs = [input_of(e) for e in examples]
    names = groups(texts_of(text, pairs=True) for text in inputs)
    largest = max(Counter(names).values())
    if largest > max(2, LARGEST * held_out / 100 * len(names)):
        note = TIED.format(largest=largest, pairs=len(names))
        return replace(split(examples, input_of, shares), notes=(note,))
    by_input = dict(zip(inputs, names, strict=True))
    return split(examples, lambda example: by_input[input_of(example)], shares)


def warn_of(train: Sequence[Labelled], separator: str | None) -> None:
    """Say what is odd about the labels that a model will learn."""
    for doubt in doubts_about(train, separator):
        warnings.warn(doubt, DoubtfulLabels, stacklevel=3)


def input_of(example: Labelled) -> str:
    return joined((example.text, example.other)) if example.other else example.text


def joined(texts: Iterable[str]) -> str:
    """Two texts as one input."""
    return BETWEEN.join(text.replace(BETWEEN, " ") for text in texts)


def texts_of(text: str, pairs: bool) -> tuple[str, str]:
    """The two texts of an input; the second is empty where one is judged alone."""
    if not pairs:
        return text, ""
    first, _, second = text.partition(BETWEEN)
    return first, second


def both_texts(inputs: Sequence[str], pairs: bool) -> tuple[list[str], list[str] | None]:
    """The first texts of all inputs, and the second ones where there are any."""
    both = [texts_of(text, pairs) for text in inputs]
    first = [one for one, _ in both]
    return first, [other for _, other in both] if pairs else None
