"""The labelled data of plans: which texts train, validate and are reported on."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from random import Random

from regard.config import Tree
from regard.data.lines import read_lines
from regard.data.splits import groups, place_of, side_of
from regard.reproduce.sets import SIDES, Shelf

HELD_OUT = 1250  # reviews of each class to report on, and as many to validate on
FOLDS = 5
TENTH = (80, 10, 10)
MADE_UP = {"path": 6000, "validation": 500, "test": 1000}
FILLERS = (
    "a the saw ran old red sun sea day hat box tree house road river stone cloud and then here "
    "soon late far near very green small long quiet bright"
).split()

ENDED = re.compile(r"[.!?][\s'\"`)]*$")  # quotes and brackets may close behind it

Row = tuple[str, ...]


def film_reviews(shelf: Shelf, part: str = "") -> Tree:
    """IMDB: reviews of one film have neighbouring numbers, so the highest numbers of each class are
    reported on, and those before them validate. A part such as "begun-500" trains on so few."""
    rows, few = list(_table(shelf, "imdb/train.tsv.xz")), part.rpartition("-")[2]
    sides: dict[str, list[Row]] = {side: [] for side in SIDES}
    for label in ("0", "1"):
        own = sorted((row for row in rows if row[1] == label), key=_number)
        cuts = len(own) - 2 * HELD_OUT, len(own) - HELD_OUT
        parts = own[: cuts[0]], own[cuts[0] : cuts[1]], own[cuts[1] :]
        for side, reviews in zip(SIDES, parts, strict=True):
            sides[side] += [(row[3], row[1]) for row in reviews]
    if few.isdecimal():
        sides["path"] = sorted(sides["path"], key=lambda row: place_of(row[0]))[: int(few)]
    return written(shelf, f"reviews{few and '-' + few}", ("text", "label"), sides)


def more_film_reviews(shelf: Shelf, part: str = "") -> Tree:
    """The same, and beside them 48,887 reviews without labels to learn from; a part such as
    "bag-alone" learns from labels alone."""
    if part.endswith("-alone"):
        return film_reviews(shelf)
    return film_reviews(shelf) | {"unlabelled": str(shelf.file("imdb/unsup.tsv.xz"))}


def _number(row: Row) -> int:
    """train/pos/123_9 -> 123"""
    return int(row[0].rpartition("/")[2].partition("_")[0])


def questions(shelf: Shelf, fold: int) -> Tree:
    """TREC, by its six classes."""
    rows = [(row[2], row[0]) for row in _table(shelf, "trec-qc/train.tsv.gz")]
    sides = folded(rows, [row[0] for row in rows], fold)
    return written(shelf, f"questions-{fold}", ("text", "label"), sides)


def paraphrases(shelf: Shelf, fold: int) -> Tree:
    """MRPC: do two sentences say the same? Sentences come again in other pairs, so all pairs that
    hang together are on one side."""
    rows = [(row[3], row[4], row[0]) for row in _table(shelf, "mrpc/train.tsv.gz")]
    names = ("text", "other", "label")
    sides = folded(rows, groups([row[:2] for row in rows]), fold)
    tree = written(shelf, f"paraphrases-{fold}", names, sides)
    return tree | {"other": "other"}


def newsgroups(shelf: Shelf) -> Tree:
    """20 Newsgroups, by a hash of the message."""
    path = shelf.file("20newsgroups-bydate/train.jsonl.xz")
    found = (json.loads(line) for _, line in read_lines(path))
    rows = [(one["text"], one["label"]) for one in found]
    return written(shelf, "newsgroups", ("text", "label"), hashed(rows))


def phrases(shelf: Shelf) -> Tree:
    """SST-2. Its training file holds phrases of the same sentences: a phrase is where the longest
    one is that holds it, and one that is held on two sides is on neither."""
    rows = [(row[1].strip(), row[0]) for row in _table(shelf, "sst2/train.tsv.gz")]
    return written(shelf, "phrases", ("text", "label"), by_sentence(rows))


def naive_phrases(shelf: Shelf) -> Tree:
    """The same, split as if phrases had nothing to do with each other."""
    rows = [(row[1].strip(), row[0]) for row in _table(shelf, "sst2/train.tsv.gz")]
    return written(shelf, "naive", ("text", "label"), hashed(rows))


def phrases_of(shelf: Shelf, part: str) -> Tree:
    return naive_phrases(shelf) if part == "naive" else phrases(shelf)


def who_is_first(shelf: Shelf) -> Tree:
    """Made up: which of two words comes first? They never stand side by side, nor at an end, so
    that neither words nor pairs of neighbours say it; only their order does."""
    dice, seen = Random(0), set[str]()
    sides: dict[str, list[Row]] = {side: [] for side in SIDES}
    for side, count in MADE_UP.items():
        while len(sides[side]) < count:
            words = dice.choices(FILLERS, k=12)
            first, second = sorted(dice.sample(range(1, 11), 2))
            named = dice.sample(("man", "dog"), 2)
            words[first], words[second] = named
            if second - first > 1 and (text := " ".join(words)) not in seen:
                seen.add(text)
                sides[side].append((text, named[0]))
    return written(shelf, "order", ("text", "label"), sides)


# How rows find their side


def hashed(rows: Iterable[Row]) -> dict[str, list[Row]]:
    sides: dict[str, list[Row]] = {side: [] for side in SIDES}
    for row in rows:
        sides[SIDES[side_of(place_of(row[0]), TENTH)]].append(row)
    return sides


def folded(rows: Sequence[Row], keys: Sequence[str], fold: int) -> dict[str, list[Row]]:
    """Fold number `fold` of five is tested on; a twentieth of the others validates. Rows with one
    key are on one side."""
    sides: dict[str, list[Row]] = {side: [] for side in SIDES}
    for row, key in zip(rows, keys, strict=True):
        place = place_of(key)  # from 0 to 100
        if int(place * FOLDS / 100) == fold:
            sides["test"].append(row)
        else:
            sides["validation" if place * 1000 % 100 < 5 else "path"].append(row)
    return sides


def by_sentence(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Whole sentences by a hash; their phrases along with them."""
    where: dict[Row, set[int]] = {}  # every run of words of a sentence -> the sides it is on
    texts = {row[0]: tuple(row[0].split()) for row in rows}
    whole = set()
    for text, words in sorted(texts.items(), key=lambda item: -len(item[1])):
        if words in where:
            continue  # a longer one holds it
        whole.add(text)
        side = side_of(place_of(text), TENTH)
        for run in _runs(words):
            where.setdefault(run, set()).add(side)
    sides: dict[str, list[Row]] = {side: [] for side in SIDES}
    for row in rows:
        on = where[texts[row[0]]]
        (side,) = on if len(on) == 1 else (0,)
        # Only whole sentences are reported on; one without an end is a phrase, too.
        held_out = side > 0 and not (row[0] in whole and ENDED.search(row[0]))
        if len(on) == 1 and not held_out:
            sides[SIDES[(0, 1, 2)[side]]].append(row)
    return sides


def _runs(words: Row) -> Iterator[Row]:
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            yield words[start:end]


# Files


def _table(shelf: Shelf, name: str) -> Iterator[Row]:
    """The rows below the header; quotes are letters like any other."""
    lines = read_lines(shelf.file(name))
    next(lines)
    return (tuple(line.split("\t")) for _, line in lines)


def written(shelf: Shelf, name: str, header: Row, sides: dict[str, list[Row]]) -> Tree:
    """CSV files, since texts may hold tabs and line breaks; the data section that names them."""
    files = {}
    for side, rows in sides.items():
        table = io.StringIO()
        lines = csv.writer(table, lineterminator="\n", quoting=csv.QUOTE_ALL)  # also a lone \r
        lines.writerows([header, *rows])
        files[side] = shelf.write(f"{name}-{side}.csv", [table.getvalue().removesuffix("\n")])
    return {**files, "text": "text", "label": "label"}
