"""`regard predict --explain`: which words mattered, in the terminal or as a page."""

from collections.abc import Sequence
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
    from regard.tasks.label_places import Place

Pieces = Sequence[tuple[str, float]]

SHOWN = 12  # of the strongest, in the terminal
BAR = 20  # letters of the longest bar
AROUND = 12  # letters of a word that are shown on each side of its piece
MEANINGS = {
    "weights": "what each gram adds to the label's score: exact, for this model",
    "gradient": "gradient times input: how the score would move with each token, to first order",
    "leave-one-out": "how far the label's probability falls without the token, one at a time",
    "rollout": "where attention leads through all layers: what was looked at, not what it was for",
}
IN_BRACKETS = "; [a token] that is a part of a word stands in brackets"
NO_GRAM = (
    "no known gram is in this text, so this is what is said before anything is read, mostly by how "
    "frequent labels were"
)
IDLE = "nothing in this text changes the judgement by itself: the largest effect is {:+.6f}"


def show_explanations(
    run: "Run", inputs: Sequence[str], how: str | None, html: Path | None, *, as_json: bool
) -> None:
    if not inputs:
        raise ConfigError('--explain: which text? As in: regard predict RUN "A text." --explain')
    found, kept = [run.explain(text, how) for text in inputs], getattr(run.recipe, "keep", "")
    for one in found:
        if as_json:
            echo_json(one.as_json())
        else:
            click.echo("\n".join(told(one)))
    cut = {"cut_texts": sum(one.judgement.cut for one in found)}
    for remark in counted({**cut, "kept": kept}, REMARKS):
        say(f"regard: warning: {remark}.")
    if html is not None:
        from regard.cli.explained_page import page

        write_text(html, page(found, kept))
        say(f"wrote {html}")


def told(one: "Explained") -> list[str]:
    """The strongest pieces, with a bar for each; + speaks for the label, - against it. Words come
    first, then grams of letters, as many of each."""
    head = f"{title(one)}: {MEANINGS[one.how]}"
    if remark := idle_remark(one):
        return [head, f"  {remark}.", ""]
    words, letters = apart(list(zip(_names(one), (v for _, v in one.pieces), strict=True)))
    most = max(abs(value) for _, value in one.pieces) or 1.0
    rows = [
        [f"  {piece}", f"{value:+.4f}", _bar(value / most)]
        for part in (words, letters)
        for piece, value in strongest(part)[:SHOWN]
    ]
    marked = IN_BRACKETS if one.how != "weights" and any("[" in row[0] for row in rows) else ""
    lines = columns(rows, right=(1,)) + ([f"  ({together(letters)})"] if letters else [])
    return [head + marked, *lines, ""]


def idle_remark(one: "Explained") -> str:
    """What to say in place of pieces, where none of them did anything."""
    if not one.pieces:
        return NO_GRAM
    return IDLE.format(max((v for _, v in one.pieces), key=abs)) if one.idle else ""


def strongest(pieces: Pieces) -> Pieces:
    return sorted(pieces, key=lambda piece: -abs(piece[1]))


def apart(pieces: Pieces) -> tuple[Pieces, Pieces]:
    """Words and letters, which spell the same words once more."""
    words = [piece for piece in pieces if not piece[0].startswith(LETTERS)]
    return words, [piece for piece in pieces if piece[0].startswith(LETTERS)]


def together(letters: Pieces) -> str:
    """
    >>> together([("letters:at", 0.25), ("letters: ca", -0.05)])
    'all 2 grams of letters, which overlap words and each other: +0.2000'
    """
    total = sum(value for _, value in letters)
    return f"all {len(letters)} grams of letters, which overlap words and each other: {total:+.4f}"


def title(one: "Explained") -> str:
    """The label, how likely it is and, where it is not all that is given, what is."""
    given = one.judgement.output
    rest = "" if given == one.label else f"; given: {given or 'none'}"
    return f"{one.label} ({100 * one.probability:.0f} %{rest})"


def _names(one: "Explained") -> list[str]:
    """Grams are named by themselves, tokens by the word that they are a part of."""
    if one.how == "weights":
        return [visible(piece) for piece, _ in one.pieces]
    text = one.judgement.input
    return [_in_word(text, *places) for places in one.places]


def _in_word(text: str, place: "Place") -> str:
    """
    >>> _in_word("my parcel", (2, 5)), _in_word("my parcel", (0, 2)), _in_word("a  b", (1, 2))
    ('[pa]rcel', 'my', '␣')
    """
    piece = text[slice(*place)]
    if not piece.strip():
        return visible(piece)
    stop = place[0] + len(piece.rstrip())
    start = stop - len(piece.strip())
    before, after = text[:start], text[stop:]
    before = "" if before[-1:].isspace() else before.split()[-1] if before else ""
    after = "" if after[:1].isspace() else after.split()[0] if after else ""
    if not before and not after:
        return visible(piece.strip())
    before = before if len(before) <= AROUND else "…" + before[-AROUND:]
    after = after if len(after) <= AROUND else after[:AROUND] + "…"
    return visible(f"{before}[{piece.strip()}]{after}")


def _bar(share: float) -> str:
    """
    >>> _bar(0.2), _bar(-0.1), _bar(0.001)
    ('++++', '--', '')
    """
    return ("+" if share > 0 else "-") * round(BAR * abs(share))
