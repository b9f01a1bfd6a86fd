"""What `regard data stats` prints about a table."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from regard.cli.console import columns
from regard.cli.paragraphs import paragraph, safe, shortened, width

if TYPE_CHECKING:
    from regard.data.summary import Column, Lengths, Summary

MOST_LABELS, MOST_HISTOGRAMS = 12, 4


def show_summary(found: "Summary") -> None:
    table = found.table
    bad = f", and {found.bad_rows:,} that can not be used" if found.bad_rows else ""
    paragraph(table.name)
    header = " with a header" if table.header and table.format in ("tsv", "csv") else ""
    paragraph(f"{found.rows:,} rows{_labels(found)}{bad}; {table.format}{header}", "  ")
    for line in (*map(str, found.files), *found.notes):
        paragraph(line, "  ")
    _show_table(_length_rows(found), right=(2, 3, 4, 5, 6))
    _show_table(_variety_rows(found), right=(1, 2))
    _show_table(_example_rows(found))
    for name, column in _titled(found, labels=True):
        if column.labels is not None:
            _show_table(_class_rows(name, column.labels), right=(0, 1))
    for name, column in drawn_columns(found):
        _show_histogram(name, column.characters)
    if found.label:
        _show_rule(found)


def _labels(found: "Summary") -> str:
    """', 2 labels, 3 rows without one', after the number of rows."""
    if found.text is None or found.label is None:
        return ""
    known = len(found.label.labels or {})
    blank = {"label": found.label.blank, "text": found.text.blank}
    without = "".join(
        f", {n:,} row{'s' * (n != 1)} without a {what}" for what, n in blank.items() if n
    )
    return f", {known:,} label{'s' * (known != 1)}{without}"


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
    for line in columns([[safe(cell) for cell in row] for row in rows], right):
        click.echo(shortened(line, width()))


def _class_rows(name: str, labels: dict[str, int]) -> Iterator[Sequence[str]]:
    yield "rows", "share", f"class in {name}"
    total = sum(labels.values())
    for label, count in list(labels.items())[:MOST_LABELS]:
        yield f"{count:,}", f"{100 * count / total:.1f} %", label
    if len(labels) > MOST_LABELS:
        rest = sum(list(labels.values())[MOST_LABELS:])
        share = f"{100 * rest / total:.1f} %"
        yield f"{rest:,}", share, f"... and {len(labels) - MOST_LABELS} others"


def _show_histogram(name: str, lengths: "Lengths") -> None:
    from regard.lens.histogram import draw_histogram

    click.echo(f"\n{safe(name)}, characters in a text")
    click.echo(draw_histogram(lengths, width=width()))


def _show_rule(found: "Summary") -> None:
    from regard.data.summary import RATIO

    assert found.text is not None, "labels have texts"
    ratio, mean = found.texts_for_a_word, found.text.words.mean
    best = "bag of words" if ratio < RATIO else "model that knows the order of words"
    click.echo()
    paragraph(
        f"{ratio:,.0f} texts with a label for each word of a text ({mean:,.0f} on average): a rule "
        f"of thumb expects a {best} to do best (it changes at {RATIO:,}); regard compare tries."
    )


def _titled(found: "Summary", *, labels: bool = False) -> Iterator[tuple[str, "Column"]]:
    """The columns and their parts; how long the labels of texts are says nothing."""
    for place, column in enumerate(found.columns):
        role = found.chosen.get(place, "")
        if role != "label" or labels:
            yield (
                f"{column.name} ({role})" if role not in ("", column.name) else column.name,
                column,
            )


def drawn_columns(found: "Summary") -> list[tuple[str, "Column"]]:
    """The columns that training would take; where that is not known, those without labels."""
    titled = list(_titled(found, labels=True))
    if found.chosen:
        return [titled[place] for place, role in found.chosen.items() if role != "label"]
    return [(name, c) for name, c in titled if c.labels is None][:MOST_HISTOGRAMS]
