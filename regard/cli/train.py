"""`regard train`: from a file, or from a recipe, to a trained model in a new run folder."""

from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from regard.cli.closing import carry_out
from regard.cli.completion import complete_task
from regard.cli.console import echo_json, megabytes, quick_start, say, telling
from regard.files import free_folder, locked

if TYPE_CHECKING:
    from regard.build import Draft


@click.command()
@click.argument("task", shell_complete=complete_task)
@click.argument("data", nargs=-1, type=click.Path(path_type=Path, readable=False))
@click.option("--source", help="Column of the source: its name, or its number from 1.")
@click.option("--target", help="Column of the target.")
@click.option("--budget", help="Time for training: 90s, 20m, 1h30m  [default: 5m].")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Change any setting.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, readable=False),
    help="Run folder  [default: runs/TASK].",
)
@click.option("--dry-run", is_flag=True, help="Show size, memory, steps and time; do not train.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines on standard output.")
def train(
    task: str,
    data: tuple[Path, ...],
    source: str | None,
    target: str | None,
    budget: str | None,
    sets: tuple[str, ...],
    out: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Train TASK on DATA, or train a recipe.

    \b
    TASK  transduce    any text into another, from pairs; also called
          translate    sentences, scored by BLEU and chrF
          summarize    long into short, scored by ROUGE
          pronounce    spellings into sounds, scored by PER and WER
          classify     which of some labels a text has, by accuracy
          language_model  what comes next in a text, by perplexity; also called
          gpt          ... by a Transformer
          lstm         ... by an LSTM
          NAME.toml    a recipe: `regard init` writes one
    DATA  a TSV, CSV or JSON Lines file with a source and a target column
          (to classify: texts and labels),
          or two text files whose lines match; for language models a text
          file, a folder of them, or a table; .gz, .xz and .zst will do

    \b
    regard train translate pairs.tsv
    regard train summarize mails.csv --source body --target subject --budget 20m
    regard train translate train.de train.en --dry-run
    regard train transduce pairs.jsonl --set model.width=256 --set train.rate=0.002
    regard train classify reviews.csv --target sentiment
    regard train classify reviews.csv --set data.unlabelled=more.csv
    regard train gpt corpus.txt --budget 10m
    regard train gpt texts/ --set model.preset=nanogpt-cpu --set train.steps=2000
    regard train recipe.toml --out runs/mine --json > steps.jsonl
    """
    folder = out or free_folder(Path("runs") / Path(task).stem)
    with quick_start():
        from regard.build import begin, draft, refuse_existing
        from regard.tasks.recipe import asked, make_recipe

        refuse_existing(folder)
        say(f"Reading {' and '.join(map(str, data)) or task} ...")
        with telling():
            recipe, reasons = make_recipe(task, data, sets, asked((source, target), budget))
            ready = draft(recipe, folder, try_out=dry_run)
        explain(ready, reasons)
        if dry_run:
            show_draft(ready, as_json=as_json)
            return
        training = begin(ready)
    with locked(folder):
        carry_out(training, as_json=as_json)


def explain(ready: "Draft", reasons: list[tuple[str, str]]) -> None:
    """What was guessed about the data, and what was chosen and why."""
    for note in ready.splits.told():
        say(f"  {note}")
    for what, why in reasons:
        say(f"  {what + ':':10} {why}")


def show_draft(ready: "Draft", *, as_json: bool) -> None:
    """What `--dry-run` prints: nothing was written."""
    from regard.models.weights import count_parameters
    from regard.train.estimate import estimate_memory
    from regard.train.memory import available_memory

    training, trial = ready.training, ready.trial
    assert trial is not None, "a dry run tries steps out"
    memory = estimate_memory(training, ready.splits, trial, lambda: draw(ready))
    room = available_memory()
    facts = {
        "parameters": count_parameters(training.network),
        "memory_bytes": memory.peak,
        "memory": asdict(memory),
        "available_bytes": room,
        "steps": training.steps,
        "seconds_per_step": trial.seconds,
        "expected_seconds": trial.expected(training.steps),
        "passes": training.steps / training.batches.steps_per_pass,
        "examples": training.batches.examples,
        "left_out": training.batches.left_out,
        "vocabulary": training.task.vocabulary(),
        "recipe": training.task.recipe.model_dump(mode="json"),
    }
    if as_json:
        echo_json(facts)
        return
    ids = ", ".join(f"{size:,} {side}" for side, size in facts["vocabulary"].items())
    click.echo(f"parameters     {facts['parameters']:,}")
    click.echo(f"vocabulary     {ids}")
    click.echo(f"examples       {facts['examples']:,} ({facts['left_out']:,} left out)")
    click.echo(f"steps          {facts['steps']:,}, {facts['passes']:,.1f} passes over the data")
    click.echo(f"expected time  {facts['expected_seconds']:,.0f} s ({trial.seconds:.4f} s a step)")
    parts = ", ".join(f"{part} {megabytes(size)}" for part, size in facts["memory"].items())
    click.echo(f"memory         about {megabytes(memory.peak)} at the peak ({parts})")
    if room is not None and memory.peak > room:
        say(f"Only {megabytes(room)} can be had here: the system may kill the run.")
    say("Nothing was trained and nothing written.")


def draw(ready: "Draft") -> None:
    """The picture that the run will end with, of a network that knows nothing yet."""
    from regard.lens.capture import look

    task, network = ready.training.task, ready.training.network
    picture = look(task, network, task.samples(ready.splits.test)[0])
    with TemporaryDirectory() as folder:
        picture.last.save(Path(folder) / "attention.png")
