"""`regard look`: draw what every head looked at."""

import os
import shutil
import sys
from pathlib import Path

import click

from regard.cli.console import say


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("text")
@click.option(
    "--attention",
    type=click.Choice(["cross", "encoder", "decoder"]),
    help="Which attention [default: cross in the terminal, all in pictures].",
)
@click.option("--layer", type=int, help="1 is the first [default: the last in the terminal].")
@click.option("--head", type=int, help="1 is the first [default: the mean in the terminal].")
@click.option("--png", type=click.Path(path_type=Path), help="Write a picture.")
@click.option("--html", type=click.Path(path_type=Path), help="Write an interactive page.")
def look(
    run: Path,
    text: str,
    attention: str | None,
    layer: int | None,
    head: int | None,
    png: Path | None,
    html: Path | None,
) -> None:
    """Show what RUN looked at while it answered TEXT.

    \b
    regard look runs/demo attention
    regard look runs/demo attention --attention encoder --layer 1 --head 2
    regard look runs/demo attention --html attention.html --png attention.png
    """
    from regard.lens.terminal import draw
    from regard.run import Run

    picture = Run.load(run).look(text)
    for path in (png, html):
        if path is not None:
            chosen = picture.only(name=attention, layer=layer, head=head)
            say(f"wrote {chosen.save(path)}")
    if png is None and html is None:
        name = attention or "cross"
        last = 1 + max((m.layer for m in picture.maps if m.name == name), default=0)
        chosen = picture.only(name=name, layer=layer or last, head=head)
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        click.echo(draw(chosen, width=shutil.get_terminal_size().columns, colour=colour))
