"""`regard data check` and `regard data stats`: look at a file of texts before a model does."""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any

import click

from regard.cli.console import columns, echo_json, in_colour, say

if TYPE_CHECKING:
    from regard.data.audit import Audit
    from regard.data.findings import Finding
    from regard.data.summary import Column, Lengths, Summary

COLOURS = {"problem": "red", "note": "yellow", "ok": "green"}
INDENT = " " * 9  # under the name, beside the level
NARROWEST, WIDEST = 40, 100
MOST_LABELS, MOST_HISTOGRAMS = 12, 4

FilePath = click.Path(path_type=Path, readable=False)


@click.group()
def data() -> None:
    """Look at a file of texts before a model does.

    \b
    regard data check pairs.tsv              what training would stumble over
    regard data stats pairs.tsv              how long, how many, which letters
    """


def shared(command: Callable[..., Any]) -> Callable[..., Any]:
    """What both commands take."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("--target", help="Column of the target; guessed by default."),
        click.option("--source", help="Column of the source: a name, or a number from 1."),
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

    Ends with 1 when there is a problem: training would refuse, or its scores would lie.

    \b
    regard data check pairs.tsv
    regard data check train.de train.en --test test.de --test test.en
    regard data check reviews.csv --source text --target label --json
    """
    from regard.data.audit import audit

    result = audit(files, **asked)
    if as_json:
        echo_json(result.as_json())
    else:
        _show_audit(result)
    if not result.passed:
        sys.exit(1)


@data.command()
@shared
@click.option("--png", type=FilePath, help="Write the histograms of lengths as a picture.")
def stats(files: tuple[Path, ...], as_json: bool, png: Path | None, **asked: Any) -> None:
    """Measure a table, or two text files whose lines belong together.

    \b
    regard data stats pairs.tsv
    regard data stats train.de train.en --png lengths.png
    """
    from regard.data.summary import summarize
    from regard.lens.histogram import save_histograms

    found = summarize(files, **asked)
    if as_json:
        echo_json(found.as_json())
    else:
        _show_summary(found)
    if png is not None:
        drawn = [(name, column.characters) for name, column in _drawn(found)]
        say(f"wrote {save_histograms(drawn, png)}")


# Check


def _show_audit(result: "Audit") -> None:
    _print(f"{result.data}: {result.rows:,} rows that can be used")
    for note in result.notes:
        _print(note, "  ")
    click.echo()
    fine = [finding.name for finding in result.findings if finding.level == "ok"]
    rest = [finding for finding in result.findings if finding.level != "ok"]
    widest = max((len(finding.name) for finding in rest), default=0)
    for finding in rest:
        _show_finding(finding, widest, result.data)
    if fine:
        _print(f"none of: {', '.join(fine)}", INDENT, _level("ok"))
    problems, notes = (sum(f.level == level for f in rest) for level in ("problem", "note"))
    said = f"{problems or 'No'} problem{'s' * (problems != 1)}"
    click.echo(f"\n{said}, {notes or 'no'} note{'s' * (notes != 1)}.")


def _show_finding(finding: "Finding", widest: int, path: str) -> None:
    head = f"{finding.name:{widest}} {finding.count:>7,}  {_places(finding, path)}"
    _print(head, INDENT, _level(finding.level))
    for line in finding.note.splitlines():
        _print(line, INDENT)


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


# Stats


def _show_summary(found: "Summary") -> None:
    table = found.table
    bad = f", and {found.bad_rows:,} that can not be used" if found.bad_rows else ""
    _print(table.name)
    header = " with a header" if table.header and table.format in ("tsv", "csv") else ""
    _print(f"{found.rows:,} rows{bad}; {table.format}{header}", "  ")
    for line in (*map(str, found.files), *found.notes):
        _print(line, "  ")
    _show_table(_length_rows(found), right=(2, 3, 4, 5, 6))
    _show_table(_variety_rows(found), right=(1, 2))
    _show_table(_example_rows(found))
    for name, column in _titled(found):
        if column.labels is not None:
            _show_table(_class_rows(name, column.labels), right=(0, 1))
    for name, column in _drawn(found):
        _show_histogram(name, column.characters)


def _length_rows(found: "Summary") -> Iterator[Sequence[str]]:
    yield "lengths", "", "mean", "median", "95 %", "longest", "on line"
    for name, column in _titled(found):
        yield name, "characters", *_numbers(column.characters)
        yield "", "words", *_numbers(column.words)


def _numbers(lengths: "Lengths") -> list[str]:
    sizes = [lengths.percentile(50), lengths.percentile(95), lengths.longest]
    line = lengths.top[0][1] if lengths.top else 0
    return [f"{lengths.mean:,.1f}", *(f"{size:,}" for size in sizes), str(line)]


def _variety_rows(found: "Summary") -> Iterator[Sequence[str]]:
    yield "different", "values", "characters", "letters"
    for name, column in _titled(found):
        letters = ", ".join(f"{script} {count:,}" for script, count in column.scripts.items())
        yield name, f"{column.distinct:,}", f"{len(column.letters):,}", letters


def _example_rows(found: "Summary") -> Iterator[Sequence[str]]:
    yield "examples", ""
    for name, column in _titled(found):
        for place, text in enumerate(column.examples):
            yield "" if place else name, text


def _show_table(rows: Iterator[Sequence[str]], right: Sequence[int] = ()) -> None:
    click.echo()
    for line in columns([[_safe(cell) for cell in row] for row in rows], right):
        click.echo(_short(line, _width()))


def _class_rows(name: str, labels: dict[str, int]) -> Iterator[Sequence[str]]:
    yield "rows", "share", f"class in {name}"
    total = sum(labels.values())
    for label, count in list(labels.items())[:MOST_LABELS]:
        yield f"{count:,}", f"{100 * count / total:.1f} %", label
    if len(labels) > MOST_LABELS:
        yield "", "", f"... and {len(labels) - MOST_LABELS} others"


def _show_histogram(name: str, lengths: "Lengths") -> None:
    from regard.lens.histogram import draw_histogram

    click.echo(f"\n{_safe(name)}, characters in a text")
    click.echo(draw_histogram(lengths, width=_width()))


def _titled(found: "Summary") -> Iterator[tuple[str, "Column"]]:
    for place, column in enumerate(found.columns):
        role = f" ({found.chosen[place]})" if place in found.chosen else ""
        yield f"{column.name}{role}", column


def _drawn(found: "Summary") -> list[tuple[str, "Column"]]:
    """The columns that training would take; where that is not known, those without labels."""
    titled = list(_titled(found))
    if found.chosen:
        return [titled[place] for place in found.chosen]
    return [(name, c) for name, c in titled if c.labels is None][:MOST_HISTOGRAMS]


# Printing


def _print(text: str, indent: str = "", first: str = "") -> None:
    """A paragraph as wide as the terminal. What came out of a file can not drive it."""
    width = _width() - len(indent)  # paths stay whole, to be copied
    wrapper = TextWrapper(width, break_on_hyphens=False, break_long_words=False)
    for place, line in enumerate(wrapper.wrap(_safe(text))):
        click.echo(f"{(first or indent) if place == 0 else indent}{line}", color=in_colour())


def _safe(text: str) -> str:
    from regard.lens.picture import visible

    return visible(text, blank=" ")


def _short(text: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"


def _width() -> int:
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))
