"""A soak as a dated file: what was tried, on what, and what was lost."""

import json
import os
import platform
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import torch

from regard.train.state import environment

ROOT = Path(__file__).parent.parent


def record(rows: list[dict[str, Any]], names: tuple[str, ...], seed: int) -> Path:
    """Write bench/results/DATE-soak.json, or DATE-soak-B4-C7.json for some campaigns only."""
    path = ROOT / "bench" / "results" / f"{date.today()}-{'-'.join(['soak', *names])}.json"
    found = {
        "name": "soak",
        "date": str(date.today()),
        "commit": commit(),
        "hardware": hardware(),
        "versions": environment(torch.device("cpu")),
        "command": " ".join(["python -m soak", *names, f"--seed {seed}"]),
        "seconds": round(sum(row["seconds"] for row in rows), 1),
        "results": rows,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path.relative_to(ROOT)


def commit() -> str:
    """The commit that was tried, "+" behind it when the files differ from it."""
    asked = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--abbrev=7"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def hardware() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} cores, {names[0] if names else platform.processor()}"
