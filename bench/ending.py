"""How a measurement ends: what was found, whether what is promised holds, and the dated file."""

import sys
from pathlib import Path
from typing import NoReturn

from regard.config import Tree
from regard.reproduce.record import record


def conclude(name: str, words: int, rows: list[Tree], promise: str, *, holds: bool) -> NoReturn:
    """Rows have a score called seconds. The exit code is 1 where the promise does not hold."""
    values = [{key: score["value"] for key, score in row["scores"].items()} for row in rows]
    for row, value in zip(rows, values, strict=True):
        print(row["model"], value)
    print(f"{promise}: {'holds' if holds else 'DOES NOT HOLD'}")
    import torch  # only now: who measures children should be small

    from regard.train.state import environment

    path = record(
        Path("bench/results"),
        name,
        f"python -m bench.{name} {words}",
        environment(torch.device("cpu")),
        seconds=round(sum(value["seconds"] for value in values), 1),
        results=rows,
    )
    print(f"Written to {path}.")
    sys.exit(not holds)
