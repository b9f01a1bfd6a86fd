"""250,000 short texts are classified in a pipe: does memory grow with them?

python -m bench.stream [TEXTS]     250,000 by default; a bag, then a small Transformer
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from bench.ending import conclude
from regard.config import Tree

TRAINED, EARLY = 3000, 0.1  # texts to learn from; when memory is looked at for the first time
GROWTH = 1.05  # at the end it may be so much more
MODELS = {
    "bag": ["model.kind=bag"],
    "transformer": ["model.kind=transformer", "model.width=64", "model.layers=1", "train.steps=60"],
}


def texts(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Short texts with their labels, no two alike: a number among words that lean to one side."""
    dice = Random(seed)
    sides = {"good": ["fine", "warm", "bright", "kind"], "bad": ["cold", "dull", "bitter", "loud"]}
    both = [f"{a}{b}{c}" for a in "bdgk" for b in "aeio" for c in "lmnrst"]
    for number in range(count):
        label = dice.choice(list(sides))
        words = [*dice.choices(both, k=dice.randint(2, 9)), dice.choice(sides[label])]
        dice.shuffle(words)
        yield f"{number} {' '.join(words)}", label


def held(process: int) -> float:
    """The megabytes that a process has held at its peak so far."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM"))
    return int(peak.split()[1]) * 1024 / 1e6


def streamed(run: Path, source: Path, count: int) -> Tree:
    """Peaks early and at the end, answers and seconds of `regard predict` in a pipe."""
    command = [sys.executable, "-m", "regard", "predict", str(run)]
    clock, answers, early, late = time.perf_counter(), 0, 0.0, 0.0
    with source.open("rb") as lines:
        with subprocess.Popen(command, stdin=lines, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in process.stdout:
                answers += 1
                if answers == int(EARLY * count):
                    early = held(process.pid)
                if answers == count - 1:  # it waits for us to read the last one
                    late = held(process.pid)
    if process.returncode or answers != count:
        sys.exit(f"{run.name}: {answers:,} of {count:,} answers, exit code {process.returncode}")
    seconds = time.perf_counter() - clock
    return {"early": early, "late": late, "seconds": seconds, "rate": count / seconds}


def measured(home: Path, count: int) -> list[Tree]:
    table, source = home / "train.csv", home / "texts.txt"
    rows = (f"{text},{label}\n" for text, label in texts(TRAINED, seed=0))
    table.write_text("text,label\n" + "".join(rows), encoding="utf-8")
    with source.open("w", encoding="utf-8") as file:
        file.writelines(f"{text}\n" for text, _ in texts(count, seed=1))
    return [_row(name, count, home, table, source) for name in MODELS]


def _row(name: str, count: int, home: Path, table: Path, source: Path) -> Tree:
    sets = [word for line in MODELS[name] for word in ("--set", line)]
    train = [sys.executable, "-m", "regard", "train", "classify", str(table)]
    quiet = subprocess.DEVNULL
    subprocess.run(
        [*train, "--out", str(home / name), *sets], check=True, stdout=quiet, stderr=quiet
    )
    found = streamed(home / name, source, count)
    scores = {key: {"value": round(value, 1)} for key, value in found.items()}
    return {"model": name, "split": f"{count:,} texts", "scores": scores}


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as home:
        rows = measured(Path(home), count)
    scores = [row["scores"] for row in rows]
    holds = all(one["late"]["value"] <= GROWTH * one["early"]["value"] for one in scores)
    conclude("stream", count, rows, f"at the end at most {GROWTH} times as much", holds=holds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 250_000)
