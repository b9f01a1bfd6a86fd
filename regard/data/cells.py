"""What can be said about every cell by itself: its length, its characters, its place in a class."""

from array import array
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from regard.data.characters import KINDS, OddCharacters
from regard.data.duplicates import Prints, repeats
from regard.data.findings import FEW, Finding, Sightings, found
from regard.data.summary import Lengths
from regard.data.values import Values

OUTLIER, LONG = 20, 1000  # so many times the median, and so many characters, is too long
LONGEST_CHOSEN = 512  # tokens: above it, training never chooses model.max_length by itself
RAREST, LARGEST = 10, 0.9  # rows of the smallest class, share of the largest


class Cells:
    """Takes the cells of all rows. `paths` has the file of each column; `chosen` the places of
    the source and the target, about whose pairs others can tell more, or nothing."""

    def __init__(
        self, columns: Sequence[str], paths: Sequence[Path], chosen: Collection[int] = ()
    ) -> None:
        self.columns, self.paths, self.chosen = columns, paths, chosen
        self.lengths = [Lengths() for _ in columns]
        self.values = [Values(name) for name in columns]
        self.odd = OddCharacters()
        self.edges = Sightings()
        self.empty = [Sightings() for _ in columns]
        self.rows, self.lines = Prints(), array("I")

    def add(self, line: int, cells: Sequence[str]) -> None:
        if not self.chosen:
            self.rows.add("\x1f".join(cells))
            self.lines.append(line)
        for column, text in enumerate(cells):
            self.lengths[column].add(len(text), line)
            self.values[column].add(text)
            self.odd.look(text, self.paths[column], line)
            if not text.strip():
                self.empty[column].add(f"{self.paths[column]}:{line}")
            elif text != text.strip():
                self.edges.add(f"{self.paths[column]}:{line}")

    def is_label(self, column: int) -> bool:
        return self.values[column].labels() is not None

    def findings(self) -> Iterator[Finding]:
        if not self.chosen:
            again = repeats(self.rows.hashes())
            where = [f"{self.paths[0]}:{self.lines[row]}" for row in again[:FEW]]
            note = "kept, and count twice in training"
            yield found("duplicate rows", "note", len(again), where, note)
        yield self._outliers()
        yield self._empty()
        note = "kept; to a character or subword model they are part of the text"
        yield found("blanks around texts", "note", self.edges.count, self.edges.where, note)
        for kind, meaning in KINDS.items():
            note = f"{self.odd.names(kind)}; {meaning}"
            yield found(kind, "note", self.odd.total(kind), self.odd.places[kind], note)
        for column, values in enumerate(self.values):
            if (labels := values.labels()) is not None:
                yield _balance(self.columns[column], labels)

    def _outliers(self) -> Finding:
        number, where, examples = 0, [], []
        for column, lengths in enumerate(self.lengths):
            median = lengths.percentile(50)
            limit = max(LONG, OUTLIER * median)
            if above := lengths.above(limit):
                number += above
                where += [f"{self.paths[column]}:{n}" for size, n in lengths.top if size > limit]
                examples.append(f"{self.columns[column]} {lengths.longest:,} (median {median:,})")
        note = (
            f"longest in characters: {', '.join(examples)}; training leaves out, never cuts, texts "
            f"of more than model.max_length tokens ({LONGEST_CHOSEN} at most where it is chosen), "
            "and says how many"
        )
        return found("outliers in length", "note", number, where, note)

    def _empty(self) -> Finding:
        others = [c for c, t in enumerate(self.empty) if t.count and c not in self.chosen]
        number = sum(self.empty[column].count for column in others)
        where = [place for column in others for place in self.empty[column].where]
        names = ", ".join(self.columns[column] for column in others)
        note = f"in {names}; training refuses them only in its source and target"
        return found("empty cells", "note", number, where, note)


def _balance(column: str, labels: dict[str, int]) -> Finding:
    """Whether every class of a column has enough rows."""
    total, sizes = sum(labels.values()), list(labels.values())
    name, largest = f"unbalanced classes in {column}", f"{next(iter(labels))!r}"
    rare = sum(size < RAREST for size in sizes)
    if len(labels) == 1:
        return Finding(name, "note", 1, (), f"one class only, {largest}: nothing to tell apart")
    if sizes[0] > LARGEST * total:
        note = f"{100 * sizes[0] / total:.3g} % of the rows are {largest}: accuracy will look good"
        return Finding(name, "note", len(labels), (), note)
    if rare:
        note = f"of {len(labels)} have fewer than {RAREST} rows, the rarest, {list(labels)[-1]!r},"
        return Finding(name, "note", rare, (), f"{note} {sizes[-1]}")
    note = f"{len(labels)} classes, from {sizes[-1]:,} to {sizes[0]:,} rows"
    return Finding(name, "ok", len(labels), (), note)
