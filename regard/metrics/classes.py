"""How often a classifier is right, and whether it is so for every class.

Classes are numbers from 0 on, one for every example. Where an example may have several labels,
they are a matrix of 0 and 1 with a column for every class.

n examples   C classes   b blocks of examples
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regard.errors import DataError
from regard.metrics.bootstrap import SEED, Counts, Tally, percent

CELLS = 4_000_000  # counts held at once, 32 MB: where there are more, blocks of examples are drawn
MANY_BLOCKS, FEW_BLOCKS = 2000, 200  # the more classes, the fewer blocks; the interval stays

Numbers = NDArray[np.int64]
Labels = Numbers | NDArray[np.bool_]
Places = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The example and the class of every label."""


def classify_tallies(predicted: ArrayLike, wanted: ArrayLike, classes: int) -> dict[str, Tally]:
    """Accuracy, and F1 of the classes, by themselves and together; where an example has one class,
    F1 of all together is the accuracy.

    >>> list(classify_tallies([0, 1], [0, 0], 2))
    ['accuracy', 'macro_f1', 'micro_f1']
    """
    return {
        "accuracy": accuracy(predicted, wanted),
        "macro_f1": macro_f1(predicted, wanted, classes),
        "micro_f1": micro_f1(predicted, wanted),
    }


def accuracy(predicted: ArrayLike, wanted: ArrayLike) -> Tally:
    """The share of examples that are right, in percent. Of several labels all must be.

    predicted, wanted   (n,) class numbers, or (n, C) of 0 and 1

    >>> accuracy([0, 1, 2, 2], [0, 1, 2, 1]).score().value
    75.0
    """
    found, right = _lined_up(predicted, wanted)
    same = (found == right).reshape(len(right), -1).all(axis=1)  # (n,)
    rows = np.stack([same, np.ones(len(same))], axis=1)
    what = "the-class" if right.ndim == 1 else "all-labels"
    return Tally(rows, percent, f"accuracy|right:{what}")


def macro_f1(predicted: ArrayLike, wanted: ArrayLike, classes: int) -> Tally:
    """F1 of every class by itself, in percent, the mean over classes: rare ones count as much as
    others. A class that is neither wanted nor predicted is left out; so it is from a sample. With
    many classes of few examples, samples score lower than all examples do, so the interval is
    moved up by as much; the difference of two systems is fair without that.

    Two counts of a class are enough, 2 x true positives and predicted + wanted. Where they are
    more than CELLS for all examples, blocks of examples are drawn, as the signature tells.

    >>> round(macro_f1([0, 0, 1, 1], [0, 0, 0, 1], classes=3).score().value, 6)
    73.333333
    """
    found, right = _lined_up(predicted, wanted)
    check_classes(found, classes)
    check_classes(right, classes)
    block = _deal(len(right), 2 * classes)  # (n,)
    rows = np.zeros((block.max() + 1, 2 * classes))  # (b, 2C)
    shared, ours, theirs = _places(found, right)
    for (examples, numbers), at, times in (shared, 0, 2), (ours, classes, 1), (theirs, classes, 1):
        np.add.at(rows.reshape(-1), block[examples] * 2 * classes + at + numbers, times)
    blocks = f"|blocks:{len(rows)}-of-{len(right)}-examples" if len(rows) < len(right) else ""
    return Tally(rows, _macro_f1, f"macro_f1|classes:met{blocks}", centred=True)


def micro_f1(predicted: ArrayLike, wanted: ArrayLike) -> Tally:
    """F1 of all labels of all classes together, in percent: frequent classes count most.

    >>> micro_f1([[1, 0, 1], [0, 0, 0]], [[1, 1, 0], [0, 0, 0]]).score().value
    50.0
    """
    found, right = _lined_up(predicted, wanted)
    shared, ours, theirs = (
        np.bincount(examples, minlength=len(right)) for examples, _ in _places(found, right)
    )
    rows = np.stack([2 * shared, ours + theirs], axis=1).astype(float)
    return Tally(rows, percent, "micro_f1|labels:all-together")


class OfClass(NamedTuple):
    """How well one class is known; rates in percent."""

    wanted: int
    """Examples that have it."""
    precision: float
    recall: float
    f1: float


