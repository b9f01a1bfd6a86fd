"""A text to learn a language from: files, folders and columns of tables, of any size.

The text stays on disk. One pass counts it and takes its hash; whoever wants to see it reads it
again, a piece at a time.

Characters are counted over the whole corpus, as if its documents stood one after the other with
nothing between them. A side is the part from one character to another.
"""

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Self

import numpy as np

from regard.data.encoding import inspect
from regard.data.findings import FEW
from regard.data.gathering import Gathered, Gathering
from regard.data.pieces import Documents, Piece
from regard.data.sources import find_files, open_source
from regard.data.texts import Texts
from regard.errors import ConfigError, DataError
from regard.progress import tell

__all__ = ["Corpus", "Documents", "Piece", "Texts"]

MANY = 20  # documents; from so many on none of them is cut in two
SIDES = ("train", "validation", "test")


class Corpus:
    def __init__(self, whole: Gathered, notes: Sequence[str] = (), skipped: int = 0) -> None:
        """Made by `Corpus.read`."""
        self._whole = whole
        self.characters = int(whole.starts[-1])
        self.bytes = whole.bytes
        """Of the text, in UTF-8."""
        self.documents = len(whole.digests)
        self.empty = whole.empty
        """Documents without anything in them, which count nowhere else."""
        self.sha256 = whole.sha256
        """Of the documents in order, with their ends."""
        self.notes = tuple(notes)
        """What was guessed and what was left out, in sentences to say aloud."""
        self.skipped = skipped
        """Files in folders that are not text."""

    @classmethod
    def read(
        cls, paths: Sequence[Path], *, column: str | None = None, documents: Documents = "file"
    ) -> Self:
        """Go once through text files, folders of them, and tables, whose rows are documents.

        In a folder, files that are not UTF-8 text are left out, and named in the notes. A file
        that is given by its own name has to be text.
        """
        gathering, tables = Gathering(), 0
        notes: list[str] = []
        skipped: list[Path] = []
        files = list(find_files(paths))
        sizes = [path.stat().st_size if path.exists() else 0 for path, _ in files]
        for (path, inside), heard in zip(files, _listeners(sizes), strict=True):
            try:
                source, note = open_source(path, column, documents)
                gathering.add(source, heard)
            except DataError:
                if not inside or not inspect(path).broken:
                    raise
                skipped.append(path)
            else:
                tables += source.documents is None
                notes += [note] if note else []
        whole = gathering.done()
        _require_text(whole, paths, len(skipped))
        _require_table(tables, column)
        return cls(whole, [*_first_few(notes), *_left_out(skipped)], len(skipped))

    def all(self) -> Texts:
        return self.side(0, self.characters)

    def side(self, first: int, last: int) -> Texts:
        """The characters from `first` on, up to `last` and without it."""
        if not 0 <= first <= last <= self.characters:
            raise DataError(
                f"the corpus has no characters {first:,} to {last:,}: they go from 0 to "
                f"{self.characters:,}."
            )
        return Texts(self._whole, first, last)

    def split(self, shares: tuple[float, float, float]) -> tuple[Texts, Texts, Texts]:
        """The beginning to train on, then a part to validate on, and the end to test on.

        Where there are `MANY` documents none is cut in two, and those that are held out do not
        train, wherever else they stand. Shares are in percent, as in splits.py.
        """
        one, two = self._cuts(shares)
        train, validation = self.side(0, one), self.side(one, two)
        test = self.side(two, self.characters)
        if self.documents >= MANY:
            train = train.without(validation, test)
        for name, share, side in zip(SIDES, shares, (train, validation, test), strict=True):
            if share and not side.characters:
                raise self._nothing_left(name, share, side.overlapping)
        return train, validation, test

    def _cuts(self, shares: Sequence[float]) -> list[int]:
        whole = sum(shares)
        if len(shares) != 3 or not isfinite(whole) or min(shares) < 0 or not shares[0]:
            raise ConfigError(
                f"the shares {', '.join(f'{share:g}' for share in shares)} leave nothing to train "
                "on, or are not three numbers from 0 on: give train, validation and test in "
                "percent, as in 90, 5, 5."
            )
        places = [self.characters * sum(shares[:number]) / whole for number in (1, 2)]
        return [self._nearest(round(place)) for place in places]

    def _nearest(self, place: int) -> int:
        """Where the nearest document begins or the last one ends, if there are many."""
        if self.documents < MANY:
            return place
        above = int(np.searchsorted(self._whole.starts, place))
        near: list[int] = self._whole.starts[max(0, above - 1) : above + 1].tolist()
        return min(near, key=lambda start: abs(start - place))

    def _nothing_left(self, name: str, share: float, overlapping: int) -> DataError:
        count = f"{self.documents:,} document{'s' * (self.documents > 1)}"
        why = f"its share is {share:g} of {self.characters:,} characters in {count}"
        if overlapping:
            why = f"its {overlapping:,} documents are all held out as well"
        return DataError(
            f"nothing is left for the {name} side: {why}. Give more text, a larger share to that "
            'side (data.split), or smaller documents (data.documents = "paragraph" or "line").'
        )


def _listeners(sizes: Sequence[int]) -> Iterator[Callable[[int], None]]:
    """For each file, who tells how far reading is, counted in bytes of all files. A packed one
    holds more than its size says."""
    before, whole = 0, sum(sizes)
    for size in sizes:
        tell("Reading", before, whole)
        yield lambda read, before=before, size=size: tell(  # type: ignore[misc]
            "Reading", before + min(read, size), whole
        )
        before += size


def _require_text(whole: Gathered, paths: Sequence[Path], skipped: int) -> None:
    if not len(whole.digests):
        names = " ".join(map(str, paths)) or "no files given"
        others = f" ({skipped:,} files are not UTF-8 text)" if skipped else ""
        raise DataError(f"{names}: no text in it{others}. Name files or folders that hold some.")


def _require_table(tables: int, column: str | None) -> None:
    if column is not None and not tables:
        raise DataError(
            f'a column "{column}" is asked for, but none of the files is a table (.csv, .tsv or '
            ".jsonl). Leave data.column out, or rename the file."
        )


def _first_few(notes: Sequence[str]) -> list[str]:
    more = len(notes) - FEW
    others = f"{more:,} other table{'s were' if more > 1 else ' was'} read in the same way."
    return [*notes[:FEW], others] if more > 0 else [*notes]


def _left_out(skipped: Sequence[Path]) -> list[str]:
    """A note on the files that are not text, without the way to them: it goes into the run."""
    if not skipped:
        return []
    several, more = len(skipped) > 1, len(skipped) - FEW
    names = ", ".join("/".join(path.parts[-2:]) for path in skipped[:FEW])
    names += f" and {more:,} more" if more > 0 else ""
    subject = f"{len(skipped):,} files are" if several else "1 file is"
    return [f"{subject} not UTF-8 text and left out: {names}."]
