"""The data of plans: files as they are handed out, or made of those, in a recipe's data section.

Parts are drawn by hash, so they are the same on every machine.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from regard.config import Tree
from regard.data.lines import read_lines
from regard.data.splits import place_of, side_of
from regard.errors import ConfigError
from regard.files import make_folder, write_text

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ROWS = {"path": 50_000, "validation": 500, "test": 1000}
LONGEST = 25
SHARES = (96, 2, 2)  # percent for training, validation and test
SIDES = ("path", "validation", "test")
WITHOUT_STOP = 15  # percent of the French sentences


@dataclass(frozen=True)
class Shelf:
    """Where the data sets lie, each in a folder of its name, and where new files may go."""

    folder: Path | None
    home: Path

    def file(self, name: str) -> Path:
        if self.folder is None:
            raise ConfigError(
                f"where is {name}? Name the folder with --data-dir, or in REGARD_DATA."
            )
        path = (self.folder / name).absolute()
        if not path.exists():
            raise ConfigError(f"{self.folder / name}: no such file. Is --data-dir right?")
        return path

    def write(self, name: str, lines: Iterable[str]) -> str:
        """A file of these lines, and its path."""
        make_folder(self.home)
        path = (self.home / name).absolute()
        write_text(path, "".join(f"{line}\n" for line in lines))
        return str(path)


def reversed_rows(shelf: Shelf) -> Tree:
    """Rows of letters and the same rows from behind; no row is in two files."""
    dice, seen, files = Random(0), set[str](), {}
    for side, count in ROWS.items():
        lines: list[str] = []
        while len(lines) < count:
            row = dice.choices(LETTERS, k=dice.randint(1, LONGEST))
            if (source := " ".join(row)) not in seen:
                seen.add(source)
                lines.append(f"{source}\t{' '.join(reversed(row))}")
        files[side] = shelf.write(f"{side}.tsv", lines)
    return files


def german_english(shelf: Shelf) -> Tree:
    """Multi30k as it was published; its validation part is the test here, and 2 % of its training
    part validates."""
    files = {"path": "train", "test": "val"}
    return {
        side: [str(shelf.file(f"multi30k/{name}.{language}.gz")) for language in ("de", "en")]
        for side, name in files.items()
    } | {"split": [98, 2, 0]}


def pronunciations(shelf: Shelf) -> Tree:
    """The CMU dictionary: the test is its dev part without the words that are in train, too."""
    train, dev = (shelf.file(f"cmudict-0.7b/{part}.tsv.gz") for part in ("train", "dev"))
    known = {word_of(line) for _, line in read_lines(train)}
    new = (line for _, line in read_lines(dev) if word_of(line) not in known)
    return {"path": str(train), "test": shelf.write("dev.tsv", new), "split": [98, 2, 0]}


def word_of(line: str) -> str:
    return line.split("\t")[0].casefold()


def english_spanish(shelf: Shelf) -> Tree:
    """Tatoeba, drawn by English sentence, which is the source."""
    return {"path": str(shelf.file("tatoeba-eng-spa/pairs.tsv.gz")), "split": list(SHARES)}


def french_english(shelf: Shelf) -> Tree:
    """Tatoeba, drawn by English sentence, which is the target here; French sentences that are on
    two sides then stay on the one that is held out. Every sentence there ends in a full stop or the
    like, which people who try a translator often leave out: some train without it, too."""
    sides: dict[str, list[tuple[str, str]]] = {side: [] for side in SIDES}
    for _, line in read_lines(shelf.file("tatoeba-eng-fra/pairs.tsv.gz")):
        english, french = line.split("\t")[:2]
        sides[SIDES[side_of(place_of(english), SHARES)]].append((french, english))
    held_out = {french for side in ("validation", "test") for french, _ in sides[side]}
    sides["path"] += _without_stop(sides["path"], held_out)
    return {
        side: shelf.write(f"{side}.tsv", map("\t".join, pairs)) for side, pairs in sides.items()
    }


def _without_stop(pairs: list[tuple[str, str]], held_out: set[str]) -> list[tuple[str, str]]:
    """Some of the pairs; none whose sentence is held out, which would be too easy then."""
    return [
        (french[:-1], english[:-1])
        for french, english in pairs
        if french.endswith(".") and english.endswith(".") and french not in held_out
        if place_of(french) < WITHOUT_STOP
    ]


def mail_subjects(shelf: Shelf) -> Tree:
    """AESLC: the test is its dev part, where three people wrote a subject for every mail."""
    train, dev = (shelf.file(f"aeslc/{part}.jsonl.xz") for part in ("train", "dev"))
    asked = ({"body": mail["body"], "subject": _human(mail)} for mail in _objects(dev))
    lines = (json.dumps(mail, ensure_ascii=False) for mail in asked)
    test = shelf.write("dev.jsonl", lines)
    return {
        "path": str(train),
        "test": test,
        "source": "body",
        "target": "subject",
        "split": [98, 2, 0],
    }


def _human(mail: Tree) -> list[str]:
    return [mail[key] for key in ("ann0", "ann1", "ann2") if mail[key].strip()]


def conversations(shelf: Shelf) -> Tree:
    """BYU Chit-Chat, drawn by conversation."""
    return {
        "path": str(shelf.file("chitchat/train.jsonl.xz")),
        "turns": "turns",
        "split": list(SHARES),
    }


def shakespeare(shelf: Shelf) -> Tree:
    """The training part of Tiny Shakespeare; its last tenth is the test here."""
    return {"path": str(shelf.file("tinyshakespeare/train.txt.gz")), "split": [87, 3, 10]}


def reviews(shelf: Shelf) -> Tree:
    """IMDB reviews without a label. Those of one film stand together, so none is on two sides but
    where the cuts fall."""
    path = str(shelf.file("imdb/unsup.tsv.xz"))
    return {"path": path, "column": "text", "split": [97, 1, 2]}


def brown_text(shelf: Shelf) -> Tree:
    """The Brown corpus without its tags, a sentence a line. Its documents stand sorted by genre;
    here they stand by a hash of their names, so that every part holds all genres."""
    texts: dict[str, list[str]] = {}
    for _, line in read_lines(shelf.file("brown/train.tagged.xz")):
        if line.startswith("# doc "):
            sentences = texts.setdefault(line, [])
        elif line.strip():
            sentences.append(" ".join(word.rpartition("/")[0] for word in line.split()))
    shuffled = sorted(texts, key=place_of)
    lines = (line for name in shuffled for line in (*texts[name], ""))
    split = [90, 4, 6]
    return {"path": shelf.write("brown.txt", lines), "documents": "paragraph", "split": split}


def _objects(path: Path) -> Iterator[Any]:
    return (json.loads(line) for _, line in read_lines(path))
