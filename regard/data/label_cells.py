"""What can be said about the cells of a table of texts and labels."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from regard.data.cells import LONGEST_CHOSEN, Cells
from regard.data.findings import Finding, Level
from regard.data.label_doubts import ENOUGH, named_doubts
from regard.data.labels import Labelled

DOUBTS = {  # what is said of each in a list of findings
    "rare": "rare labels",
    "alike": "labels that are nearly alike",
    "uneven": "one label for nearly all rows",
    "like ids": "labels like ids",
    "several": "labels joined in one cell",
}


class LabelCells(Cells):
    """`chosen` is the text and the label. Of a label without a text, or none, nothing is known."""

    def __init__(
        self, columns: Sequence[str], paths: Sequence[Path], chosen: tuple[int, int], guessed: bool
    ) -> None:
        super().__init__(columns, paths, chosen)
        self.text, self.label = chosen
        self.guessed = guessed
        self.values[self.label].counts = None  # not counted as any column that may hold classes
        self.examples: list[Labelled] = []
        self._known: dict[str, Labelled] = {}  # one for all rows of a label

    def add(self, line: int, cells: Sequence[str]) -> None:
        label = cells[self.label].strip()
        super().add(line, [*cells[: self.label], label, *cells[self.label + 1 :]])
        if label and cells[self.text].strip():
            self.examples.append(self._known.setdefault(label, Labelled("", label)))

    def findings(self) -> Iterator[Finding]:
        yield from self._doubts()
        yield from super().findings()

    def _doubts(self) -> Iterator[Finding]:
        said = named_doubts(self.examples, None)
        counts = Counter(example.label for example in self.examples)
        for doubt in dict.fromkeys([*DOUBTS, *said]):
            name = DOUBTS.get(doubt, f"labels: {doubt}")
            if doubt not in said:
                yield Finding(name, "ok")
                continue
            refused = doubt == "like ids" and self.guessed
            level: Level = "problem" if refused else "note"
            note = f"training refuses: {said[doubt]}" if refused else said[doubt]
            yield Finding(name, level, _number(doubt, counts), (), note)

    def _outliers(self) -> Finding:
        finding = super()._outliers()
        longest = finding.note.partition("; training leaves out")[0]
        note = (
            f"{longest}; a bag of words reads all of them, a network no more than model.max_length "
            f"tokens of each ({LONGEST_CHOSEN} at most where it is chosen)"
        )
        return replace(finding, note=note) if finding.count else finding

    def _empty(self) -> Finding:
        finding = super()._empty()
        note = finding.note.replace("in its source and target", "in its text and label")
        return replace(finding, note=note)


def _number(doubt: str, counts: Counter[str]) -> int:
    """How many labels it is about."""
    if doubt == "rare":
        return sum(number < ENOUGH for number in counts.values())
    if doubt == "alike":
        alike = Counter("".join(label.casefold().split()) for label in counts)
        return sum(number for number in alike.values() if number > 1)
    return 1 if doubt == "uneven" else len(counts)
