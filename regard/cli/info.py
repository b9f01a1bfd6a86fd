"""`regard info`: the card of a run, finished or not, or the size of a published network. For a card
only small files are read; torch is not."""

import sys
from pathlib import Path
from typing import Any

import click

from regard.cli.completion import complete_run
from regard.cli.console import columns, command, echo_json
from regard.errors import RunError

NETWORKS = (  # the names in zoo/presets.py, which needs torch
    "vaswani-base",
    "vaswani-big",
    "bert-base",
    "gpt2",
    "chollet-imdb",
    "chollet-spa",
    "nanogpt-cpu",
    "nanogpt",
    "llama-style",
    "simple-transformer",
)


@click.command()
@click.argument("run", type=click.Path(path_type=Path, readable=False), shell_complete=complete_run)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(run: Path, as_json: bool) -> None:
    """Show what RUN is, how good, on which data, and how to make it again.

    Of a run that is not finished: how far it is, and how to go on. Markdown when piped.
    The name of a published network will do as well: then its parameters are listed.

    \b
    regard info runs/demo
    regard info gpt2
    regard info runs/demo > card.md
    regard info runs/demo --json
    """
    from regard.cli.runs import newest_state
    from regard.files import read_facts
    from regard.toml import read_toml

    if not run.exists() and str(run) in NETWORKS:
        show_network(str(run), as_json=as_json)
        return
    facts, recipe = read_facts(run), read_toml(run / "recipe.toml")
    state = None if "test" in facts else newest_state(run / "checkpoints")
    if as_json:
        progress = {} if "test" in facts else {"progress": state}
        echo_json({"run": str(run), **facts, **progress, "recipe": recipe})
    else:
        show(describe(run, facts, recipe, state))


def show_network(name: str, *, as_json: bool) -> None:
    """A published network: where its parameters are."""
    from regard.models.weights import count_parameters
    from regard.zoo.parts import parts_of, table_of
    from regard.zoo.presets import find_preset, network_of_preset

    preset, network = find_preset(name), network_of_preset(name, device="meta")
    if as_json:
        shape = preset.shape.model_dump(mode="json") if preset.shape else {}
        table = [{**part._asdict(), "total": part.total} for part in parts_of(network)]
        found = {"vocabulary": preset.vocabulary, "parameters": count_parameters(network)}
        echo_json({"preset": name, "about": preset.about, **found, "parts": table, "model": shape})
        return
    click.echo(f"{name}: {preset.about}\nPublished: {preset.published}.\n")
    rows = [("part", "layers", "parameters", "share"), *table_of(network)]
    click.echo("\n".join(columns(rows, (2, 3))))


def describe(run: Path, facts: dict[str, Any], recipe: dict[str, Any], state: Any) -> str:
    """The card, in Markdown; a RunError when the files do not hold what a card needs."""
    from regard.train.report import card, unfinished_card

    try:
        if "test" in facts:
            return card(recipe, facts)
        return unfinished_card(recipe, facts, state, advice(run))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RunError(
            f"{run}: run.json or recipe.toml is not as Regard writes it: {error!r}. "
            "Was one of them edited, or copied from another run?"
        ) from error


def advice(run: Path) -> str:
    from regard.cli.runs import is_held

    if is_held(run):
        return "It is training now, in another process."
    return f"Go on with:\n\n```console\n$ {command('resume', run)}\n```"


def show(text: str) -> None:
    """Markdown, drawn on a terminal and as it is in a pipe."""
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
