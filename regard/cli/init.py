"""`regard init`: write a recipe with every setting filled in and explained."""

from pathlib import Path
from textwrap import wrap

import click

from regard.cli.completion import complete_task
from regard.cli.console import command, echo_json, say
from regard.errors import ConfigError


@click.command()
@click.argument("task", shell_complete=complete_task)
@click.argument("data", nargs=-1, type=click.Path(path_type=Path, readable=False))
@click.option("--source", help="Column of the source: its name, or its number from 1.")
@click.option("--target", help="Column of the target.")
@click.option("--budget", help="Time for training: 90s, 20m, 1h30m  [default: 5m].")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Change any setting.")
@click.option(
    "--out", type=click.Path(path_type=Path, readable=False), help="File  [default: TASK.toml]."
)
@click.option("--json", "as_json", is_flag=True, help="Print the settings; write no file.")
def init(
    task: str,
    data: tuple[Path, ...],
    source: str | None,
    target: str | None,
    budget: str | None,
    sets: tuple[str, ...],
    out: Path | None,
    as_json: bool,
) -> None:
    """Write a recipe for TASK: all settings, each with what it means.

    With DATA the settings are chosen from it, as `regard train TASK DATA` does; without, they
    are the defaults, and data.path is yours to fill in.

    \b
    regard init translate
    regard init translate pairs.tsv --budget 20m --out small.toml
    regard train small.toml
    """
    from regard.files import write_text
    from regard.tasks.recipe import asked, example_recipe, make_recipe, relative_to
    from regard.toml import written

    path = out or Path(f"{task}.toml")
    if path.suffix != ".toml":
        raise ConfigError(f"{path}: the name of a recipe ends in .toml, as in {path}.toml.")
    if path.exists() and not as_json:
        raise ConfigError(f"{path}: exists already. Name another file with --out.")
    tree = asked((source, target), budget)
    if data:
        recipe, reasons = make_recipe(task, data, sets, tree)
    else:
        recipe, reasons = example_recipe(task, sets, tree), []
    if as_json:
        echo_json(recipe.model_dump(mode="json"))
        return
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: there is no folder {path.parent}. Make it first.")
    chosen = [line for what, why in reasons for line in wrap(f"{what}: {why}", 96)]
    comments = "".join(f"# {line}\n" for line in [f"regard train {path.name}", *chosen])
    write_text(path, f"{comments}\n{written(relative_to(recipe, path.parent))}")
    first = "" if data else "Put your file into data.path, then train it with"
    say(f"Wrote {path}. {first or 'Train it with'}:  {command('train', path)}")
