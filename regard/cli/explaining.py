"""`regard predict --explain`: which words mattered, in the terminal or as a page."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.console import columns, echo_json, say
from regard.errors import ConfigError
from regard.files import write_text
from regard.names import REMARKS, counted
from regard.text.tokenizer import visible

if TYPE_CHECKING:
    from regard.lens.explain import Explained
    from regard.run import Run

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
    """The strongest pieces, with a bar for each; + speaks for the label, - against it."""
    strongest = sorted(one.pieces, key=lambda piece: -abs(piece[1]))[:SHOWN]
    most = max((abs(value) for _, value in strongest), default=0.0) or 1.0
    rows = [
        [f"  {visible(piece)}", f"{value:+.4f}", _bar(value / most)] for piece, value in strongest
    ]
    return [f"{_title(one)}: {MEANINGS[one.how]}", *columns(rows, right=(1,)), ""]


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
    most = max((abs(value) for _, value in one.pieces), default=0.0) or 1.0
    return " ".join(
        f'<span title="{value:+.4f}" style="background: rgb({_rgb(value)} / '
        f'{abs(value) / most:.2f})">{escape(visible(piece, blank=" "))}</span>'
        for piece, value in one.pieces
    )


def _rgb(value: float) -> str:
    return "80 140 220" if value > 0 else "235 150 60"
