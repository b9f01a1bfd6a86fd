"""`regard predict --explain`: which words mattered, in the terminal or as a page."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.console import columns, echo_json, say
from regard.errors import ConfigError
from regard.files import write_text
from regard.models.grams import LETTERS
from regard.names import REMARKS, counted
from regard.text.tokenizer import visible

if TYPE_CHECKING:
    from regard.lens.explain import Explained
    from regard.run import Run

Pieces = Sequence[tuple[str, float]]

SHOWN = 12  # of the strongest, in the terminal
BAR = 20  # letters of the longest bar
MEANINGS = {
    "weights": "what each gram adds to the label's score: exact, for this model",
    "gradient": "gradient times input: how the score would move with each token, to first order",
    "leave-one-out": "how far the label's probability falls without the token, one at a time",
    "rollout": "where attention leads through all layers: what was looked at, not what it was for",
}


def show_explanations(
    run: "Run", inputs: Sequence[str], how: str | None, html: Path | None, *, as_json: bool
) -> None:
    if not inputs:
        raise ConfigError('--explain: which text? As in: regard predict RUN "A text." --explain')
    found = [run.explain(text, how) for text in inputs]
    for one in found:
        if as_json:
            echo_json(one.as_json())
        else:
            click.echo("\n".join(told(one)))
    cut = {"cut_texts": sum(one.judgement.cut for one in found)}
    for remark in counted({**cut, "kept": getattr(run.recipe, "keep", "")}, REMARKS):
        say(f"regard: warning: {remark}.")
    if html is not None:
        write_text(html, page(found))
        say(f"wrote {html}")


def told(one: "Explained") -> list[str]:
    """The strongest pieces, with a bar for each; + speaks for the label, - against it. Words come
    first, then grams of letters, as many of each."""
    words, letters = _apart(one.pieces)
    most = _most(one.pieces)
    rows = [
        [f"  {visible(piece)}", f"{value:+.4f}", _bar(value / most)]
        for part in (words, letters)
        for piece, value in sorted(part, key=lambda piece: -abs(piece[1]))[:SHOWN]
    ]
    lines = columns(rows, right=(1,)) + ([f"  ({_together(letters)})"] if letters else [])
    return [f"{_title(one)}: {MEANINGS[one.how]}", *lines, ""]


def _apart(pieces: Pieces) -> tuple[Pieces, Pieces]:
    """Words and letters, which spell the same words once more."""
    words = [piece for piece in pieces if not piece[0].startswith(LETTERS)]
    return words, [piece for piece in pieces if piece[0].startswith(LETTERS)]


def _most(pieces: Pieces) -> float:
    return max((abs(value) for _, value in pieces), default=0.0) or 1.0


def _together(letters: Pieces) -> str:
    """
    >>> _together([("letters:at", 0.25), ("letters: ca", -0.05)])
    'all 2 grams of letters, which overlap words and each other: +0.2000'
    """
    total = sum(value for _, value in letters)
    return f"all {len(letters)} grams of letters, which overlap words and each other: {total:+.4f}"


def _title(one: "Explained") -> str:
    """The label, how likely it is and, where it is not all that is given, what is."""
    given = one.judgement.output
    rest = "" if given == one.label else f"; given: {given or 'none'}"
    return f"{one.label} ({100 * one.probability:.0f} %{rest})"


def _bar(share: float) -> str:
    """
    >>> _bar(0.2), _bar(-0.1)
    ('++++', '--')
    """
    return ("+" if share > 0 else "-") * max(1, round(BAR * abs(share)))


def page(found: Sequence["Explained"]) -> str:
    """Every text with its pieces coloured: blue speaks for the label, orange against it."""
    parts = "".join(
        f"<h2>{escape(_title(one))}</h2><p>{escape(MEANINGS[one.how])}.</p><p>{_coloured(one)}</p>"
        for one in found
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Which words mattered</title>'
        "<style>body { font: 16px/1.9 system-ui, sans-serif; margin: 2rem auto; max-width: 50rem }"
        "span { border-radius: .2rem; padding: .1rem .25rem }</style>"
        f"<h1>Which words mattered</h1>{parts}</html>\n"
    )


def _coloured(one: "Explained") -> str:
    words, letters = _apart(one.pieces)
    most = _most(one.pieces)
    told = _spans([(visible(piece, blank=" "), value) for piece, value in words], most)
    if letters:
        plain = [(visible(piece.removeprefix(LETTERS)), value) for piece, value in letters]
        told += f"</p><p>{_together(letters)}.</p><p>{_spans(plain, most)}"
    return told


def _spans(pieces: Pieces, most: float) -> str:
    return " ".join(
        f'<span title="{value:+.4f}" style="background: rgb({_rgb(value)} / '
        f'{abs(value) / most:.2f})">{escape(piece)}</span>'
        for piece, value in pieces
    )


def _rgb(value: float) -> str:
    return "80 140 220" if value > 0 else "235 150 60"
