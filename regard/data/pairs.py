"""Read pairs of texts, a source and its target, from any table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from regard.data.columns import choose_columns
from regard.data.formats import Cell, short
from regard.data.table import Flaw, Table, as_text, open_table
from regard.errors import DataError


@dataclass(frozen=True, slots=True)
class Pair:
    source: str
    target: str

    @property
    def group(self) -> str:
        """Pairs of one group stay on one side of a split."""
        return self.source


@dataclass(frozen=True)
class PairTable:
    """Two columns of a table."""

    table: Table
    source: int
    target: int
    notes: tuple[str, ...]
    """What was guessed about the file and its columns, to be said aloud."""

    def rows(self) -> Iterator[tuple[int, Pair] | Flaw]:
        """Every pair in order and exactly as typed, after the line where its row begins.

        A list in the source is one text, its parts joined by blanks; a list in the target is
        several accepted targets, and so several pairs.
        """
        for found in self.table.picked(itemgetter(self.source, self.target)):
            if isinstance(found, Flaw):
                yield found
                continue
            line, (source, target) = found
            if type(source) is type(target) is str and source.strip() and target.strip():
                yield line, Pair(source, target)
            else:
                yield from _lists(line, source, target)

    def read(self, skip_bad: bool = False) -> Iterator[Pair]:
        """The pairs alone. The first bad row is a DataError, unless they are to be skipped."""
        pairs = 0
        for found in self.rows():
            if not isinstance(found, Flaw):
                pairs += 1
                yield found[1]
            elif not skip_bad:
                raise self.refusal(found)
        if not pairs:
            raise DataError(
                f"{self.table.name}: no pairs in it: every row is bad. "
                f"regard data check {self.table.name} says why."
            )

    def refusal(self, flaw: Flaw) -> DataError:
        name = self.table.name
        return DataError(
            f"{name}:{flaw.line}: {flaw.problem} Mend it, or leave such rows out with "
            f"--set data.bad_rows=skip; regard data check {name} lists them all."
        )


def open_pairs(
    paths: Sequence[Path],
    source: str | None = None,
    target: str | None = None,
    *,
    fallback: bool = False,
) -> PairTable:
    """Find the source and the target column of a table, or of two parallel files."""
    table = open_table(paths, [name for name in (source, target) if name is not None])
    first, second, notes = choose_columns(table, source, target, fallback)
    return PairTable(table, first, second, (*table.notes, *notes))


def _lists(line: int, source: Cell, target: Cell) -> Iterator[tuple[int, Pair] | Flaw]:
    """The pairs of a row in which a cell is a list or empty."""
    source = as_text(source)
    targets = [target] if isinstance(target, str) else target
    if source.strip() and targets and all(map(str.strip, targets)):
        yield from ((line, Pair(source, target)) for target in targets)
        return
    if source.strip():
        what = f"the target is empty; the source is {short(source)}."
    else:
        what = f"the source is empty; the target is {short(' '.join(targets))}."
    yield Flaw(line, "empty", f"{what} Fill it in, or remove the row.")
