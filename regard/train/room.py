"""Is there memory enough? A training that can not fit is refused before it begins, with what would
make it fit: better than to be killed by the system in the middle."""

import math
from typing import Any

from torch import Tensor, nn

from regard.errors import ConfigError
from regard.train.memory import available_memory, held_memory, peak_memory
from regard.train.training import Training

SURE = 32_000_000  # bytes: growth below this may be chance, and says nothing about larger pieces
FILLED = 0.9  # of the memory that is left, by a piece that we suggest


def size_of(*tensors: Tensor) -> int:
    """
    >>> import torch
    >>> size_of(torch.zeros(2, 3), torch.zeros(1, dtype=torch.int64))
    32
    """
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def refuse_big_network(network: nn.Module) -> None:
    """A training holds the weights four times: themselves, gradients, and two running means. The
    first are there already."""
    room, weights = available_memory(), size_of(*network.parameters())
    needed = held_memory() + 3 * weights
    if room is not None and needed > room:
        raise ConfigError(
            f"not enough memory: to train this network takes {gigabytes(needed)}, and only "
            f"{gigabytes(room)} can be had here. Try a smaller model.width, fewer layers, or a "
            "smaller vocabulary."
        )


def refuse_big_pieces(training: Training, network: nn.Module) -> None:
    """Go up to the largest piece of a step: one row, two, four, ... Where the whole of it can not
    fit any more, refuse. `network` is a copy, whose gradients are of no use afterwards."""
    room = available_memory()
    pieces = [piece for step in training.batches.heaviest() for piece in training.pieces_of(step)]
    piece = max(pieces, key=lambda piece: sum(sum(training.task.lengths(row)) for row in piece))
    base = _peak_with(training, network, piece[-1:])
    before, rows = base, 2
    while room is not None and rows < len(piece):
        now = _peak_with(training, network, piece[-rows:])
        growth = (now - before) / (rows - rows // 2)  # for each row
        needed = round(now + growth * (len(piece) - rows))
        if now - before > SURE and needed > room:
            raise ConfigError(_too_big(training, needed, base, room, len(piece)))
        before, rows = now, 2 * rows
    network.zero_grad()


def _peak_with(training: Training, network: nn.Module, rows: list[Any]) -> int:
    training.loss_of(network, rows).total.backward()
    return peak_memory()


def _too_big(training: Training, needed: int, base: int, room: int, rows: int) -> str:
    pieces = math.inf if base >= room else (needed - base) / (FILLED * (room - base))
    told = (
        f"not enough memory: a step of this training takes about {gigabytes(needed)}, and only "
        f"{gigabytes(room)} can be had here. Try"
    )
    if pieces <= rows:
        more = training.settings.accumulate * math.ceil(pieces)
        told += f" --set train.accumulate={more}: the same result in smaller pieces; or"
    return f"{told} a smaller train.batch_tokens, model.width or vocabulary."


def gigabytes(size: float) -> str:
    """
    >>> gigabytes(0.9e9), gigabytes(12.34e9)
    ('0.9 GB', '12.3 GB')
    """
    return f"{size / 1e9:.1f} GB"
