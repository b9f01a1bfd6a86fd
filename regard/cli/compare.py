"""`regard compare`: is one run better than another, or was it luck? And which model for my data?"""

import sys
from pathlib import Path

import click

from regard.cli.completion import complete_run
from regard.cli.console import columns, echo_json, say
from regard.errors import ConfigError
from regard.files import free_folder
from regard.names import SCORE_TITLES


@click.command()
@click.argument("a", type=click.Path(path_type=Path, readable=False), shell_complete=complete_run)
@click.argument(
    "b",
    type=click.Path(path_type=Path, readable=False),
    shell_complete=complete_run,
    required=False,
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, readable=False),
    multiple=True,
    help="A file with the same columns, or two with matching lines (give it twice); the test part "
    "of A by default.",
)
@click.option("--source", help="Column of the source, where it is not called as in training.")
@click.option("--target", help="Column of the target.")
@click.option("--budget", default="20m", show_default=True, help="Of a table: time for all models.")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Of a table: any setting.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, readable=False),
    help="Of a table: folder of the runs  [default: runs/compare].",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(
    a: Path,
    b: Path | None,
    data: tuple[Path, ...],
    source: str | None,
    target: str | None,
    budget: str,
    sets: tuple[str, ...],
    out: Path | None,
    as_json: bool,
) -> None:
    """Score the runs A and B on the same inputs, and say whether the difference is real. Or, where
    A is a table of texts with labels: train several models on it, and say which is best by the
    validation part, and how good it is on the test part.

    The interval is a paired bootstrap: both are scored on the same 1,000 samples of the examples.
    Where it leaves out 0, the difference is more than chance.

    \b
    regard compare runs/translate runs/translate-2
    regard compare runs/translate runs/translate-2 --data test.tsv --json
    regard compare reviews.csv --target label --budget 20m
    """
    if b is None and data:
        raise ConfigError("--data goes with two runs; name the table itself: regard compare TABLE")
    if b is None:
        which(
            a, out or free_folder(Path("runs") / "compare"), (source, target), budget, sets, as_json
        )
        return
    from regard.run import Run
    from regard.run import compare as compared

    result = compared(Run.load(a), Run.load(b), data or None, (source, target))
    if as_json:
        echo_json(result)
        return
    for note in result["notes"]:
        say(note)
    say(f"{result['data']}, {result['examples']:,} inputs; 95 % paired bootstrap intervals")
    head = ["", str(a), str(b), "difference", "95 % interval", ""]
    rows = [_row(name, found, (a, b)) for name, found in result["scores"].items()]
    click.echo("\n".join(columns([head, *rows], right=(1, 2, 3))))
    for side, path in (("a", a), ("b", b)):
        if (known := result["in_training"][side]) is None:
            say(f"{path} may have been trained on this text: it has not kept of what.")
        elif known:
            say(f"{path} was trained on {known:,} of the inputs: the scores flatter it.")
        if long := result["too_long"][side]:
            say(f"{path} can not take {long:,} of the inputs, too long or empty: counted as wrong.")


def which(
    path: Path,
    out: Path,
    chosen: tuple[str | None, str | None],
    budget: str,
    sets: tuple[str, ...],
    as_json: bool,
) -> None:
    """Which model for a table?"""
    if path.is_dir():
        raise ConfigError(f"{path}: compare it with which run? Name a second one.")
    from regard.lens.learning import HEAD, rows_of, verdict_of
    from regard.run.choosing import which_model

    say(f"Reading {path} ...")
    try:
        result = which_model(path, out, columns=chosen, budget=budget, sets=sets, heard=say)
    except KeyboardInterrupt:
        say(f"\nStopped. What was trained is in {out}; another comparison begins anew.")
        sys.exit(130)
    if as_json:
        echo_json(result)
        return
    rows = [list(row) for row in (HEAD, *rows_of(result))]
    click.echo("\n".join(columns(rows, right=(1, 3, 4, 5))))
    click.echo(f"\n{verdict_of(result)}")
    say(f"In {out}: every run, curve.png, report.html.")


def _row(name: str, score: dict[str, float], runs: tuple[Path, Path]) -> list[str]:
    from regard.metrics import LOWER_IS_BETTER

    first = (score["difference"] > 0) != (name in LOWER_IS_BETTER)
    verdict = f"{runs[0 if first else 1]} is better" if score["significant"] else "may be chance"
    between = f"{score['low']:+.2f} to {score['high']:+.2f}"
    values = [f"{score[key]:.2f}" for key in ("a", "b")]
    return [SCORE_TITLES.get(name, name), *values, f"{score['difference']:+.2f}", between, verdict]
