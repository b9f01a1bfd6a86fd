"""Small generated tasks on letters that several chapters share: copy a row of letters, or turn it
around. New rows are made at every step, so nothing can be learned by heart."""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import DecodeSettings
from regard.decode.search import decode
from regard.models.encoder import Source
from regard.names import FIRST_PIECE, PAD, START, STOP
from regard.nn.padding import padded
from regard.tasks.task import Loss

LETTERS = 20
VOCABULARY = FIRST_PIECE + LETTERS


class Rows(NamedTuple):
    """Sources and what should be written for each, as ids without START and STOP."""

    sources: list[list[int]]
    targets: list[list[int]]

    @property
    def source(self) -> Source:
        return Source.of(self.sources)


def letters(dice: torch.Generator, rows: int, shortest: int, longest: int) -> list[list[int]]:
    """Rows of letters at random, none twice in a row of them."""
    lengths = torch.randint(shortest, longest + 1, (rows,), generator=dice).tolist()
    return [
        (FIRST_PIECE + torch.randperm(LETTERS, generator=dice)[:length]).tolist()
        for length in lengths
    ]


def copy_rows(dice: torch.Generator, rows: int, shortest: int, longest: int) -> Rows:
    made = letters(dice, rows, shortest, longest)
    return Rows(made, made)


def reverse_rows(dice: torch.Generator, rows: int, shortest: int, longest: int) -> Rows:
    made = letters(dice, rows, shortest, longest)
    return Rows(made, [row[::-1] for row in made])


def loss_of(network: Any, rows: Rows) -> Loss:
    """Teacher forcing: whatever the network would have written, it is given the right beginning."""
    read = padded([[START, *row] for row in rows.targets])  # (B, T)
    wanted = padded([[*row, STOP] for row in rows.targets])
    logits = network(rows.source, read)  # (B, T, V)
    total = F.cross_entropy(
        logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD, reduction="sum"
    )
    return Loss(total, int((wanted != PAD).sum()))


@torch.no_grad()
def exact(network: Any, rows: Rows) -> float:
    """Percent of rows that come out right to the last letter, written without help."""
    settings = DecodeSettings(max_length=2 + max(map(len, rows.targets)))
    found = decode(network, rows.source, len(rows.sources), settings)
    right = [one.tokens == wanted for one, wanted in zip(found, rows.targets, strict=True)]
    return 100 * sum(right) / len(right)


def spelled(ids: list[int]) -> str:
    """
    >>> spelled([4, 6, 5])
    'acb'
    """
    return "".join(chr(ord("a") + i - FIRST_PIECE) for i in ids)


def looks(network: Any, rows: Rows) -> Tensor:
    """(B, T, S): where a recurrent writer looked before each letter of its targets."""
    seen: list[Tensor] = []
    hook = network.align.register_forward_hook(lambda m, given, out: seen.append(out[1].detach()))
    try:
        with torch.no_grad():
            network(rows.source, padded([[START, *row] for row in rows.targets]))
    finally:
        hook.remove()
    return torch.cat(seen, dim=1)
