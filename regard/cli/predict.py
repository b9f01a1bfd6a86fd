"""`regard predict`: answer inputs from arguments, a file or a pipe, in order."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from regard.cli.console import echo_json
from regard.errors import ConfigError


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("inputs", nargs=-1)
@click.option("--file", type=click.Path(path_type=Path), help="One input a line.")
@click.option("--beam", type=int, help="Sequences kept at each step; 1 is greedy.")
@click.option("--length-penalty", type=float, help="For beams: 0 likes short, 1 long outputs.")
@click.option("--temperature", type=float, help="Above 0: sample instead of taking the best.")
@click.option("--top-k", type=int, help="Sample among the K likeliest.")
@click.option("--top-p", type=float, help="Sample among the likeliest that make up P.")
@click.option("--min-p", type=float, help="Sample among those at least P times the best.")
@click.option("--seed", type=int, help="For sampling.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def predict(
    run: Path, inputs: tuple[str, ...], file: Path | None, as_json: bool, **decoding: float | None
) -> None:
    """Answer INPUTS, or the lines of a file, or of standard input.

    \b
    regard predict runs/demo attention transformer
    regard predict runs/demo --file words.txt --beam 8 --json
    cat words.txt | regard predict runs/demo > answers.txt
    """
    if inputs and file:
        raise ConfigError("give inputs or --file, not both.")
    from regard.run import Run

    chosen = {name: value for name, value in decoding.items() if value is not None}
    lines = iter(inputs) if inputs else _lines(file)
    for prediction in Run.load(run).stream(lines, **chosen):
        if as_json:
            echo_json(prediction.as_json())
        else:
            click.echo(prediction.output)


def _lines(file: Path | None) -> Iterator[str]:
    from regard.data.lines import read_lines

    if file is None and sys.stdin.isatty():
        raise ConfigError(
            'nothing to answer: give inputs, --file, or a pipe, as in "echo hi | ...".'
        )
    yield from (line for _, line in read_lines(file or Path("/dev/stdin")))
