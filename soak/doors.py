"""The four doors through which a person's file comes in: train, data check, predict, evaluate.

Behind each stands the real command with its real reader; only the model is left out. Instead,
a task that listens answers every input by itself, and scores by telling what it was given.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import click
from click.testing import CliRunner
from torch import nn

from regard.cli.data import check as check_command
from regard.cli.evaluate import evaluate as evaluate_command
from regard.cli.predict import predict as predict_command
from regard.config import TokenizerSettings, TrainSettings
from regard.data.pairs import Pair
from regard.models.copying import Copying
from regard.models.predictor import Predictor
from regard.run import Run
from regard.tasks.pair_recipe import PairData, TransduceRecipe
from regard.tasks.transduce import Transduce
from soak.hostile import Pairs

DOORS = ("train", "check", "predict", "evaluate")
HELD_OUT = {"validation": "held out 1", "test": "held out 2"}  # sources that no other file holds


class Listening(Transduce):
    """Takes every input, and answers it by itself."""

    def predictor(self, network: nn.Module, **decoding: Any) -> Any:
        return Copying()

    def fits(self, text: str) -> bool:
        return True

    def load_baselines(self, folder: Path) -> dict[str, Predictor]:
        return {}

    def doubt(self, examples: list[Any], baselines: Any) -> str:
        return ""  # for want of baselines


class ListeningRun(Run):
    def scored(self, examples: list[Any], *rest: Any) -> dict[str, Any]:
        return {"examples": [(pair.source, pair.target) for pair in examples]}


def recipe_for(**data: Any) -> TransduceRecipe:
    return TransduceRecipe(
        data=PairData(**data),
        source=TokenizerSettings(kind="character"),
        train=TrainSettings(steps=1),
    )


def train(paths: Sequence[Path]) -> Pairs:
    """The training part, where validation and test have files of their own: all of the file."""
    folder = paths[0].parent
    own = {side: folder / f"{side}.tsv" for side in HELD_OUT}
    for side, source in HELD_OUT.items():
        own[side].write_text(f"{source}\ttarget {side}\n", encoding="utf-8")
    parts = {side: str(path) for side, path in own.items()}
    data = str(paths[0]) if len(paths) == 1 else tuple(map(str, paths))
    found: list[Pair] = Transduce.read(recipe_for(path=data, **parts)).train
    return [(pair.source, pair.target) for pair in found]


def check(paths: Sequence[Path]) -> dict[str, Any]:
    (found,) = _ask(check_command, *map(str, paths), "--json")
    return dict(found)


def predict(paths: Sequence[Path]) -> list[str]:
    """The inputs, as they come back."""
    with _listening():
        return [row["input"] for row in _ask(predict_command, "run", "--file", str(paths[0]))]


def evaluate(paths: Sequence[Path]) -> Pairs:
    with _listening():
        files = [word for path in paths for word in ("--data", str(path))]
        (found,) = _ask(evaluate_command, "run", *files)
    return [(source, target) for source, target in found["examples"]]


@contextmanager
def _listening() -> Iterator[None]:
    nobody = mock.Mock()  # one tokenizer for both sides, never asked
    task = Listening(recipe_for(path="pairs.tsv"), nobody, nobody)
    run = ListeningRun(Path("run"), task, nn.Identity(), {})
    with mock.patch.object(Run, "load", return_value=run):
        yield


def _ask(command: click.Command, *args: str) -> list[Any]:
    """The JSON lines that a command prints. Its errors are raised, as `main` would see them."""
    result = CliRunner().invoke(command, [*args, *(["--json"] if "--json" not in args else [])])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return [json.loads(line) for line in result.stdout_bytes.decode().split("\n") if line]
