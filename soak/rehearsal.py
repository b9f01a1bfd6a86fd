"""A run that is small enough to be trained hundreds of times, with everything in it that a resume
could get wrong: dropout, accumulation, validations, a best step; and what makes two runs equal."""

import io
import json
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

from regard.config import Recipe
from regard.errors import RegardError
from regard.tasks.recipe import read_recipe
from regard.train.checkpoints import Checkpoint, load_latest

STEPS, EVERY = 6, 2  # steps of the run, and steps between two saves
RECIPE = f"""\
task = "transduce"
metrics = ["per"]
data.path = "pairs.tsv"
data.split = [80, 10, 10]
source.kind = "character"
model.width = 8
model.heads = 2
model.encoder_layers = 1
model.decoder_layers = 1
model.max_length = 8
model.dropout = 0.1
train.steps = {STEPS}
train.batch_tokens = 150
train.accumulate = 2
train.validate_every = {EVERY}
decode.max_length = 6
"""
CLOCK = "seconds", "tokens_per_second", "memory"  # what run.json says of the machine, not the model
TELLING = "README.md", "report.html"  # they repeat the above for people


def small_recipe(home: Path, *sets: str) -> Recipe:
    """Words and the same words spelled backwards, and a recipe that learns them."""
    dice = random.Random(0)
    words = sorted({"".join(dice.choices("abcde", k=dice.randint(1, 5))) for _ in range(60)})
    text = "".join(f"{word}\t{word[::-1]}\n" for word in words)
    (home / "pairs.tsv").write_text(text, encoding="utf-8")
    (home / "small.toml").write_text(RECIPE, encoding="utf-8")
    return read_recipe(home / "small.toml", sets)


def draw_nothing() -> None:
    """A picture takes longer to draw than the run to train: write a blank one. For children."""
    import regard.lens.plots as plots

    plots.save_png = lambda picture, path: path.write_bytes(b"a picture" * 999)  # type: ignore[assignment]


def load_modules() -> None:
    """Import what a run imports late, so that no child needs to."""
    import sklearn.feature_extraction.text  # noqa: F401

    import regard.lens.page  # noqa: F401
    import regard.lens.plots  # noqa: F401


def command(*words: str) -> tuple[int, str]:
    """`regard WORDS` -> (exit code, what it said). In a child: it takes the streams."""
    from regard.cli.main import main

    sys.argv = ["regard", *words]
    said = sys.stderr = io.StringIO()
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0), said.getvalue()
    return 0, said.getvalue()


def left_behind(run: Path) -> tuple[str, int]:
    """What a run that ended too early left -> (what is wrong with it, steps to be done again)"""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # no damaged checkpoint is in sight
            latest = load_latest(run / "checkpoints")
    except (RegardError, UserWarning) as error:
        return f"it left behind: {error}", 0
    again = _logged_step(run) - (latest.step if latest else 0)
    return (f"{again} steps are lost" if again > EVERY else ""), again


def _logged_step(run: Path) -> int:
    """The last step that was taken, whether or not it was saved."""
    path = run / "metrics.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
    whole = [json.loads(line) for line in lines if line.endswith("}\n")]
    return max((line["step"] for line in whole), default=0)


def content(run: Path) -> dict[str, Any]:
    """All that must be equal for two runs to be the same: every file, without the time it took.
    Of hidden files only the leftovers of a write count, which should not be there."""
    files = [path for path in run.rglob("*") if path.is_file()]
    shown = [p for p in files if not p.name.startswith(".") or p.name.endswith(".part")]
    return {str(path.relative_to(run)): _plain(path) for path in sorted(shown)}


def _plain(path: Path) -> Any:
    if path.name in TELLING:
        return "there"
    if path.name == "manifest.json":
        return sorted(json.loads(path.read_bytes())["sha256"])
    if path.name in ("state.json", "run.json"):
        return {k: v for k, v in json.loads(path.read_bytes()).items() if k not in CLOCK}
    return path.read_bytes()


def difference(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """The names of the files in which two runs differ; nothing when they are equal. An old
    checkpoint more is no difference: a kill may have come just before it was deleted."""
    more = {n for n in found.keys() - expected.keys() if n.startswith("checkpoints/step-")}
    names = (found.keys() | expected.keys()) - more
    return ", ".join(sorted(n for n in names if found.get(n) != expected.get(n)))


def equal(one: Checkpoint, other: Checkpoint) -> bool:
    return one.state == other.state and all(
        one.tensors[file].keys() == tensors.keys()
        and all(torch.equal(one.tensors[file][name], tensors[name]) for name in tensors)
        for file, tensors in other.tensors.items()
    )
