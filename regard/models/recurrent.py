"""Recurrent networks over token ids, in the shapes a sequence can take: many to one (classify),
many to many (tag, or predict the next token), one to many (write).

B batch   T positions   V vocabulary   O outputs
"""

from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import ShapeError
from regard.nn.dropout import Dropout
from regard.nn.embeddings import TokenEmbedding
from regard.nn.init import init_weights
from regard.nn.recurrent import Recurrent
from regard.shapes import RecurrentSettings


class RecurrentNetwork(nn.Module):
    """ids -> scores: embed, read, judge.

    outputs   how many scores a judgement has; the vocabulary for a language model
    each      True: a judgement at every token; False: one for the whole text, from the last state
    tied      whether scores of tokens are made with the table that tokens are looked up in
    """

    def __init__(
        self,
        s: RecurrentSettings,
        vocabulary: int,
        outputs: int | None = None,
        *,
        each: bool = True,
        tied: bool = False,
    ) -> None:
        super().__init__()
        self.each = each
        self.embed = TokenEmbedding(vocabulary, s.width, scaled=False)
        self.reader = Recurrent(s, s.width)
        self.judge = nn.Linear(s.width_of_output, outputs or vocabulary)
        self.drop = Dropout(s.dropout)  # what one layer has of it (Zaremba et al. 2014)
        self.embed.apply(init_weights)
        self.judge.apply(init_weights)  # the cells begin as torch has them
        if tied:
            self.judge.weight = self.embed.table.weight

    def forward(
        self,
        ids: Tensor,
        lengths: Tensor | None = None,
        state: Any = None,
        *,
        remember: bool = False,
    ) -> Any:
        """(B, T) -> (B, T, O), or (B, O) where one judgement is made; with `remember`, the last
        state too."""
        outputs, last = self.reader(self.drop(self.embed(ids)), lengths, state)
        judged = self.judge(self.drop(outputs if self.each else self.reader.last(last)))
        return (judged, last) if remember else judged

    def read(self, ids: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        """The next ids (B, T) after those that made `state` -> a judgement at each (B, T, O), and
        the state after them: reading in parts equals reading in one go."""
        judged, state = self(ids, state=state, remember=True)
        return judged, state

    # Writing: what comes out is fed back.

    def start(self) -> Any:
        """Nothing was read yet."""
        return None

    def step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        """The newest token of each row (B,) -> log-probabilities (B, V) of the next."""
        if self.reader.settings.bidirectional:
            raise ShapeError(
                "a network that reads from both ends can not write: it would have to begin at an "
                "end that is not there yet. Build it with bidirectional = false."
            )
        scores, state = self.read(tokens.to(self.judge.weight.device)[:, None], state)
        return scores[:, -1].log_softmax(dim=-1), state

    def reorder(self, state: Any, rows: Tensor) -> Any:
        if isinstance(state, tuple):
            return tuple(self.reorder(one, rows) for one in state)
        return None if state is None else torch.index_select(state, 1, rows.to(state.device))
