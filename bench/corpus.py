"""A folder of text that is larger than memory should be: how much of it do preparing and training
hold? Each is a process of its own, which tells its own peak.

python -m bench.corpus [MEGABYTES]     1,000 by default; takes about twice as much room on disk
"""

import os
import subprocess
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from random import Random

import numpy as np

from bench.ending import conclude
from regard.config import Tree

FILES = 200
WORDS, PARAGRAPH = 50_000, 60  # different words, the frequent ones first; and those of a paragraph
LIMIT = 500  # megabytes for preparing
SETS = ["train.steps=100", "tokens.kind=bytes", "tokens.size=8000", "model.max_length=128"]
BEGIN = f"""
import sys
from pathlib import Path
from regard.tasks.language_model import LanguageModel
from regard.tasks.recipe import make_recipe
from regard.train.memory import peak_memory
recipe, _ = make_recipe("gpt", [Path(sys.argv[1])], {SETS!r})
"""
PREPARE = """
splits = LanguageModel.read(recipe)
LanguageModel.fit(recipe, splits.train).batches(splits.train)
"""
TRAIN = """
from regard.run import train
train(recipe, out=Path(sys.argv[2]))
"""
END = """
print(peak_memory())
"""


def write_folder(folder: Path, megabytes: int) -> int:
    """Made-up words by Zipf's law, in files of equal size, every paragraph another; the bytes
    written."""
    dice, letters = Random(0), "etaoinshrdlu"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 9))) for _ in range(WORDS)]
    reached = np.array(list(accumulate(1 / rank for rank in range(1, WORDS + 1))))
    random, size, each = np.random.default_rng(0), 0, megabytes * 1_000_000 // FILES
    for number in range(FILES):
        with (folder / f"{number:04}.txt").open("w", encoding="utf-8") as file:
            written = 0
            while written < each:
                drawn = random.random((100, PARAGRAPH)) * reached[-1]
                for row in np.searchsorted(reached, drawn).tolist():
                    written += file.write(" ".join(map(words.__getitem__, row)) + ".\n")
        size += written
    return size


def watched(code: str, *words: str) -> tuple[float, float]:
    """Seconds of a process, and the megabytes that it held at its peak, as it says itself: the
    system mixes up those of children and of who started them."""
    clock = time.perf_counter()
    command = [sys.executable, "-c", BEGIN + code + END, *words]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return time.perf_counter() - clock, int(said.split()[-1]) / 1e6


def measured(home: Path, megabytes: int) -> list[Tree]:
    folder = home / "texts"
    folder.mkdir()
    size = write_folder(folder, megabytes)
    os.environ["REGARD_CACHE"] = str(home / "cache")
    work = {
        "prepared": (PREPARE, str(folder)),
        "opened when prepared": (PREPARE, str(folder)),
        "100 steps, and scored": (TRAIN, str(folder), str(home / "run")),
    }
    return [_row(name, size, *watched(*words)) for name, words in work.items()]


def main(megabytes: int) -> None:
    with tempfile.TemporaryDirectory() as home:
        rows = measured(Path(home), megabytes)
    holds = rows[0]["scores"]["peak_megabytes"]["value"] <= LIMIT
    conclude("corpus", megabytes, rows, f"preparing held at most {LIMIT} MB", holds=holds)


def _row(name: str, size: int, seconds: float, peak: float) -> Tree:
    scores = {"seconds": {"value": round(seconds, 1)}, "peak_megabytes": {"value": round(peak)}}
    return {"model": name, "split": f"{size:,} bytes in {FILES} files", "scores": scores}


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
