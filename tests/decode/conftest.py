"""A hand-made network for the decode tests: small, and exact in float64."""

from functools import cache

import numpy as np
import pytest
import torch


class Table:
    """Log-probabilities drawn at random for every (input, tokens so far). Counts its rows."""

    def __init__(self, seed=0, vocabulary=7, stop=0.0):
        self.sizes = []  # rows of each step

        @cache
        def log_probs(history):
            logits = 2 * np.random.default_rng([seed, *history]).normal(size=vocabulary)
            logits[2] += stop
            return torch.tensor(logits).log_softmax(dim=0)

        self.log_probs = log_probs

    def start(self, inputs):
        return [(number,) for number in inputs]

    def step(self, state, tokens):
        assert tokens.shape == (len(state),)
        self.sizes.append(len(state))
        state = [(*history, token) for history, token in zip(state, tokens.tolist(), strict=True)]
        return torch.stack([self.log_probs(history) for history in state]), state

    def reorder(self, state, rows):
        return [state[row] for row in rows.tolist()]


class Fixed:
    """The same log-probabilities (V,) at every step; the state is the number of rows."""

    def __init__(self, probabilities):
        self.log_probs = torch.tensor(probabilities, dtype=torch.float64).log()

    def start(self, inputs):
        return len(inputs)

    def step(self, state, tokens):
        assert tokens.shape == (state,)
        return self.log_probs.expand(state, -1), state

    def reorder(self, state, rows):
        return len(rows)


@pytest.fixture
def table():
    return Table


@pytest.fixture
def fixed():
    return Fixed
