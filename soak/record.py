"""A soak as a dated file: what was tried, on what, and what was lost."""

from pathlib import Path
from typing import Any

import torch

from regard.reproduce import record as results
from regard.train.state import environment

ROOT = Path(__file__).parent.parent


def record(rows: list[dict[str, Any]], names: tuple[str, ...], seed: int) -> Path:
    """Write bench/results/DATE-soak.json, or DATE-soak-B4-C7.json for some campaigns only."""
    path = results.record(
        ROOT / "bench" / "results",
        "-".join(["soak", *names]),
        " ".join(["python -m soak", *names, f"--seed {seed}"]),
        environment(torch.device("cpu")),
        seconds=round(sum(row["seconds"] for row in rows), 1),
        results=rows,
    )
    return path.relative_to(ROOT)
