"""A folder of text that is larger than memory should be: how much of it do preparing and training
hold? Each is a process of its own, whose peak the system tells.

python -m bench.corpus [MEGABYTES]     1,000 by default; takes about twice as much room on disk
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from regard.config import Tree
from regard.reproduce.record import record
from regard.train.state import environment

FILES = 200
WORDS = 50_000  # different ones, the frequent ones first, as in any language
LIMIT = 500  # megabytes for preparing
PREPARE = """
import sys
from pathlib import Path
from regard.tasks.language_model import LanguageModel
from regard.tasks.recipe import make_recipe
recipe, _ = make_recipe("gpt", [Path(sys.argv[1])], SETS)
splits = LanguageModel.read(recipe)
task = LanguageModel.fit(recipe, splits.train)
print(len(task.batches(splits.train)._tokens))
"""
SETS = ["train.steps=100", "tokens.kind=bytes", "tokens.size=8000", "model.max_length=128"]


def write_folder(folder: Path, megabytes: int) -> int:
    """Made-up words by Zipf's law, in files of equal size; the bytes written."""
    dice, letters = Random(0), "etaoinshrdlu"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 9))) for _ in range(WORDS)]
    chances = [1 / rank for rank in range(1, WORDS + 1)]
    paragraph = [" ".join(dice.choices(words, chances, k=60)) + ".\n" for _ in range(4000)]
    size, each = 0, megabytes * 1_000_000 // FILES
    for number in range(FILES):
        with (folder / f"{number:04}.txt").open("w", encoding="utf-8") as file:
            written = 0
            while written < each:
                written += file.write(dice.choice(paragraph))
        size += written
    return size


def watched(*command: str) -> tuple[float, float]:
    """Seconds of a process, and the megabytes it held at its peak."""
    clock = time.perf_counter()
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - clock
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000


def main(megabytes: int) -> None:
    import torch

    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "texts"
        folder.mkdir()
        size = write_folder(folder, megabytes)
        import os

        os.environ["REGARD_CACHE"] = str(Path(home) / "cache")
        code = PREPARE.replace("SETS", repr(SETS))
        rows: list[Tree] = []
        for name in ("prepared", "opened when prepared"):
            seconds, peak = watched("-c", code, str(folder))
            rows.append(_row(name, size, seconds, peak))
        sets = [word for one in SETS for word in ("--set", one)]
        run = str(Path(home) / "run")
        seconds, peak = watched("-m", "regard", "train", "gpt", str(folder), "--out", run, *sets)
        rows.append(_row("100 steps, and scored", size, seconds, peak))
    within = rows[0]["scores"]["peak_megabytes"]["value"] <= LIMIT
    for row in rows:
        print(row["model"], {name: score["value"] for name, score in row["scores"].items()})
    print(f"preparing held at most {LIMIT} MB: {'holds' if within else 'DOES NOT HOLD'}")
    command = f"python -m bench.corpus {megabytes}"
    path = record(
        Path("bench/results"),
        "corpus",
        command,
        environment(torch.device("cpu")),
        seconds=round(sum(row["scores"]["seconds"]["value"] for row in rows), 1),
        results=rows,
    )
    print(f"Written to {path}.")
    sys.exit(not within)


def _row(name: str, size: int, seconds: float, peak: float) -> Tree:
    """The peak is the largest so far: the system does not tell those of single children apart."""
    scores = {"seconds": {"value": round(seconds, 1)}, "peak_megabytes": {"value": round(peak)}}
    return {"model": name, "split": f"{size:,} bytes in {FILES} files", "scores": scores}


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
