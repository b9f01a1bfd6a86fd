"""B9: what `regard train --dry-run` says about memory, beside what the run then takes.

Each set-up is estimated in one fresh process and trained to its end in another: few steps, but
validations, checkpoints, scores and pictures as in any run.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from soak.campaign import Campaign, Outcome

WITHIN = 0.20
PROGRAM = """
import atexit
from regard.train.memory import peak_memory
atexit.register(lambda: print(peak_memory()))
from regard.cli.main import main
main()
"""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class SetUp:
    """Made-up pairs, and the settings to train on them with."""

    rows: int
    words: int
    """In a source, on average."""
    different: int
    """Words that there are."""
    sets: dict[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        told = " ".join(f"{key}={value}" for key, value in self.sets.items())
        return f"{self.rows} rows of {self.words} of {self.different} words, {told}"


def kind(name: str, size: int = 8000) -> dict[str, object]:
    return {"source.kind": name, "source.size": size}


def shape(width: int, layers: int) -> dict[str, object]:
    return {
        "model.width": width,
        "model.encoder_layers": layers,
        "model.decoder_layers": layers,
    }


def batch(tokens: int, accumulate: int = 1) -> dict[str, object]:
    return {"train.batch_tokens": tokens, "train.accumulate": accumulate}


RNN: dict[str, object] = {"model.kind": "rnn"}
COPYING: dict[str, object] = {"model.copying": "true"}
SMALL = SetUp(300, 2, 50, {**kind("character"), **shape(16, 1), **batch(200)})
SET_UPS = [
    SMALL,
    SetUp(20_000, 6, 8000, {**kind("word"), **shape(32, 1), **batch(2000), "decode.beam": 4}),
    SetUp(5000, 8, 4000, {**kind("word", 4000), **shape(128, 2), **batch(1000)}),
    SetUp(5000, 8, 4000, {**kind("bpe", 2000), **shape(64, 1), **batch(8000)}),
    SetUp(5000, 8, 4000, {**kind("bpe", 2000), **shape(64, 1), **batch(8000, 4)}),
    SetUp(2000, 30, 2000, {**kind("bpe", 1000), **shape(64, 1), **batch(4000), "decode.beam": 1}),
    SetUp(1000, 20, 2000, {**kind("character"), **shape(32, 1), **batch(3000), "decode.beam": 1}),
    SetUp(3000, 5, 8000, {**kind("word"), **shape(256, 1), **batch(1000)}),
    SetUp(3000, 5, 8000, {**kind("word"), **shape(64, 1), **batch(4000, 4), "decode.beam": 1}),
    SetUp(20_000, 1, 3000, {**kind("character"), **shape(64, 2), **batch(2000), "decode.beam": 4}),
    SetUp(4000, 10, 3000, {**kind("bytes", 3000), **shape(128, 3), **batch(1000)}),
    SetUp(8000, 10, 3000, {**kind("wordpiece", 3000), **shape(32, 1), **batch(16_000)}),
    SetUp(8000, 10, 3000, {**kind("wordpiece", 3000), **shape(32, 1), **batch(16_000, 4)}),
    SetUp(1000, 3, 500, {**kind("word"), **shape(256, 3), **batch(300), "train.keep": "averaged"}),
    SetUp(1000, 3, 500, {**kind("word"), **shape(128, 4), **batch(600), "model.dropout": 0.2}),
    SetUp(4000, 6, 8000, {**kind("word"), **shape(128, 1), **batch(1000), "model.norm": "rms"}),
    SetUp(4000, 6, 8000, {**kind("word"), **shape(16, 1), **batch(6000), "decode.beam": 4}),
    SetUp(12_000, 4, 1000, {**kind("character"), **shape(32, 1), **batch(3000), "decode.beam": 1}),
    SetUp(600, 40, 300, {**kind("word"), **shape(64, 2), **batch(3000), "decode.beam": 2}),
    SetUp(2000, 12, 6000, {**kind("word"), **shape(192, 1), **batch(500), "model.kv_heads": 1}),
    SetUp(4000, 8, 3000, {**kind("bpe", 2000), **RNN, "model.width": 96, **batch(2000)}),
    SetUp(3000, 10, 3000, {**kind("bpe", 2000), **shape(64, 2), **COPYING, **batch(4000)}),
    SetUp(4000, 8, 3000, {**kind("word"), **RNN, "model.attention": "none", **batch(4000)}),
]
TOKENS = 200_000  # to train on: enough to learn how long outputs are, whatever else
ALWAYS = {"train.patience": 9, "metrics": '["chrf"]'}
# Recurrent networks have no such activation: they stand at even places.
EVEN, ODD = {"train.optimizer": "adamw"}, {"train.optimizer": "muon", "model.activation": "gelu"}


def memory_campaign(cases: int, dice: random.Random, folder: Path) -> Outcome:
    outcome, ratios = Outcome(), []
    for number, set_up in enumerate(SET_UPS[:cases]):
        place = folder / str(number)
        place.mkdir()
        write_pairs(place / "pairs.tsv", set_up, dice)
        sets = [*arguments({**ALWAYS, **(ODD if number % 2 else EVEN), **length(set_up)})]
        said = json.loads(regard("--dry-run", *sets, at=place)[0])
        peak = int(regard("--out", "run", *sets, at=place)[-1])
        ratios.append(said["memory_bytes"] / peak)
        outcome.saw(
            abs(ratios[-1] - 1) <= WITHIN,
            f"{set_up}: said {said['memory_bytes'] / 1e6:.0f} MB ({said['memory']}), "
            f"took {peak / 1e6:.0f} MB; `python -m soak B9` makes the same pairs again",
        )
    outcome.notes.append("said / took: " + " ".join(f"{ratio:.2f}" for ratio in ratios))
    return outcome


def length(set_up: SetUp) -> dict[str, object]:
    """Its settings, and for how long it trains."""
    steps = min(200, max(6, TOKENS // int(str(set_up.sets["train.batch_tokens"]))))
    return {"train.steps": steps, "train.validate_every": steps // 2, **set_up.sets}


def write_pairs(path: Path, set_up: SetUp, dice: random.Random) -> None:
    """Sources of random words, common and rare ones; a target is its source backwards."""
    spelled = [
        "".join(dice.choices(LETTERS, k=dice.randint(2, 9))) for _ in range(set_up.different)
    ]
    with path.open("w", encoding="utf-8") as file:
        for _ in range(set_up.rows):
            length = max(1, round(dice.gauss(set_up.words, set_up.words / 4)))
            words = [spelled[int(len(spelled) * dice.random() ** 2)] for _ in range(length)]
            file.write(f"{' '.join(words)}\t{' '.join(reversed(words))}\n")


def arguments(sets: dict[str, object]) -> Iterator[str]:
    for key, value in sets.items():
        yield from ("--set", f"{key}={value}")


def regard(*words: str, at: Path) -> list[str]:
    """Train by the command line in a fresh process; the lines it prints, its peak the last."""
    command = [sys.executable, "-c", PROGRAM, "train", "transduce", "pairs.tsv", *words, "--json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} fails: {done.stderr[-500:]}")
    return done.stdout.splitlines()


CAMPAIGNS = (
    Campaign(
        "B9",
        "a dry run says within 20 % what memory the run takes at its peak",
        full=len(SET_UPS),
        short=1,
        run=memory_campaign,
    ),
)
