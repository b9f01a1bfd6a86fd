"""Text on a terminal, no wider than it is."""

import shutil
from textwrap import TextWrapper

import click

from regard.cli.console import in_colour

NARROWEST, WIDEST = 40, 100


def paragraph(text: str, indent: str = "", first: str = "") -> None:
    """A paragraph as wide as the terminal. What came out of a file can not drive it."""
    room = width() - len(indent)  # paths stay whole, to be copied
    wrapper = TextWrapper(room, break_on_hyphens=False, break_long_words=False)
    for place, line in enumerate(wrapper.wrap(safe(text))):
        click.echo(f"{(first or indent) if place == 0 else indent}{line}", color=in_colour())


def safe(text: str) -> str:
    from regard.lens.picture import visible

    return visible(text, blank=" ")


def shortened(text: str, most: int) -> str:
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= most else f"{set_cell_size(text, most - 1).rstrip()}…"


def width() -> int:
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))
