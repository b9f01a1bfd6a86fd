"""`regard evaluate`: score a run, beside its baselines."""

from pathlib import Path

import click

from regard.cli.closing import show_scores
from regard.cli.completion import complete_run
from regard.cli.console import echo_json, say


@click.command()
@click.argument("run", type=click.Path(path_type=Path, readable=False), shell_complete=complete_run)
@click.option(
    "--data",
    type=click.Path(path_type=Path, readable=False),
    multiple=True,
    help="A file with the same columns, or two with matching lines (give it twice); the run's "
    "own test part by default.",
)
@click.option("--source", help="Column of the source, where it is not called as in training.")
@click.option("--target", help="Column of the target.")
@click.option("--beam", type=int, help="Sequences kept while decoding; the recipe's by default.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(
    run: Path,
    data: tuple[Path, ...],
    source: str | None,
    target: str | None,
    beam: int | None,
    as_json: bool,
) -> None:
    """Score RUN on its own test part or on a file, with 95 % intervals.

    \b
    regard evaluate runs/demo
    regard evaluate runs/demo --data more.tsv --json
    regard evaluate runs/translate --data test.de --data test.en
    """
    from regard.run import Run

    decoding = {} if beam is None else {"beam": beam}
    result = Run.load(run).evaluate(data or None, (source, target), **decoding)
    if as_json:
        echo_json(result)
        return
    for note in result["notes"]:
        say(note)
    show_scores(result)
