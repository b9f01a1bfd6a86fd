"""`regard look`: draw what every head looked at."""

import shutil
from pathlib import Path

import click

from regard.cli.completion import complete_run
from regard.cli.console import echo_json, in_colour, say
from regard.names import KEEPS


@click.command()
@click.argument("run", type=click.Path(path_type=Path, readable=False), shell_complete=complete_run)
@click.argument("text")
@click.option(
    "--attention",
    help="encoder, decoder, cross or copy  [default: cross in the terminal, all in pictures]; "
    "influence: what each output depends on, by gradients, also without attention.",
)
@click.option("--layer", type=int, help="1 is the first [default: the last in the terminal].")
@click.option("--head", type=int, help="1 is the first [default: the mean in the terminal].")
@click.option("--png", type=click.Path(path_type=Path, readable=False), help="Write a picture.")
@click.option(
    "--html", type=click.Path(path_type=Path, readable=False), help="Write an interactive page."
)
@click.option("--json", "as_json", is_flag=True, help="Print the weights as one JSON object.")
def look(
    run: Path,
    text: str,
    attention: str | None,
    layer: int | None,
    head: int | None,
    png: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Show what RUN looked at while it answered TEXT.

    \b
    regard look runs/demo attention
    regard look runs/demo attention --attention encoder --layer 1 --head 2
    regard look runs/demo attention --html attention.html --png attention.png
    """
    from regard.lens.picture import visible
    from regard.lens.terminal import draw
    from regard.run import Run

    opened = Run.load(run)
    if opened.task.is_cut(text):
        kept = KEEPS[getattr(opened.recipe, "keep", "head")]
        say(f"regard: warning: the text is longer than the model takes: it read only {kept}.")
    picture = opened.influence(text) if attention == "influence" else opened.look(text)
    chosen = picture.only(name=attention, layer=layer, head=head)
    for path in (png, html):
        if path is not None:
            say(f"wrote {chosen.save(path)}")
    if as_json:
        echo_json(chosen.as_json())
    elif png is None and html is None:
        last = chosen.last.maps[-1]  # its top layer
        shown = chosen.only(name=attention or last.name, layer=layer or last.layer + 1)
        say(f"{visible(picture.source, blank=' ')} -> {visible(picture.output, blank=' ')}")
        click.echo(draw(shown, width=shutil.get_terminal_size().columns, colour=in_colour()))
