"""How often each value of a column occurs, where these may be labels."""

from collections import Counter

from regard.data.formats import Cell
from regard.data.table import as_text

MOST_LABELS, LABEL_SHARE = 50, 0.05  # a column with so few different values holds labels
MOST_COUNTED, LONGEST_LABEL = 1000, 100
LABEL_NAMES = {"label", "labels", "class", "category", "topic", "intent", "sentiment", "tag"}


class Values:
    """How often each value occurs, as long as these may be labels: few, and short. A blank cell has
    no label."""

    def __init__(self, name: str) -> None:
        self.named = name.strip().lower() in LABEL_NAMES
        self.counts: Counter[str] | None = Counter()

    def add(self, cell: Cell) -> None:
        text = as_text(cell)
        if self.counts is not None and text.strip():
            self.counts[text] += 1
            if len(self.counts) > MOST_COUNTED or len(text) > LONGEST_LABEL:
                self.counts = None

    def labels(self) -> dict[str, int] | None:
        """Counts, the most frequent first; None for a column that does not look like labels."""
        if not self.counts:
            return None
        few = len(self.counts) <= MOST_LABELS
        few = few and len(self.counts) < LABEL_SHARE * self.counts.total()
        return dict(self.counts.most_common()) if few or self.named else None


class Labels(Values):
    """The same of a column of labels, as training takes them: without blanks around them. They may
    be many, and long."""

    def __init__(self) -> None:
        self.all: Counter[str] = Counter()

    def add(self, cell: Cell) -> None:
        labels = [cell] if isinstance(cell, str) else dict.fromkeys(cell)
        self.all.update(label for label in map(str.strip, labels) if label)

    def labels(self) -> dict[str, int]:
        return dict(self.all.most_common())