def each_class(predicted: ArrayLike, wanted: ArrayLike, classes: int) -> list[OfClass]:
    """Every class by itself. What is divided by nothing is 0.

    >>> each_class([0, 0, 1], [0, 1, 1], classes=2)[0]
    OfClass(wanted=1, precision=50.0, recall=100.0, f1=66.66666666666667)
    """
    found, right = _lined_up(predicted, wanted)
    check_classes(found, classes)
    check_classes(right, classes)
    shared, ours, theirs = (
        np.bincount(numbers, minlength=classes) for _, numbers in _places(found, right)
    )
    rates = [
        (100 * times * shared / np.maximum(1, whole)).tolist()
        for times, whole in ((1, ours), (1, theirs), (2, ours + theirs))
    ]
    return [OfClass(*one) for one in zip(theirs.tolist(), *rates, strict=True)]


def confusion(predicted: ArrayLike, wanted: ArrayLike, classes: int) -> Numbers:
    """(C, C): how often each class was wanted (row) and which was predicted (column).

    >>> confusion([0, 1, 1], [0, 0, 1], classes=2).tolist()
    [[1, 1], [0, 1]]
    """
    found, right = _lined_up(predicted, wanted)
    if right.ndim == 2:
        raise DataError(
            "a confusion matrix needs one class for each example, found a matrix of "
            f"{right.shape[1]} labels. Make one for each label: its column of both."
        )
    check_classes(found, classes)
    check_classes(right, classes)
    cells = right.astype(np.int64) * classes + found
    return np.bincount(cells, minlength=classes**2).reshape(classes, classes)


def class_numbers(labels: NDArray[np.generic]) -> Numbers:
    """Whole numbers of any kind, as one that can be reckoned with."""
    if labels.dtype.kind not in "biu":
        raise DataError(f"class numbers must be whole numbers, found {labels.dtype}.")
    return labels.astype(np.int64)


def check_classes(labels: Labels, classes: int) -> None:
    """Refuse class numbers that no class has, and a matrix without a column for every class."""
    if labels.ndim == 2:
        if labels.shape[1] != classes:
            raise DataError(
                f"expected a column for each of {classes} classes, found {labels.shape[1]}."
            )
        return
    outside = labels[(labels < 0) | (labels >= classes)]
    if len(outside):
        raise DataError(f"class numbers go from 0 to {classes - 1}, found {outside[0]}.")


def _lined_up(predicted: ArrayLike, wanted: ArrayLike) -> tuple[Labels, Labels]:
    """Both as arrays of one shape, (n,) or (n, C)."""
    found, right = np.asarray(predicted), np.asarray(wanted)
    if not found.size and not right.size:
        raise DataError("nothing to score: there is no label. Is the file or the split empty?")
    if found.shape != right.shape or right.ndim not in (1, 2):
        raise DataError(
            "predicted and wanted labels do not line up: expected a class number, or a row of 0 "
            f"and 1, of each for every example, found shapes {found.shape} and {right.shape}."
        )
    return _labels(found), _labels(right)


def _labels(labels: NDArray[np.generic]) -> Labels:
    if labels.ndim == 1:
        return class_numbers(labels)
    if not ((labels == 0) | (labels == 1)).all():
        raise DataError("several labels must be a matrix of 0 and 1, found other numbers.")
    return labels.astype(bool)


def _deal(n: int, counts: int) -> NDArray[np.int64]:
    """(n,): the row that an example is counted in. Its own, while all fit into CELLS; else that
    of a block, as large as the others and dealt at random, since a file may be sorted by class.

    It follows from the two numbers alone, so that two systems share their blocks.
    """
    if n * counts <= CELLS:
        return np.arange(n)
    blocks = min(n, MANY_BLOCKS, max(FEW_BLOCKS, CELLS // counts))
    return np.random.default_rng(SEED).permutation(n) * blocks // n


def _places(found: Labels, right: Labels) -> tuple[Places, Places, Places]:
    """Labels that are predicted and wanted, that are predicted, that are wanted."""
    examples, numbers = ours = _place(found)
    hit = right[examples, numbers] if right.ndim == 2 else right[examples] == numbers
    return (examples[hit], numbers[hit]), ours, _place(right)


def _place(labels: Labels) -> Places:
    if labels.ndim == 1:
        return np.arange(len(labels)), labels.astype(np.int64)
    examples, numbers = np.nonzero(labels)
    return examples, numbers


def _macro_f1(totals: Counts) -> Counts:
    """(..., 2C) -> (...). Counts: 2 x true positives of every class, then predicted + wanted."""
    shared, either = np.split(totals, 2, axis=-1)  # (..., C) each
    met = either > 0
    each = shared / np.where(met, either, 1)
    value: Counts = 100 * each.sum(axis=-1) / np.maximum(met.sum(axis=-1), 1)
    return value
