"""Which words mattered, as one page without a script: each text as it was typed, coloured, what the
colours mean, and of a bag all its grams. Text gets into it escaped, never as HTML.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from regard.cli.explaining import MEANINGS, Pieces, apart, idle_remark, strongest, title, together
from regard.lens.picture import visible
from regard.models.grams import LETTERS
from regard.names import KEEPS

if TYPE_CHECKING:
    from regard.lens.explain import Explained

MOST = 100  # grams in a table
FOR, AGAINST = "80 140 220", "235 150 60"
STYLE = """
body { font: 16px/1.7 system-ui, sans-serif; margin: 2rem auto; max-width: 50rem; padding: 0 1rem }
span { border-radius: .2rem; padding: .1rem 0 }
.text { white-space: pre-wrap; overflow-wrap: anywhere; line-height: 2 }
.key { padding: .1rem .5rem }
.unread { color: #767676; text-decoration: line-through }
.soft { color: #566372; font-size: .875rem }
table { border-collapse: collapse; font-size: .875rem }
td, th { border-bottom: 1px solid #d9dfe6; padding: .1rem 1rem .1rem 0; text-align: start }
td:first-child { overflow-wrap: anywhere }
td:last-child { font-variant-numeric: tabular-nums; text-align: end }
"""
SHARED = (
    " A word has the colour of what its grams add: what a gram adds is shared evenly by the words "
    "that it stands on."
)


def page(found: Sequence["Explained"], kept: str = "") -> str:
    """`kept`: which part of a long text was read."""
    parts = "".join("".join(_told(one, kept)) for one in found)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Which words mattered</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style><h1>Which words mattered</h1>{parts}</html>\n"
    )


def _told(one: "Explained", kept: str) -> Iterator[str]:
    yield f"<h2>{_safe(title(one))}</h2>"
    if one.judgement.cut:
        yield (
            f"<p>The text is longer than the model takes: only {KEEPS.get(kept, 'a part of it')} "
            "was read, and what was not is grey and struck through.</p>"
        )
    if remark := idle_remark(one):
        yield f"<p>{remark[0].upper()}{remark[1:]}.</p>"
        yield f'<p class="text">{_coloured(one, 0.0)}</p>'
        return
    most = max((abs(value) for _, value in one.stretches()), default=0.0)
    yield from _legend(one, most)
    yield f'<p class="text">{_coloured(one, most)}</p>'
    if one.how == "weights":
        yield from _tables(one.pieces)


def _legend(one: "Explained", most: float) -> Iterator[str]:
    """What the colours and the numbers are."""
    if one.how == "rollout":
        yield f"<p>{_key(FOR, 'was looked at')}</p>"
    else:
        keys = _key(FOR, f"speaks for {one.label}"), _key(AGAINST, "speaks against it")
        yield f"<p>{' '.join(keys)}</p>"
    shared = SHARED if one.how == "weights" else ""
    if any(piece.startswith(LETTERS) for piece, _ in one.pieces):
        shared += " Grams of letters are not in these colours."
    yield (
        f'<p class="soft">The numbers: {escape(MEANINGS[one.how])}.{shared} The strongest colour '
        f"here is {most:.4f}; point at a coloured piece to see its own.</p>"
    )


def _key(colour: str, meaning: str) -> str:
    return f'<span class="key" style="background: rgb({colour} / 0.7)">{_safe(meaning)}</span>'


def _coloured(one: "Explained", most: float) -> str:
    """The text as it was typed; `most` is the number of the strongest colour, 0 for none."""
    text, at, parts = one.judgement.input, 0, []
    for (start, stop), value in one.stretches():
        parts.append(_between(text[at:start], one.judgement.cut))
        parts.append(_span(text[start:stop], value, most))
        at = stop
    return "".join(parts) + _between(text[at:], one.judgement.cut)


def _between(text: str, cut: bool) -> str:
    """What no piece stands on: of a text that was cut, what was not read."""
    return f'<span class="unread">{_safe(text)}</span>' if cut and text.strip() else _safe(text)


def _span(text: str, value: float, most: float) -> str:
    if not most:
        return _safe(text)
    if blanks := text[: len(text) - len(text.lstrip())] if text.strip() else "":
        return _safe(blanks) + _span(text.lstrip(), value, most)  # a token may begin with some
    colour = f"rgb({FOR if value > 0 else AGAINST} / {abs(value) / most:.2f})"
    return f'<span title="{value:+.4f}" style="background: {colour}">{_safe(text)}</span>'


def _tables(pieces: Pieces) -> Iterator[str]:
    """Words and letters apart, each with the strongest first."""
    words, letters = apart(pieces)
    yield from _table("gram", [(visible(piece, blank=" "), value) for piece, value in words])
    if letters:
        yield f"<p>{together(letters)}.</p>"
        plain = [(visible(piece.removeprefix(LETTERS)), value) for piece, value in letters]
        yield from _table("gram of letters", plain)


def _table(head: str, pieces: Pieces) -> Iterator[str]:
    most = max((abs(value) for _, value in pieces), default=0.0) or 1.0
    rows = "".join(
        f"<tr><td>{_span(piece, value, most)}</td><td>{value:+.4f}</td></tr>"
        for piece, value in strongest(pieces)[:MOST]
    )
    yield f"<table><tr><th>{head}</th><th>adds</th></tr>{rows}</table>"
    if len(pieces) > MOST:
        yield f'<p class="soft">{len(pieces) - MOST:,} weaker ones are left out.</p>'


def _safe(text: str) -> str:
    """Line ends stay line ends, all else that can not be seen gets a sign."""
    return "\n".join(escape(visible(line, blank=" ")) for line in text.split("\n"))
