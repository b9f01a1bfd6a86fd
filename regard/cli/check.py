"""`regard check`: prove that a model is honest."""

import sys
from pathlib import Path

import click

from regard.cli.completion import complete_run
from regard.cli.console import echo_json, say


@click.command()
@click.argument("run", type=click.Path(path_type=Path, readable=False), shell_complete=complete_run)
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="About how many of each check; more takes longer and finds rarer faults.",
)
@click.option("--seed", default=0, show_default=True, help="Of the made-up inputs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(run: Path, cases: int, seed: int, as_json: bool) -> None:
    """Prove on RUN what is easily got wrong: no token sees the future, padding changes nothing, a
    cached step equals a full pass, a resumed training equals the uninterrupted one, and more.

    Inputs are made up, so no data is needed. Exit code 1 when a check fails. For a network of
    your own, in Python: regard.check(module).

    \b
    regard check runs/demo
    regard check runs/demo --cases 10000
    regard check runs/demo --json
    """
    from regard.run import Run

    loaded = Run.load(run)
    say(f"Checking {run} ...")
    shown = sys.stderr.isatty()
    report = loaded.check(
        cases=cases,
        seed=seed,
        heard=lambda finding: say(f"  {finding.name}: {finding.verdict}") if shown else None,
    )
    if as_json:
        echo_json(report.as_json())
    else:
        click.echo(str(report))
    if not report.passed:
        sys.exit(1)
