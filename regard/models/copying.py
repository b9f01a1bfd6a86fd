"""The baseline that does nothing: answer with the source itself.

A model that corrects, rewrites or summarizes has learned something only where it beats this one.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from regard.errors import RunError
from regard.files import make_folder, read_table, write_json
from regard.names import Prediction


class Copying:
    """A `Predictor` that has nothing to learn."""

    name = "copy the source"
    file = "copying.json"

    @classmethod
    def fit(cls, pairs: Sequence[tuple[str, str]]) -> Self:
        """As every count model has it; the pairs change nothing."""
        return cls()

    def predict(self, inputs: Sequence[str]) -> list[Prediction]:
        return [Prediction(text, text) for text in inputs]

    def save(self, folder: Path) -> None:
        """Write a file that says what this is, so that a baseline that got lost is noticed."""
        make_folder(folder)
        write_json(folder / self.file, {"baseline": self.name})

    @classmethod
    def load(cls, folder: Path) -> Self:
        path = folder / cls.file
        found = read_table(path).get("baseline")
        if found != cls.name:
            raise RunError(
                f'{path}: not a saved baseline: expected {{"baseline": "{cls.name}"}}, found '
                f"{found!r} there. Copy the run again."
            )
        return cls()
