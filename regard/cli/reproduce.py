"""`regard reproduce`: train what a result was claimed for, and see whether it comes out again."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.closing import carry_out
from regard.cli.console import columns, echo_json, quick_start, say
from regard.errors import ConfigError
from regard.files import locked, read_facts
from regard.names import REMARKS
from regard.text.tokenizer import visible

SHOWN = 120  # letters of a sample's input

if TYPE_CHECKING:
    from regard.config import Recipe, Tree
    from regard.reproduce.plan import Plan
    from regard.run import Run


@click.command()
@click.argument("name", required=False)
@click.option(
    "--data-dir",
    envvar="REGARD_DATA",
    type=click.Path(path_type=Path, readable=False),
    help="Folder of the data sets, each in a folder of its own  [default: $REGARD_DATA].",
)
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
def reproduce(
    name: str | None, data_dir: Path | None, out: Path | None, results: Path, as_json: bool
) -> None:
    """Train the runs of NAME, score them, and hold them against what is claimed.

    What is finished is kept, what was stopped goes on: the same command again. Without NAME, the
    list. The exit code is 1 where a claim does not hold; a goal may be missed.

    \b
    regard reproduce
    regard reproduce reverse
    regard reproduce story --data-dir data
    """
    from regard.reproduce.plans import PLANS, find_plan

    if name is None:
        about = {each: plan.about for each, plan in PLANS.items()}
        if as_json:
            echo_json({"plans": about})
        else:
            click.echo("\n".join(columns(list(about.items()))))
        return
    plan, home = find_plan(name), out or Path("runs") / name
    runs = train_all(name, plan, home, data_dir)
    path, result = write_result(name, plan, runs, results)
    if as_json:
        echo_json(result)
    else:
        show(result)
        say(f"\nWritten to {path}.")
    missed = [claim for claim in result["claims"] if claim["must"] and not claim["holds"]]
    raise SystemExit(bool(missed))


def train_all(name: str, plan: "Plan", home: Path, data_dir: Path | None) -> "dict[str, Run]":
    from regard.reproduce.plans import recipe_of
    from regard.reproduce.sets import Shelf
    from regard.run import Run
    from regard.tasks.recipe import make_recipe

    shelf = Shelf(data_dir, home / "data")
    used = {name: home.absolute().parent / run for name, run in plan.uses.items()}
    teachers = {name for names in plan.taught.values() for name in names}
    there = {name: f for name, f in used.items() if name not in teachers or f.exists()}
    runs = {name: _finished(folder) for name, folder in there.items()}
    for part in plan.parts:
        folder = home / part
        tree: Tree = {"data": plan.data_of(part, shelf)}
        if part in plan.begins:
            tree["begin"] = str(used[plan.begins[part]])
        if part in plan.taught:
            tree["data"] = {**tree["data"], "teachers": _teachers(part, plan, there)}
        recipe, _ = make_recipe(recipe_of(name, part), tree=tree)
        say(f"\n{name}, {part}, in {folder}")
        with redirect_stdout(sys.stderr):  # its tables are talk here
            _carry_on(recipe, folder)
        runs[part] = Run.load(folder)
    return runs


def _teachers(part: str, plan: "Plan", there: dict[str, Path]) -> list[str]:
    """Those whose runs are there: without them it is taught by bags alone, as others are."""
    missing = [plan.uses[name].partition("/")[0] for name in plan.taught[part] if name not in there]
    if missing:
        say(
            f"\n{part} would be taught by the runs of {' and '.join(missing)}, too: reproduce these"
        )
        say("first for what is claimed. Now it is taught without them.")
    return [str(there[name]) for name in plan.taught[part] if name in there]


def _finished(folder: Path) -> "Run":
    """A run of another plan, whose folder lies beside this plan's."""
    from regard.run import Run, is_finished

    if not (folder.exists() and is_finished(folder)):
        raise ConfigError(
            f"{folder}: is needed first. Run: regard reproduce {folder.parent.name} --out "
            f"{folder.parent}"
        )
    return Run.load(folder)


def _carry_on(recipe: "Recipe", folder: Path) -> None:
    """Begin, or go on where it stopped; nothing where it is finished."""
    from regard.build import is_of, new_training, resume_training
    from regard.run import is_finished

    if not folder.exists():
        with quick_start():
            training = new_training(recipe, folder)
        with locked(folder):
            carry_out(training, as_json=False)
        return
    read_facts(folder)  # before a lock is left in a stranger's folder
    with locked(folder):
        if not is_of(folder, recipe):
            raise ConfigError(
                f"{folder}: was trained by another version of this recipe, or on other data. Move "
                "it away, or name another folder with --out."
            )
        if is_finished(folder):
            say("finished already")
            return
        with quick_start():
            training = resume_training(folder)
        carry_out(training, as_json=False)


def write_result(
    name: str, plan: "Plan", runs: "dict[str, Run]", results: Path
) -> "tuple[Path, Tree]":
    import json

    from regard.reproduce.record import record

    facts = {part: run.facts for part, run in runs.items()}
    path = record(
        results,
        name,
        f"regard reproduce {name} --data-dir DATA",
        next(iter(facts.values()))["environment"],
        seconds=round(sum(facts[part]["seconds"] for part in plan.parts), 1),
        results=[row for part, fact in facts.items() for row in _rows(part, fact)],
        claims=[held._asdict() for held in plan.judged(runs)],
    )
    return path, json.loads(path.read_text(encoding="utf-8"))


def _rows(part: str, facts: "Tree") -> "list[Tree]":
    """One of the model, and one of each baseline."""
    test = facts["test"]
    split = f"{test['data']}, {test['examples']:,} {test.get('unit', 'inputs')}"
    kept = ("seconds", "steps", "parameters", "tokens_per_second", "memory")
    about = {key: facts[key] for key in kept}
    data = {key: facts["data"][key] for key in ("sha256", "train", "validation", "test")}
    model = {"model": part, "split": split, "scores": test["scores"], **about, "data": data}
    model |= {key: test[key] for key in REMARKS if key in test}
    model["samples"] = [{**one, "input": shortened(one["input"])} for one in facts["samples"]]
    beside = [
        {"model": f"{part}: {one['name']}", "split": split, "scores": one["scores"]}
        for one in test["baselines"]
    ]
    return [model, *beside]


def shortened(text: str) -> str:
    """The beginning of a text: results travel, whole messages of people should not."""
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def show(result: "Tree") -> None:
    rows = [["", "found", "claim"]]
    for claim in result["claims"]:
        missed = "DOES NOT HOLD" if claim["must"] else "not reached"
        found = visible(claim["found"], blank=" ")  # an output may be among it
        rows.append(["holds" if claim["holds"] else missed, found, claim["claim"]])
    click.echo("\n".join(columns(rows)))
