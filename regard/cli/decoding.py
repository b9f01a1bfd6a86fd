"""The options of all commands that write: how an output is chosen."""

from collections.abc import Callable
from typing import Any

import click

OPTIONS = (
    click.option("--beam", type=int, help="Sequences kept at each step; 1 is greedy."),
    click.option("--length-penalty", type=float, help="For beams: 0 likes short, 1 long outputs."),
    click.option("--temperature", type=float, help="Above 0: sample instead of taking the best."),
    click.option("--top-k", type=int, help="Sample among the K likeliest."),
    click.option("--top-p", type=float, help="Sample among the likeliest that make up P."),
    click.option("--min-p", type=float, help="Sample among those at least P times the best."),
    click.option("--typical-p", type=float, help="Sample among the most typical that make up P."),
    click.option("--repetition-penalty", type=float, help="Above 1: avoid what was said before."),
    click.option("--frequency-penalty", type=float, help="Above 0: avoid what was written often."),
    click.option("--stop", multiple=True, help="End an output at this text; may be repeated."),
    click.option("--seed", type=int, help="For sampling: equal seeds give equal outputs."),
)


def decoding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def given(decoding: dict[str, Any]) -> dict[str, Any]:
    """What was asked for."""
    return {name: value for name, value in decoding.items() if value not in (None, ())}


def unbroken(output: str) -> str:
    """One input, one line: a line break inside an output would shift all that follow."""
    return output.replace("\r", "\\r").replace("\n", "\\n")
