"""`regard evaluate`: score a run, beside its baseline."""

from pathlib import Path

import click

from regard.cli.closing import show_scores
from regard.cli.console import echo_json


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(path_type=Path), help="A file; the test part by default.")
@click.option("--beam", type=int, help="Sequences kept while decoding; the recipe's by default.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(run: Path, data: Path | None, beam: int | None, as_json: bool) -> None:
    """Score RUN on its own test part or on a file, with 95 % intervals.

    \b
    regard evaluate runs/demo
    regard evaluate runs/demo --data more.tsv --json
    """
    from regard.run import Run

    decoding = {} if beam is None else {"beam": beam}
    result = Run.load(run).evaluate(data, **decoding)
    if as_json:
        echo_json(result)
    else:
        show_scores(result)
