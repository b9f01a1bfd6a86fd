"""`python -m soak`: run every campaign and say what was lost.

    python -m soak                 all of them in full, about an hour on two cores
    python -m soak B4 C7           two of them
    python -m soak --short         a short form of each, as in `make test`

Exit code 1 when anything was lost. A full run is written to bench/results/.
"""

import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
import torch

from soak import CAMPAIGNS
from soak.campaign import Campaign, Outcome
from soak.record import record

SHOWN = 10  # losses printed for one campaign; all of them are in the record


@click.command(help=__doc__.replace("\n\n    ", "\n\n\b\n    ") if __doc__ else None)
@click.argument("names", nargs=-1)
@click.option("--short", is_flag=True, help="The few cases that make test runs.")
@click.option("--seed", default=0, show_default=True, help="Of every random choice.")
def main(names: tuple[str, ...], short: bool, seed: int) -> None:
    torch.set_num_threads(1)  # tiny networks, and children that are forked
    rows = []
    for campaign in chosen(names):
        click.echo(f"{campaign.name:4} {campaign.promise} ...", err=True)
        rows.append(carry_out(campaign, campaign.short if short else campaign.full, seed))
    click.echo(table(rows))
    if not short:
        click.echo(f"Written to {record(rows, names, seed)}", err=True)
    sys.exit(any(row["losses"] for row in rows))


def chosen(names: tuple[str, ...]) -> list[Campaign]:
    unknown = set(names) - {campaign.name for campaign in CAMPAIGNS}
    if unknown:
        known = ", ".join(campaign.name for campaign in CAMPAIGNS)
        raise click.UsageError(f"no campaign {', '.join(sorted(unknown))}. There are: {known}.")
    return [c for c in CAMPAIGNS if not names or c.name in names]


def carry_out(campaign: Campaign, cases: int, seed: int) -> dict[str, Any]:
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix=f"soak-{campaign.name}-") as folder:
        outcome = attempted(campaign, cases, seed, Path(folder))
    for loss in outcome.losses[:SHOWN]:
        click.echo(f"     LOST: {loss}", err=True)
    return {
        "name": campaign.name,
        "promise": campaign.promise,
        "cases": outcome.cases,
        "losses": outcome.losses,
        "notes": outcome.notes,
        "seconds": round(time.perf_counter() - begun, 1),
    }


def attempted(campaign: Campaign, cases: int, seed: int, folder: Path) -> Outcome:
    """A campaign that breaks is a loss like any other; the others still run."""
    try:
        outcome = campaign.run(cases, random.Random(seed), folder)
    except Exception as error:  # noqa: BLE001
        return Outcome(0, [f"the campaign itself broke: {type(error).__name__}: {error}"])
    if not outcome.cases:
        outcome.losses.append("no case was made")
    return outcome


def table(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'':4} {'cases':>9} {'lost':>5} {'seconds':>8}  promise"]
    for row in rows:
        counts = f"{row['cases']:>9,} {len(row['losses']):>5,} {row['seconds']:>8,.1f}"
        lines.append(f"{row['name']:4} {counts}  {row['promise']}")
        lines.extend(f"{'':30} {note}" for note in row["notes"])
    lost = sum(len(row["losses"]) for row in rows)
    lines.append(f"{sum(row['cases'] for row in rows):,} cases, {lost:,} lost.")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
