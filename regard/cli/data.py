"""`regard data check` and `regard data stats`: look at a file of texts before a model does."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regard.cli.console import echo_json, in_colour, say
from regard.cli.measures import drawn_columns, show_summary
from regard.cli.paragraphs import paragraph

if TYPE_CHECKING:
    from regard.data.audit import Audit
    from regard.data.findings import Finding

COLOURS = {"problem": "red", "note": "yellow", "ok": "green"}
INDENT = " " * 9  # under the name, beside the level
PAIRS = ("translate", "summarize", "pronounce", "answer", "transduce")

FilePath = click.Path(path_type=Path, readable=False)


@click.group()
def data() -> None:
    """Look at a file of texts before a model does.

    \b
    regard data check pairs.tsv              what training would stumble over
    regard data stats pairs.tsv              how long, how many, which letters
    regard data check reviews.csv            texts with labels, too
    """


def shared(command: Callable[..., Any]) -> Callable[..., Any]:
    """What both commands take."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option(
            "--task",
            type=click.Choice([*PAIRS, "classify"]),
            help="What will be trained, where the columns do not say it: pairs, or texts with "
            "labels (classify).",
        ),
        click.option("--target", help="Column of the target, or label; guessed by default."),
        click.option("--source", help="Column of the source, or text: a name or a number from 1."),
        click.argument("files", metavar="FILE [FILE]", nargs=-1, required=True, type=FilePath),
    ):
        command = option(command)
    return command


@data.command()
@shared
@click.option("--validation", multiple=True, type=FilePath, help="Look for leaks into this file.")
@click.option("--test", multiple=True, type=FilePath, help="The same; twice for parallel files.")
def check(files: tuple[Path, ...], as_json: bool, **asked: Any) -> None:
    """Find what is wrong with a table, or with two text files whose lines belong together.

    A table with a column of labels is read as `regard train classify` reads it, any other as pairs.

    Ends with 1 when there is a problem: training would refuse, or its scores would lie.

    \b
    regard data check pairs.tsv
    regard data check train.de train.en --test test.de --test test.en
    regard data check reviews.csv --source text --target label --json
    regard data check mails.csv --task classify --target queue
    """
    from regard.data.audit import audit

    result = audit(files, **_known(asked))
    if as_json:
        echo_json(result.as_json())
    else:
        _show_audit(result)
    if not result.passed:
        sys.exit(1)


@data.command()
@shared
@click.option("--png", type=FilePath, help="Draw lengths, and labels, as a picture.")
def stats(files: tuple[Path, ...], as_json: bool, png: Path | None, **asked: Any) -> None:
    """Measure a table, or two text files whose lines belong together.

    \b
    regard data stats pairs.tsv
    regard data stats train.de train.en --png lengths.png
    regard data stats reviews.csv --png reviews.png
    """
    from regard.data.summary import summarize
    from regard.lens.histogram import save_histograms

    found = summarize(files, **_known(asked))
    if as_json:
        echo_json(found.as_json())
    else:
        show_summary(found)
    if png is not None:
        drawn = [(name, column.characters) for name, column in drawn_columns(found)]
        classes = [(label.name, label.labels or {})] if (label := found.label) else []
        say(f"wrote {save_histograms(drawn, png, classes)}")


def _known(asked: dict[str, Any]) -> dict[str, Any]:
    """A task says whether the targets are labels; without one, the table does."""
    task = asked.pop("task")
    return {**asked, "labels": None if task is None else task == "classify"}


# Check


def _show_audit(result: "Audit") -> None:
    paragraph(f"{result.data}: {result.rows:,} rows that can be used")
    for note in result.notes:
        paragraph(note, "  ")
    click.echo()
    fine = [finding.name for finding in result.findings if finding.level == "ok"]
    rest = [finding for finding in result.findings if finding.level != "ok"]
    widest = max((len(finding.name) for finding in rest), default=0)
    for finding in rest:
        _show_finding(finding, widest, result.data)
    if fine:
        paragraph(f"none of: {', '.join(fine)}", INDENT, _level("ok"))
    problems, notes = (sum(f.level == level for f in rest) for level in ("problem", "note"))
    said = f"{problems or 'No'} problem{'s' * (problems != 1)}"
    click.echo(f"\n{said}, {notes or 'no'} note{'s' * (notes != 1)}.")


def _show_finding(finding: "Finding", widest: int, path: str) -> None:
    head = f"{finding.name:{widest}} {finding.count:>7,}  {_places(finding, path)}"
    paragraph(head, INDENT, _level(finding.level))
    for line in finding.note.splitlines():
        paragraph(line, INDENT)


def _places(finding: "Finding", path: str) -> str:
    """'line 7, 12, ...' of the file itself; 'test.tsv:7, 12, ...' of others, each named once."""
    shown: dict[str, list[str]] = {}
    for place in finding.where:
        name, _, line = place.rpartition(":")
        shown.setdefault("line " if name == path else f"{name}:" if name else "", []).append(line)
    more = ", ..." if finding.count > len(finding.where) > 1 else ""
    return ", ".join(name + ", ".join(lines) for name, lines in shown.items()) + more


def _level(level: str) -> str:
    return click.style(f"{level:9}", fg=COLOURS[level]) if in_colour() else f"{level:9}"
