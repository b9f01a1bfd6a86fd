"""Texts without labels, to learn from beside those that have some: two bags of words that have
learned from the labelled ones say what the others are about, and from then on they are texts like
any other (Yarowsky 1995; pseudo-labels: Lee 2013). Their labels are as often wrong as the bags are.

n labelled texts   C classes
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.inputs import is_table, read_column, read_two_columns
from regard.data.labels import Labelled, open_labels
from regard.data.lines import read_lines
from regard.data.splits import Splits
from regard.data.table import Flaw, as_text
from regard.errors import DataError
from regard.label_shapes import BagSettings
from regard.models.grams import Floats
from regard.tasks.label_baselines import fitting_bag
from regard.tasks.label_data import both_texts, input_of
from regard.tasks.label_recipe import LabelData
from regard.tasks.teacher import mark_of, refuse_knowing, said_by

NO_LABEL = ""  # no labelled example has it: a row without a label is a bad one
NO_WORDS = (
    "no word is in any labelled text, so the texts without labels can not be given any: leave out "
    "data.unlabelled."
)
TINY = 1e-9
# As good as any bags on the tables that were tried. What they say together taught others better
# than what one of them says: by 0.1 to 0.2 points of IMDB.
TEACHERS = (
    BagSettings(judge="nbsvm", grams=3),
    BagSettings(judge="nbsvm", grams=3, weights="tfidf", strength=3.0),
)


def with_unlabelled(sides: Splits[Labelled], data: LabelData) -> Splits[Labelled]:
    """The training part with the texts of `data.unlabelled` behind its own."""
    if not data.unlabelled:
        return sides
    path = Path(data.unlabelled)
    own = data.unlabelled in (data.path, data.validation, data.test)
    rows, column = _rows_beside_labels(path, data) if own else _rows(path, data)
    found, left = _new(rows, data, sides)
    if not found:
        raise DataError(
            f"{path}: no text to learn from: all are empty, or among the labelled ones. Leave out "
            "data.unlabelled, or name another file."
        )
    more = f" {left:,} others were empty or there already." if left and not own else ""
    also = "".join(f" and the run {Path(folder).name}" for folder in data.teachers)
    note = (
        f"{len(found):,} of the training texts have no labels: they are learned with those that "
        f"bags of words{also} give them{', if any' if data.separator else ''}.{more}{column}"
    )
    skipped = max(0, sides.skipped - len(found)) if own else sides.skipped  # not after all
    return replace(
        sides,
        train=[*sides.train, *found],
        notes=(*sides.notes, note),
        skipped=skipped,
        mark=_mark(data, sides),
    )


def _mark(data: LabelData, sides: Splits[Labelled]) -> str:
    held_out = [input_of(e) for e in (*sides.validation, *sides.test)]
    for folder in data.teachers:
        refuse_knowing(Path(folder), held_out)
    return "".join(mark_of(Path(folder)) for folder in data.teachers)


def _new(
    rows: Iterable[Labelled], data: LabelData, sides: Splits[Labelled]
) -> tuple[list[Labelled], int]:
    """Each once, and none that is on a side already: what is held out is not learned from, nor,
    of pairs, one of its two texts. And how many rows are left out."""
    held_out = [*sides.validation, *sides.test]
    seen = {input_of(e) for e in (*sides.train, *held_out)}
    parts = {text for e in held_out for text in (e.text, e.other)} if data.other else set()
    found, left = list[Labelled](), 0
    for example in rows:
        whole = example.text.strip() and (example.other.strip() or not data.other)
        known = input_of(example) in seen or not parts.isdisjoint((example.text, example.other))
        if whole and not known:
            seen.add(input_of(example))
            found.append(example)
        else:
            left += 1
    return found, left


def _rows_beside_labels(path: Path, data: LabelData) -> tuple[Iterable[Labelled], str]:
    """The texts of a table that has labels too, from the columns that these are read with. Rows
    that are broken were told of, or refused, when the labelled ones were read."""
    opened = open_labels(path, data.text, data.label, data.other)
    places = [opened.text] if opened.other is None else [opened.text, opened.other]
    found = opened.table.picked(lambda cells: tuple(as_text(cells[i]) for i in places))
    rows = (one[1] for one in found if not isinstance(one, Flaw))
    return (Labelled(text, NO_LABEL, *other) for text, *other in rows), ""


def _rows(path: Path, data: LabelData) -> tuple[Iterable[Labelled], str]:
    """The texts, and a sentence on where in a table they were found."""
    if not is_table(path) and not data.other:
        return (Labelled(line, NO_LABEL) for _, line in read_lines(path)), ""
    text = data.text or _column_of_texts(data)
    if data.other:
        pairs, column = read_two_columns(path, text, data.other)
        rows = (Labelled(first, NO_LABEL, second) for first, second in pairs)
    else:
        cells, column = read_column(path, text, fallback=False)
        rows = (Labelled(cell, NO_LABEL) for cell in cells)
    return rows, f" {column.replace(str(path), path.name)}"  # a card may travel, folders do not


def _column_of_texts(data: LabelData) -> str:
    """What the labelled table calls it, or its number there."""
    opened = open_labels(Path(str(data.path)), data.text, data.label, data.other)
    return opened.table.columns[opened.text] if opened.table.header else str(opened.text + 1)


def labelled(train: Sequence[Labelled]) -> list[Labelled]:
    return [e for e in train if e.label != NO_LABEL]


def unlabelled(train: Sequence[Labelled]) -> list[Labelled]:
    return [e for e in train if e.label == NO_LABEL]


class Taught(NamedTuple):
    examples: list[Labelled]
    lent: float = 0.0  # seconds that it took, where the same was asked before


def taught(
    train: Sequence[Labelled],
    wanted: NDArray[np.int64],
    labels: Sequence[str],
    separator: str | None,
    *,
    pairs: bool,
    balanced: bool = False,
    teachers: tuple[str, ...] = (),
) -> Taught:
    """The labelled examples, whose classes are `wanted` ((n,) or (n, C)), and the others with the
    labels that they are given. One that gets none of several is left out. `teachers`: folders of
    runs that have a say, too."""
    known, others = labelled(train), unlabelled(train)
    if not others:
        return Taught(known)
    inputs, asked = (tuple(input_of(e) for e in some) for some in (known, others))
    classes = tuple(map(tuple, wanted.tolist())) if wanted.ndim == 2 else tuple(wanted.tolist())
    clock = perf_counter()
    options = separator, pairs, balanced, teachers
    given, seconds = _given(inputs, classes, asked, tuple(labels), *options)
    lent = max(0.0, seconds - (perf_counter() - clock))
    found = zip(others, given, strict=True)
    return Taught(known + [replace(e, label=one) for e, one in found if one != NO_LABEL], lent)


def forget() -> None:
    """What was given to texts: memory for nothing where nobody will ask again."""
    _given.cache_clear()


@lru_cache(maxsize=3)  # models that are compared ask the same, of three shares of the texts
def _given(
    inputs: tuple[str, ...],
    wanted: tuple[Any, ...],
    asked: tuple[str, ...],
    labels: tuple[str, ...],
    separator: str | None,
    pairs: bool,
    balanced: bool,
    teachers: tuple[str, ...],
) -> tuple[list[str], float]:
    """What the texts that are `asked` about are labelled, by all teachers together, and the seconds
    that it took."""
    clock = perf_counter()
    scores = np.zeros((len(asked), len(labels)))
    for one in TEACHERS:
        settings = one.model_copy(update={"balanced": balanced})
        bag = fitting_bag(settings, inputs, np.array(wanted), len(labels), pairs=pairs)
        if bag is None:
            raise DataError(NO_WORDS)
        said = bag.scores(*both_texts(asked, pairs))
        scores += said / max(said.std(), TINY)  # each has as much of a say
    for folder in teachers:  # each has as much as both bags
        said = said_by(Path(folder), asked, labels, pairs=pairs)
        scores += len(TEACHERS) * said / max(said.std(), TINY)
    return [_label_of(row, labels, separator) for row in scores], perf_counter() - clock


def _label_of(scores: Floats, labels: Sequence[str], separator: str | None) -> str:
    """The likeliest label, or of several those that are likelier than not."""
    if separator is None:
        return labels[int(scores.argmax())]
    return separator.join(label for label, score in zip(labels, scores, strict=True) if score > 0)
