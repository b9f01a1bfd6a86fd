"""Sequence to sequence with recurrent networks: one reads, one writes. Without attention (Sutskever
et al. 2014) the writer gets the reader's last state and nothing else; with it (Bahdanau et al.
2015, Luong et al. 2015) it looks back at every state, at each step anew.

B batch   S source positions   T target positions   E width of the state   K width of the reader's
outputs   V vocabulary
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import ShapeError
from regard.models.encoder import Source
from regard.nn.align import Align
from regard.nn.copy import Copy
from regard.nn.dropout import Dropout
from regard.nn.embeddings import TokenEmbedding
from regard.nn.init import init_weights
from regard.nn.recurrent import Recurrent
from regard.shapes import RecurrentSettings, Seq2SeqSettings


@dataclass(frozen=True)
class WriterState:
    """Between two steps of writing."""

    memory: Tensor  # (B, S, K): what was read
    ready: Tensor | None  # (B, S, ...): it, made ready to be looked at; None: nobody looks
    copied: Tensor | None  # (B, S, E): it, made ready to be copied from; None: nobody copies
    ids: Tensor  # (B, S): the tokens of it
    origins: Tensor  # (B,): the source that each row writes about
    lengths: Tensor | None  # (B,) real positions of it; None: all
    hidden: Any  # of the cells
    decided: Tensor  # (B, E): what the step before came to
    position: int = 0


class Seq2Seq(nn.Module):
    """source ids, target ids -> logits. Source and target share one embedding table when
    `source_vocabulary` is None; the output always shares the target's."""

    def __init__(self, s: Seq2SeqSettings, source_vocabulary: int | None, vocabulary: int) -> None:
        super().__init__()
        self.settings = s
        width, read = s.width_of_writer, s.width_of_output
        self.target = TokenEmbedding(vocabulary, width, scaled=False)
        self.source = self.target
        if source_vocabulary:
            self.source = TokenEmbedding(source_vocabulary, width, scaled=False)
        self.reader = Recurrent(reader_settings(s), width)
        states = (width, s.width) if s.cell == "lstm" else (width,)
        self.bridges = nn.ModuleList(self._bridge(size) for size in states)
        looks = s.attention != "none"
        self.align = Align(s.attention, width, read, s.scope, s.reach) if looks else None
        self.writer = Recurrent(writer_settings(s), width + self._extra)
        self.decide = nn.Linear(width + read, width) if looks else None
        self.copy = Copy(width, read) if s.copying else None
        self.drop = Dropout(s.dropout)
        for part in (self.target, self.source, self.bridges, self.align, self.decide, self.copy):
            if part is not None:
                part.apply(init_weights)  # the cells begin as torch has them

    @property
    def looks_first(self) -> bool:
        """Bahdanau: look with the state before the step, and read what was seen in the step. Luong:
        make the step, then look with its result."""
        return self.settings.attention == "additive"

    @property
    def _extra(self) -> int:
        """Numbers that a step gets beside the token."""
        if self.looks_first:
            return self.settings.width_of_output
        feeds = self.settings.input_feeding and self.settings.attention != "none"
        return self.settings.width_of_writer if feeds else 0

    def _bridge(self, width: int) -> nn.Module:
        """From the reader's last state to the writer's first; both directions become one."""
        return nn.Linear(2 * width, width) if self.settings.bidirectional else nn.Identity()

    # Reading

    def start(self, source: Source) -> WriterState:
        s, ids = self.settings, source.ids
        self._check_length(ids)
        tokens = self.drop(self.source(ids))  # (B, S, E)
        read = reversed_rows(tokens, source.lengths) if s.reverse_source else tokens
        memory, state = self.reader(read, source.lengths)
        if s.reverse_source:
            memory = reversed_rows(memory, source.lengths)  # place 0 is the first token again
        decided = memory.new_zeros(len(ids), s.width_of_writer)
        ready = None if self.align is None else self.align.ready(memory)
        copied = None if self.copy is None else self.copy.ready(memory)
        hidden = self._bridged(state)
        origins = torch.arange(len(ids))
        return WriterState(memory, ready, copied, ids, origins, source.lengths, hidden, decided)

    def _bridged(self, state: Any) -> Any:
        states = state if isinstance(state, tuple) else (state,)
        joined = [
            bridge(torch.cat([one[0::2], one[1::2]], dim=-1)).tanh()
            if self.settings.bidirectional
            else one
            for bridge, one in zip(self.bridges, states, strict=True)
        ]
        return tuple(joined) if isinstance(state, tuple) else joined[0]

    def _check_length(self, ids: Tensor, start: int = 0) -> None:
        if start + ids.size(1) > self.settings.max_length:
            raise ShapeError(
                f"a sequence of {start + ids.size(1)} tokens is longer than this model's "
                f"max_length of {self.settings.max_length}: shorten it or train with a larger "
                "max_length."
            )

    # Writing

    def forward(self, source: Source, target: Tensor) -> Tensor:
        """Teacher forcing: target ids (B, T) from START on -> logits (B, T, V) of what follows."""
        return self.write(self.start(source), target)[0]

    def write(self, state: WriterState, ids: Tensor) -> tuple[Tensor, WriterState]:
        """The next target ids (B, T) -> logits (B, T, V), and the state after them."""
        self._check_length(ids, state.position)
        tokens = self.drop(self.target(ids))  # (B, T, E)
        if not self._extra:  # no step waits for the one before: all at once
            outputs, hidden = self.writer(tokens, None, state.hidden)
            decided = self._decided(outputs, state)
            state = replace(state, hidden=hidden, position=state.position + ids.size(1))
            return self._scores(decided, state), state
        found = []
        for t in range(ids.size(1)):
            decided, state = self._one(tokens[:, t : t + 1], state)
            found.append(decided)
        return self._scores(torch.cat(found, dim=1), state), state

    def _scores(self, decided: Tensor, state: WriterState) -> Tensor:
        """What steps came to (B, T, E) -> logits (B, T, V), or log-probabilities with copies."""
        x = self.drop(decided)
        scores = self.target.scores(x)
        if self.copy is None or state.copied is None:
            return scores
        return self.copy(x, scores, state.copied, state.ids, state.lengths)

    def _one(self, token: Tensor, state: WriterState) -> tuple[Tensor, WriterState]:
        """One step: token (B, 1, E) -> what it comes to (B, 1, E)."""
        if self.looks_first:
            seen = self._look(self._top(state.hidden)[:, None], state)
            outputs, hidden = self.writer(torch.cat([token, seen], dim=-1), None, state.hidden)
            decided = self._blend(outputs, seen)
        else:
            fed = torch.cat([token, state.decided[:, None]], dim=-1)
            outputs, hidden = self.writer(fed, None, state.hidden)
            decided = self._decided(outputs, state)
        state = replace(state, hidden=hidden, decided=decided[:, -1], position=state.position + 1)
        return decided, state

    def _decided(self, outputs: Tensor, state: WriterState) -> Tensor:
        return outputs if self.align is None else self._blend(outputs, self._look(outputs, state))

    def _blend(self, outputs: Tensor, seen: Tensor) -> Tensor:
        """tanh(W [h; seen]); Luong et al. 2015, eq. 5."""
        assert self.decide is not None
        return self.decide(torch.cat([outputs, seen], dim=-1)).tanh()

    def _look(self, queries: Tensor, state: WriterState) -> Tensor:
        assert self.align is not None
        place, ready = state.position, state.ready
        return self.align(queries, state.memory, None, state.lengths, place, ready)[0]

    def _top(self, hidden: Any) -> Tensor:
        return (hidden[0] if isinstance(hidden, tuple) else hidden)[-1]  # (B, E)

    # The other two methods that decode/ asks for.

    def step(self, state: WriterState, tokens: Tensor) -> tuple[Tensor, WriterState]:
        """The newest token of each row (B,) -> log-probabilities (B, V) of the next."""
        logits, state = self.write(state, tokens.to(state.memory.device)[:, None])
        return logits[:, -1].log_softmax(dim=-1), state

    def reorder(self, state: WriterState, rows: Tensor) -> WriterState:
        hidden = state.hidden
        several = isinstance(hidden, tuple)
        hidden = tuple(one[:, rows] for one in hidden) if several else hidden[:, rows]
        moved = replace(state, hidden=hidden, decided=state.decided[rows])
        origins = state.origins[rows]
        if torch.equal(origins, state.origins):
            return moved  # most steps of a beam: sources need not move
        return replace(
            moved,
            memory=state.memory[rows],
            ready=None if state.ready is None else state.ready[rows],
            copied=None if state.copied is None else state.copied[rows],
            ids=state.ids[rows],
            origins=origins,
            lengths=None if state.lengths is None else state.lengths[rows],
        )


def reader_settings(s: Seq2SeqSettings) -> RecurrentSettings:
    return RecurrentSettings(**{name: getattr(s, name) for name in RecurrentSettings.model_fields})


def writer_settings(s: Seq2SeqSettings) -> RecurrentSettings:
    """Whoever writes can not read from the end."""
    return reader_settings(s).model_copy(update={"bidirectional": False})


def reversed_rows(x: Tensor, lengths: Tensor | None) -> Tensor:
    """Each row (T, ...) of x (B, T, ...) turned around up to its own length; padding stays behind.

    >>> reversed_rows(torch.tensor([[1, 2, 3], [4, 5, 0]]), torch.tensor([3, 2])).tolist()
    [[3, 2, 1], [5, 4, 0]]
    """
    if lengths is None:
        return x.flip(1)
    places = torch.arange(x.size(1), device=x.device).expand(x.size(0), -1)  # (B, T)
    ends = lengths.to(x.device)[:, None]
    places = torch.where(places < ends, ends - 1 - places, places)
    return x[torch.arange(x.size(0), device=x.device)[:, None], places]
