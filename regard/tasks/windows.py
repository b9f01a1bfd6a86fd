"""Stretches of one long row of tokens: what a language model learns from.

A window of T + 1 tokens teaches T times what comes next. Where a network carries its state along,
the row is cut into as many streams as a batch has rows, and each step reads on where the step
before it stopped.

B rows of a batch   T tokens of a window
"""

from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError

Ids = NDArray[np.int64]


class TokenRow(Protocol):
    """Tokens in memory, or on disk."""

    def __len__(self) -> int: ...
    def __getitem__(self, part: slice, /) -> Ids: ...


class Window(NamedTuple):
    ids: Ids  # (T + 1,)
    stream: int | None = None
    """Where the state is carried along: the row of the batch that it belongs to."""
    fresh: bool = True
    """Does a stream begin here?"""


def require_window(tokens: int, length: int) -> None:
    if tokens < 2:
        raise DataError(f"{tokens} tokens are no text to learn from: give more of it.")
    if tokens <= length:
        raise DataError(
            f"the training part has {tokens:,} tokens, and a window takes {length + 1:,}: give "
            f"more text, or --set model.max_length={max(1, (tokens - 1) // 4)}."
        )


class Shuffled:
    """Every window of the text once in a pass, in any order; each pass cuts elsewhere."""

    left_out = 0

    def __init__(self, tokens: TokenRow, length: int, batch_tokens: int, seed: int) -> None:
        require_window(len(tokens), length)
        self._tokens, self._length, self._seed = tokens, length, seed
        self._rows = max(1, batch_tokens // length)
        self.examples = max(1, (len(tokens) - length) // length)
        self.steps_per_pass = -(-self.examples // self._rows)
        self._order = lru_cache(maxsize=2)(self._drawn)

    def _drawn(self, number: int) -> Ids:
        """Where the windows of a pass begin."""
        random = np.random.default_rng([self._seed, number])
        room = len(self._tokens) - 1 - self.examples * self._length
        phase = random.integers(0, min(room, self._length - 1) + 1)
        starts: Ids = phase + self._length * random.permutation(self.examples)
        return starts

    def of(self, step: int) -> list[Window]:
        number, place = divmod(step, self.steps_per_pass)
        starts = self._order(number)[place * self._rows : (place + 1) * self._rows]
        return [Window(self._tokens[start : start + self._length + 1]) for start in starts.tolist()]

    def heaviest(self) -> list[int]:
        return [0]  # all are equally large


class Streams:
    """Rows that read on: row b of step t + 1 begins where row b of step t ended."""

    left_out = 0

    def __init__(self, tokens: TokenRow, length: int, batch_tokens: int, seed: int) -> None:
        require_window(len(tokens), length)
        self._tokens, self._length, self._seed = tokens, length, seed
        most = (len(tokens) - 1) // length  # streams that have a window each
        self._rows = min(max(1, batch_tokens // length), most)
        self._stream = (len(tokens) - 1) // self._rows
        self.steps_per_pass = self._stream // length
        self.examples = self._rows * self.steps_per_pass

    def of(self, step: int) -> list[Window]:
        number, place = divmod(step, self.steps_per_pass)
        spare = self._stream - self.steps_per_pass * self._length
        phase = int(np.random.default_rng([self._seed, number]).integers(0, spare + 1))
        starts = [b * self._stream + phase + place * self._length for b in range(self._rows)]
        return [
            Window(self._tokens[start : start + self._length + 1], row, place == 0)
            for row, start in enumerate(starts)
        ]

    def heaviest(self) -> list[int]:
        return [0]
