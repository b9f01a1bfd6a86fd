"""`regard demo`: five minutes, from nothing to a Transformer that says how words are pronounced."""

from pathlib import Path

import click

from regard.cli.closing import carry_out
from regard.cli.console import quick_start, say
from regard.errors import RunError
from regard.files import free_folder, locked


@click.command()
@click.option("--budget", default="5m", show_default=True, help="Time for training: 90s, 5m, ...")
@click.option(
    "--out",
    default="runs/demo",
    show_default=True,
    type=click.Path(path_type=Path, readable=False),
    help="Run folder; an earlier one there is moved aside, not lost.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines on standard output.")
def demo(budget: str, out: Path, as_json: bool) -> None:
    """Train a Transformer to pronounce English words, score it, and draw its attention.

    \b
    regard demo
    regard demo --budget 60s --out runs/quick
    """
    say("Regard demo: an encoder-decoder Transformer learns to pronounce words, letter by letter,")
    say("from the CMU Pronouncing Dictionary. PER is the share of phonemes it gets wrong, WER the")
    say("share of words, judged by the nearest of a word's pronunciations.\n")
    with quick_start():
        from regard.build import begin, draft
        from regard.tasks.recipe import asked, make_recipe

        recipe, _ = make_recipe("demo", tree=asked(None, budget))
        if out.exists():
            check_movable(out)
        ready = draft(recipe, out, replacing=True)
        if out.exists():
            move_aside(out)
        training = begin(ready)
    with locked(out):
        carry_out(training, as_json=as_json)


def check_movable(folder: Path) -> None:
    """Nothing is moved but a run that nobody is writing."""
    if not (folder / "run.json").exists():
        raise RunError(f"{folder}: is there, but not a run. Name another folder with --out.")
    with locked(folder):
        pass


def move_aside(folder: Path) -> None:
    """Make room for a new demo without losing the old one, nor pulling it from under its writer."""
    with locked(folder):
        aside = free_folder(folder)
        try:
            folder.rename(aside)
        except OSError as error:
            raise RunError(f"{folder}: can not be moved: {error.strerror or error}.") from error
    say(f"The earlier {folder} is now {aside}.")
