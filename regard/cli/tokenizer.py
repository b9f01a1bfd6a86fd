"""`regard tokenizer show`: how a run cuts a text into pieces, and which it has never met."""

import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.completion import complete_run
from regard.cli.console import columns, echo_json, in_colour
from regard.errors import ConfigError, RunError, did_you_mean
from regard.files import read_facts, read_table
from regard.names import UNKNOWN

if TYPE_CHECKING:
    from regard.text import Tokenizer

HEADING = ("#", "piece", "id", "place", "typed", "")
NUMBERS = (0, 2, 3)  # columns of HEADING that stand on the right
BACKGROUNDS = ("cyan", "yellow")  # of every other piece
UNKNOWN_BACKGROUND = "magenta"


@dataclass(frozen=True, slots=True)
class Piece:
    """One id, and the characters [start, end) of the typed text that it stands for."""

    piece: str
    id: int
    start: int
    end: int
    text: str
    unknown: bool


@click.group()
def tokenizer() -> None:
    """Look at how a run cuts text into pieces.

    \b
    regard tokenizer show runs/demo attention
    """


@tokenizer.command()
@click.argument("run", type=click.Path(path_type=Path, readable=False), shell_complete=complete_run)
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@click.option("--side", help="source or target, where a run has two [default: source].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a text.")
def show(run: Path, texts: tuple[str, ...], side: str | None, as_json: bool) -> None:
    """Show the pieces of each TEXT, or of each line of standard input, as RUN sees them.

    \b
    regard tokenizer show runs/demo attention "naïve café"
    regard tokenizer show runs/demo --side target "AH T EH N SH AH N"
    cat words.txt | regard tokenizer show runs/demo --json
    """
    cutter, colour = read_tokenizer(run, side), in_colour()
    characters = pieces = unknown = 0
    for text in texts or _lines():
        found = cut(cutter, text)
        if as_json:
            echo_json({"text": text, "pieces": [asdict(piece) for piece in found]})
        else:
            click.echo(drawn(text, found, colour=colour) + "\n", color=colour)
        characters, pieces = characters + len(text), pieces + len(found)
        unknown += sum(piece.unknown for piece in found)
    if not as_json:
        click.echo(summary(characters, pieces, unknown, cutter.size))


def read_tokenizer(run: Path, side: str | None) -> "Tokenizer":
    """The tokenizer of a run folder: the one for `side`, or the first when none is named."""
    from regard.text import load_tokenizer

    read_facts(run)
    path = run / "tokenizer.json"
    saved = {name: data for name, data in read_table(path).items() if isinstance(data, dict)}
    if not saved:
        raise RunError(f"{path}: holds no tokenizer. Was the folder copied whole?")
    chosen = side or ("source" if "source" in saved else next(iter(saved)))
    if chosen == "target" and list(saved) == ["source"]:  # one for both sides
        chosen = "source"
    if chosen not in saved:
        raise ConfigError(f'{path}: has no side "{chosen}".{did_you_mean(chosen, saved)}')
    return load_tokenizer(saved[chosen])


def _lines() -> Iterable[str]:
    from regard.data.lines import read_lines

    if sys.stdin.isatty():
        raise ConfigError('nothing to cut: give a TEXT or a pipe, as in "echo hi | ...".')
    return (line for _, line in read_lines(Path("/dev/stdin")))


def cut(cutter: "Tokenizer", text: str) -> list[Piece]:
    """The pieces of a text, in order, with the letters each stands for."""
    from regard.text.tokenizer import require_utf8

    require_utf8(text)
    ids, offsets = cutter.encode(text)
    return [
        Piece(piece, i, start, end, text[start:end], i == UNKNOWN)
        for piece, i, (start, end) in zip(cutter.pieces(ids), ids, offsets, strict=True)
    ]


def drawn(text: str, pieces: list[Piece], *, colour: bool) -> str:
    """The text, in colours where there are some, above a table of its pieces."""
    from regard.text.tokenizer import visible

    rows = [HEADING]
    for n, p in enumerate(pieces, start=1):
        place, mark = f"{p.start}-{p.end}", "UNKNOWN" if p.unknown else ""
        rows.append((str(n), p.piece, str(p.id), place, visible(p.text), mark))
    above = painted(text, pieces) if colour else visible(text)
    return "\n".join([above, *columns(rows, NUMBERS)])


def painted(text: str, pieces: list[Piece]) -> str:
    """The text with every other piece on another background; blanks between words have none.
    Where several pieces stand for one character, the first one paints it."""
    from regard.text.tokenizer import visible

    parts, done = [], 0
    for number, piece in enumerate(pieces):
        parts.append(visible(text[done : piece.start]))
        ground = UNKNOWN_BACKGROUND if piece.unknown else BACKGROUNDS[number % len(BACKGROUNDS)]
        if fresh := visible(text[max(done, piece.start) : piece.end]):
            parts.append(click.style(fresh, fg="black", bg=ground))
        done = max(done, piece.end)
    return "".join([*parts, visible(text[done:])])


def summary(characters: int, pieces: int, unknown: int, size: int) -> str:
    """
    >>> summary(9, 2, 1, 33)
    '9 characters, 2 pieces, 4.50 characters a piece, 1 unknown; the vocabulary has 33 ids.'
    """
    rate = f", {characters / pieces:.2f} characters a piece" if pieces else ""
    return (
        f"{characters:,} characters, {pieces:,} pieces{rate}, {unknown:,} unknown; "
        f"the vocabulary has {size:,} ids."
    )
