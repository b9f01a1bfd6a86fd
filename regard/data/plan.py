"""Which examples go into which step: a pure function of the lengths, the seed and the step.

The whole epoch is sorted by length and cut by token budget, so batches are dense and nearly
without padding; then the batches are shuffled. Nothing is remembered between steps, so a run
resumed at step 1000 sees what the uninterrupted run saw.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

TokenCounts = NDArray[np.int64]  # (examples, sides): tokens on each side, as source and target


def plan(lengths: TokenCounts, tokens: int, seed: int, epoch: int) -> list[list[int]]:
    """The batches of one epoch, as lists of example numbers.

    A batch holds at most `tokens` tokens, padding included; an example longer than that is a
    batch of its own. Every example comes exactly once. The number of batches is the same in
    every epoch, because the sorted lengths are.

    >>> plan(np.array([[1, 1], [9, 9], [1, 1], [9, 9]]), tokens=36, seed=0, epoch=0)
    [[1, 3], [2, 0]]
    """
    random = np.random.default_rng([seed, epoch])
    by_length = np.lexsort((random.permutation(len(lengths)), *lengths.T[::-1]))
    batches = cut(by_length.tolist(), lengths[by_length], tokens)
    return [batches[i] for i in random.permutation(len(batches))]


def cut(rows: Sequence[int], lengths: TokenCounts, tokens: int) -> list[list[int]]:
    """Cut sorted rows into batches: as many rows as fit when each is padded to the longest."""
    batches: list[list[int]] = []
    longest: list[int] = []
    batch: list[int] = []
    for row, sides in zip(rows, lengths.tolist(), strict=True):
        if sides == longest:  # most rows: sorted neighbours are equally long
            padded = longest
        else:
            padded = [max(pair) for pair in zip(longest or sides, sides, strict=True)]
        if batch and sum(padded) * (len(batch) + 1) <= tokens:
            batch.append(row)
            longest = padded
        else:
            batch, longest = [row], sides
            batches.append(batch)
    return batches


class Plan:
    """The batches of a whole training: `plan.batch(step)` for any step, in any order."""

    def __init__(self, lengths: Sequence[Sequence[int]], tokens: int, seed: int) -> None:
        self._lengths = np.asarray(lengths, dtype=np.int64)
        self._tokens, self._seed = tokens, seed
        self._epoch = lru_cache(maxsize=2)(self._plan)
        self.steps_per_epoch = len(self._epoch(0))

    def batch(self, step: int) -> list[int]:
        """Example numbers of the batch that optimizer step number `step` (from 0) takes."""
        epoch, place = divmod(step, self.steps_per_epoch)
        return self._epoch(epoch)[place]

    def _plan(self, epoch: int) -> list[list[int]]:
        return plan(self._lengths, self._tokens, self._seed, epoch)
