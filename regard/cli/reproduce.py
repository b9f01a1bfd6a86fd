"""`regard reproduce`: train what a result was claimed for, and see whether it comes out again."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.closing import carry_out
from regard.cli.console import columns, echo_json, quick_start, say
from regard.errors import ConfigError
from regard.files import locked

if TYPE_CHECKING:
    from regard.config import Recipe, Tree
    from regard.reproduce.plans import Plan
    from regard.run import Run


@click.command()
@click.argument("name", required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path, readable=False),
    help="Folder of its runs  [default: runs/NAME].",
)
@click.option(
    "--results",
    default="bench/results",
    show_default=True,
    type=click.Path(path_type=Path, readable=False),
    help="Folder of the dated result.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def reproduce(name: str | None, out: Path | None, results: Path, as_json: bool) -> None:
    """Train the runs of NAME, score them, and hold them against what is claimed.

    What is finished is kept, what was stopped goes on: the same command again. Without NAME, the
    list. The exit code is 1 where a claim does not hold.

    \b
    regard reproduce
    regard reproduce reverse
    """
    from regard.reproduce.plans import PLANS, find_plan

    if name is None:
        for each, plan in PLANS.items():
            click.echo(f"{each:12} {plan.about}")
        return
    plan, home = find_plan(name), out or Path("runs") / name
    runs = train_all(name, plan, home)
    path, result = write_result(name, plan, runs, results)
    if as_json:
        echo_json(result)
    else:
        show(result)
        say(f"\nWritten to {path}.")
    raise SystemExit(not all(claim["holds"] for claim in result["claims"]))


def train_all(name: str, plan: "Plan", home: Path) -> "dict[str, Run]":
    from regard.reproduce.plans import RECIPES
    from regard.run import Run, is_finished
    from regard.tasks.recipe import make_recipe

    data = plan.data(home / "data")
    runs = {}
    for part in plan.parts:
        folder = home / part
        recipe, _ = make_recipe(RECIPES / f"{name}-{part}.toml", tree={"data": data})
        if not (folder.exists() and is_finished(folder)):
            say(f"\n{name}, {part}, in {folder}")
            with redirect_stdout(sys.stderr):  # its tables are talk here
                _train(recipe, folder)
        runs[part] = Run.load(folder)
        _refuse_another(recipe, runs[part])
    return runs


def _refuse_another(recipe: "Recipe", run: "Run") -> None:
    """A run that lies there already must be one of this recipe."""
    ours, theirs = (one.model_copy(update={"data": None}) for one in (recipe, run.recipe))
    if ours != theirs:
        raise ConfigError(
            f"{run.folder}: was trained by another version of this recipe. Move it away, or name "
            "another folder with --out."
        )


def _train(recipe: "Recipe", folder: Path) -> None:
    """Begin, or go on where it stopped."""
    from regard.build import new_training, resume_training

    with quick_start():
        training = resume_training(folder) if folder.exists() else new_training(recipe, folder)
    with locked(folder):
        carry_out(training, as_json=False)


def write_result(
    name: str, plan: "Plan", runs: "dict[str, Run]", results: Path
) -> "tuple[Path, Tree]":
    import json

    from regard.reproduce.record import record

    facts = {part: run.facts for part, run in runs.items()}
    kept = ("environment", "seconds", "steps", "parameters", "tokens_per_second", "memory", "test")
    path = record(
        results,
        name,
        f"regard reproduce {name}",
        next(iter(facts.values()))["environment"],
        runs={part: {key: fact[key] for key in kept} for part, fact in facts.items()},
        claims=[held._asdict() for held in plan.judged(runs)],
    )
    return path, json.loads(path.read_text(encoding="utf-8"))


def show(result: "Tree") -> None:
    rows = [["", "found", "claim"]]
    for claim in result["claims"]:
        verdict = "holds" if claim["holds"] else "DOES NOT HOLD"
        rows.append([verdict, claim["found"], claim["claim"]])
    click.echo("\n".join(columns(rows)))
