"""`regard evaluate`: score a run, beside its baselines."""

from pathlib import Path
from typing import Any

import click

from regard.cli.closing import one_line, show_scores
from regard.cli.completion import complete_run
from regard.cli.console import columns, echo_json, say
from regard.errors import ConfigError
from regard.files import write_bytes

MOST_CLASSES = 20  # in a table; of more, the worst; --json has all of them


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
@click.option(
    "--stride",
    type=int,
    help="Of language models: tokens between the windows of a score; the recipe's by default.",
)
@click.option(
    "--png",
    type=click.Path(path_type=Path, readable=False),
    help="Of labels: draw what is taken for what, and whether probabilities hold.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(
    run: Path,
    data: tuple[Path, ...],
    source: str | None,
    target: str | None,
    beam: int | None,
    stride: int | None,
    png: Path | None,
    as_json: bool,
) -> None:
    """Score RUN on its own test part or on a file, with 95 % intervals.

    \b
    regard evaluate runs/demo
    regard evaluate runs/demo --data more.tsv --json
    regard evaluate runs/translate --data test.de --data test.en
    regard evaluate runs/classify --png judgements.png
    regard evaluate runs/lstm --stride 64
    """
    from regard.run import Run

    asked = {"beam": beam, "stride": stride}
    decoding = {name: value for name, value in asked.items() if value is not None}
    result = Run.load(run).evaluate(data or None, (source, target), **decoding)
    if png is not None:
        draw(result, png)
    if as_json:
        echo_json(result)
        return
    for note in result["notes"]:
        say(note)
    show_scores(result)
    show_classes(result)
    show_mistakes(result)


def show_classes(result: dict[str, Any]) -> None:
    """How well each class is known; of many classes, those that are known worst."""
    from regard.telling import row_of, worst_labels

    classes = result.get("details", {}).get("classes", ())
    if not classes:
        return
    worst, remarks = worst_labels(result, MOST_CLASSES)
    few = len(classes) <= MOST_CLASSES
    rows = [row_of(one) for one in classes] if few else worst
    told = [[one_line(label, 40), *numbers] for label, *numbers in rows]
    head = ["class", "texts", "precision, %", "recall, %", "F1, %"]
    print()
    print("\n".join(columns([head, *told], right=range(1, 5))))
    if not few:
        print("\n".join(f"{remark}." for remark in remarks), "--json has all of them.")


def show_mistakes(result: dict[str, Any]) -> None:
    mistakes = result.get("details", {}).get("mistakes")
    if not mistakes:
        return
    print("\nthe mistakes that it was surest of")
    rows = [["sure", "judged as", "is", "text"]]
    for one in mistakes:
        sure = f"{100 * one['probability']:.0f} %"
        rows.append([sure, one["output"], one["wanted"], one_line(one["input"], 80)])
    print("\n".join(columns(rows)))


def draw(result: dict[str, Any], path: Path) -> None:
    from regard.lens.judgements import judgements_png

    if "reliability" not in result.get("details", {}):
        raise ConfigError("--png: only judgements by labels that are known can be drawn.")
    write_bytes(path, judgements_png(result["details"]))
    say(f"wrote {path}")
