"""metrics.jsonl: one line a logged step, one a validation."""

import json
from pathlib import Path
from typing import Any

from regard.errors import RunError
from regard.files import write_text


class Log:
    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, line: dict[str, Any]) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise RunError(
                f"{self.path}: can not be written: {error.strerror or error}."
            ) from error

    def forget_after(self, step: int) -> None:
        """Leave out the lines of later steps: they are about to happen again."""
        kept = [text for text in self._texts() if _step_of(text) <= step]
        write_text(self.path, "".join(text + "\n" for text in kept))

    def read(self) -> list[dict[str, Any]]:
        return [json.loads(text) for text in self._texts() if _step_of(text) < float("inf")]

    def _texts(self) -> list[str]:
        if not self.path.exists():
            return []
        return self.path.read_text("utf-8", errors="replace").splitlines()


def _step_of(line: str) -> float:
    """The step a log line is about; infinity for a line that a crash tore."""
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return float("inf")
