"""Which model is best? `regard compare` on the labelled texts that plans use, with their parts.

python -m bench.which imdb|trec|newsgroups|sst2 DATA [BUDGET]     20m by default

Writes bench/results/DATE-which-NAME.json and the learning curve, docs/pictures/which-NAME.png.
"""

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from regard.config import Tree
from regard.reproduce import labelled
from regard.reproduce.record import record
from regard.reproduce.sets import Shelf
from regard.run.choosing import which_model
from regard.train.state import environment

SETS: dict[str, Callable[[Shelf], Tree]] = {
    "imdb": labelled.film_reviews,
    "trec": partial(labelled.questions, fold=0),
    "newsgroups": labelled.newsgroups,
    "sst2": labelled.phrases,
}
PICTURES = Path("docs/pictures")


def compared(name: str, data: Path, budget: str, home: Path) -> Tree:
    files = SETS[name](Shelf(data, home / "data"))
    sets = [f"data.{side}={files[side]}" for side in ("validation", "test")]
    found = which_model(
        Path(files["path"]),
        home / "runs",
        columns=("text", "label"),
        budget=budget,
        sets=sets,
        heard=partial(print, flush=True),
    )
    return found


def main(name: str, data: Path, budget: str = "20m") -> None:
    if name not in SETS:
        sys.exit(f"{name}: expected one of {', '.join(SETS)}.")
    with tempfile.TemporaryDirectory() as home:
        found = compared(name, data, budget, Path(home))
        picture = (Path(home) / "runs" / "curve.png").read_bytes()
    for row in found["models"]:
        del row["run"]  # it is gone
    path = record(
        Path("bench/results"),
        f"which-{name}",
        f"python -m bench.which {name} DATA {budget}",
        environment(torch.device("cpu")),
        results=[
            {"model": row.pop("name"), "split": "test part", **row} for row in found["models"]
        ],
        **{key: value for key, value in found.items() if key != "models"},
    )
    PICTURES.mkdir(parents=True, exist_ok=True)  # after the record, which tells of changed files
    (PICTURES / f"which-{name}.png").write_bytes(picture)
    print(f"Written to {path}.")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
