"""`regard train`: train a recipe into a new run folder."""

from pathlib import Path

import click

from regard.cli.closing import carry_out, free_folder
from regard.cli.console import quick_start, say
from regard.files import locked


@click.command()
@click.argument("recipe")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Change any setting.")
@click.option("--out", type=click.Path(path_type=Path), help="Run folder [default: runs/RECIPE].")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines on standard output.")
def train(recipe: str, sets: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """Train RECIPE, a TOML file or the name of a shipped recipe.

    \b
    regard train pronounce.toml
    regard train pronounce.toml --set train.budget=20m --set model.width=256
    regard train demo --out runs/mine --json > steps.jsonl
    """
    folder = out or free_folder(Path("runs") / Path(recipe).stem)
    with quick_start():
        from regard.build import new_training, read_recipe

        settings = read_recipe(recipe, sets)
        say(f"Reading the data of {recipe} ...")
        training = new_training(settings, folder)
    with locked(folder):
        carry_out(training, as_json=as_json)
