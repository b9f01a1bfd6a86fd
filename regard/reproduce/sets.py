"""The data of plans."""

from pathlib import Path
from random import Random

from regard.config import Tree
from regard.files import make_folder, write_text

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ROWS = {"path": 50_000, "validation": 500, "test": 1000}
LONGEST = 25


def reversed_rows(home: Path) -> Tree:
    """Rows of letters and the same rows from behind; no row is in two files."""
    make_folder(home)
    dice, seen, files = Random(0), set[str](), {}
    for side, count in ROWS.items():
        lines: list[str] = []
        while len(lines) < count:
            row = dice.choices(LETTERS, k=dice.randint(1, LONGEST))
            if (source := " ".join(row)) not in seen:
                seen.add(source)
                lines.append(f"{source}\t{' '.join(reversed(row))}\n")
        files[side] = str((home / f"{side}.tsv").absolute())
        write_text(Path(files[side]), "".join(lines))
    return files
