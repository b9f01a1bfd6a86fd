"""What is odd about labels: said aloud, or refused where nothing could be learned."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from regard.data.formats import short
from regard.data.labels import Labelled, labels_of
from regard.errors import DataError

FEW = 3  # how many labels are named
MARKS = ",;|/"  # that people put between labels
ENOUGH = 10  # examples of a label; of fewer it is talked about
MOST = 0.95  # a larger share of the rows for one label is talked about


def refuse_useless(examples: Sequence[Labelled], path: Path, separator: str | None) -> None:
    """A DataError where the labels can not be what someone wants to learn."""
    if one := _only_one(examples, separator):
        raise DataError(
            f"{path}: nothing to tell apart: every row has {one}. Add rows "
            "with other labels, or name another column with --target."
        )


def refuse_ids(examples: Sequence[Labelled], path: Path, separator: str | None) -> None:
    """A DataError where the labels of a column look like ids. For a column that was guessed: who
    named it may mean it, and is told by `doubts_about`."""
    if what := _like_ids(_counts(examples, separator)):
        hint = "" if separator else " If a cell holds several labels, set data.separator."
        raise DataError(f"{path}: {what}. Name the column of the labels with --target.{hint}")


def refuse_one_sided(
    train: Sequence[Labelled], validation: Sequence[Labelled], path: Path, separator: str | None
) -> None:
    """A DataError where a rare label fell out of the training part, and nothing can be learned or
    validated without it: better now than when the training is done."""
    if one := _only_one(train, separator):
        raise DataError(
            f"{path}: nothing to tell apart: every row of the training part has {one}; all other "
            "labels fell on the sides that are held out. Add rows with them, or give the training "
            "part a larger share (data.split)."
        )
    trained = _counts(train, separator).keys()
    if validation and not any(trained >= {*labels_of(e.label, separator)} for e in validation):
        raise DataError(
            f"{path}: no row of the validation part has labels that are trained on, only such as "
            f"{_some(_counts(validation, separator))}. Add rows, or change the shares (data.split)."
        )


def _only_one(examples: Sequence[Labelled], separator: str | None) -> str:
    """What every row has, where all have the same; else nothing."""
    cells = {example.label for example in examples}
    kinds = {frozenset(labels_of(cell, separator)) for cell in cells}
    if len(kinds) != 1:
        return ""
    labels = sorted(*kinds)
    return f"the label{'s' * (len(labels) > 1)} {' and '.join(map(short, labels))}"


class DoubtfulLabels(UserWarning):
    """Labels that can be learned from, but perhaps not well."""


def doubts_about(examples: Sequence[Labelled], separator: str | None) -> list[str]:
    """What is odd about the labels, in sentences to say aloud."""
    return list(named_doubts(examples, separator).values())


def named_doubts(examples: Sequence[Labelled], separator: str | None) -> dict[str, str]:
    """The same, by what each is about: like ids, several, rare, alike, uneven. Labels that look
    like ids, or like several in one, are rare as well, and nothing is said of that."""
    counts = _counts(examples, separator)
    ids = _like_ids(counts)
    several = "" if separator else _several(counts)
    found = {
        "like ids": f"{ids}. If so, name another column with --target." if ids else "",
        "several": several,
        "rare": "" if ids or several else _rare(counts),
        "alike": _alike(counts),
        "uneven": _uneven(counts, len(examples)),
    }
    return {name: doubt for name, doubt in found.items() if doubt}


def _counts(examples: Iterable[Labelled], separator: str | None) -> Counter[str]:
    """How many examples have each label."""
    cells = Counter(example.label for example in examples)
    counts: Counter[str] = Counter()
    for cell, number in cells.items():
        counts.update(dict.fromkeys(labels_of(cell, separator), number))
    return counts


def _like_ids(counts: Counter[str]) -> str:
    """What they look like where a label is given fewer than two times on average."""
    given = counts.total()
    if 2 * len(counts) <= given:
        return ""
    return (
        f"{len(counts):,} different labels, given {given:,} times in all, such as "
        f"{_some(counts)}: that looks like an id or free text"
    )


def _rare(counts: Counter[str]) -> str:
    rare = {label: n for label, n in reversed(counts.most_common()) if n < ENOUGH}
    if not rare:
        return ""
    have = "1 label has" if len(rare) == 1 else f"{len(rare):,} labels have"
    named = ", ".join(f"{short(label)}: {n}" for label, n in list(rare.items())[:FEW])
    more = ", ..." * (len(rare) > FEW)
    return (
        f"{have} fewer than {ENOUGH} examples ({named}{more}): too few to learn from, so look at "
        "the scores of each label."
    )


def _several(counts: Counter[str]) -> str:
    """What stands between several labels in a cell, perhaps: the parts of such cells are fewer
    than the cells, since they come again in others."""
    for mark in MARKS:
        cells = [label for label in counts if mark in label]
        parts = {part for cell in cells for part in labels_of(cell, mark)}
        often = len(cells) >= FEW and sum(counts[cell] for cell in cells) >= ENOUGH
        if often and len(parts) < len(cells):
            return (
                f"labels such as {_some(cells)} look like several in one. If so, learn each by "
                f"itself with --set data.separator='{mark}'."
            )
    return ""


def _alike(counts: Counter[str]) -> str:
    groups: dict[str, list[str]] = {}
    for label in counts:
        groups.setdefault("".join(label.casefold().split()), []).append(label)
    alike = [" and ".join(map(short, group)) for group in groups.values() if len(group) > 1]
    if not alike:
        return ""
    which = "; ".join(alike[:FEW]) + "; ..." * (len(alike) > FEW)
    return (
        f"labels that differ only in capitals or blanks count as different ones: {which}. "
        "Write them alike if they mean the same."
    )


def _uneven(counts: Counter[str], rows: int) -> str:
    label, number = max(counts.items(), key=lambda item: item[1], default=("", 0))
    if number <= MOST * rows:
        return ""
    return (
        f"{number:,} of {rows:,} rows have the label {short(label)}: who always says so is seldom "
        "wrong, so look at the scores of each label."
    )


def _some(labels: Iterable[str]) -> str:
    names = list(map(short, labels))
    return ", ".join(names[:FEW]) + ", ..." * (len(names) > FEW)
