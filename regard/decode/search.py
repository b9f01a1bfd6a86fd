"""Decode a batch of inputs: greedy search, sampling or beam search, as the settings say.

B rows of the batch   V vocabulary
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from regard.config import DecodeSettings
from regard.decode.beam import beam_search
from regard.decode.sampling import Sampler
from regard.decode.stepper import Decoded, State, Stepper, advance
from regard.names import START, STOP

__all__ = ["Decoded", "decode", "decode_several"]

Pick = Callable[[Tensor, Sequence[int]], Tensor]
"""Log-probabilities (B, V) of some rows, and the rows' numbers -> a token for each (B,)."""
Heard = Callable[[list[int]], object]


def decode(
    stepper: Stepper[State],
    inputs: Any,
    rows: int,
    settings: DecodeSettings,
    *,
    numbers: Sequence[int] | None = None,
) -> list[Decoded]:
    """One output for each of the `rows` inputs, in their order; see `decode_several`."""
    one = settings.model_copy(update={"n": 1})
    return [found[0] for found in decode_several(stepper, inputs, rows, one, numbers=numbers)]


def decode_several(
    stepper: Stepper[State],
    inputs: Any,
    rows: int,
    settings: DecodeSettings,
    *,
    numbers: Sequence[int] | None = None,
    heard: Heard = len,
) -> list[list[Decoded]]:
    """`settings.n` outputs for each of the `rows` inputs: best first, or samples as they come.

    settings  beam > 1: beam search; else temperature > 0: sampling; else greedy.
              max_length counts every token that the network is asked for, STOP too.
    numbers   the random stream of each row, its place in the batch by default. Pass the inputs'
              places in the whole data and a sample does not depend on how batches were cut.
    heard     told the newest tokens, one for each row that still writes; a beam, which changes
              its mind, tells nothing before its end.
    """
    n = settings.n
    if settings.beam > 1:
        return beam_search(stepper, inputs, rows, settings, best=n)
    pick: Pick = likeliest
    if settings.temperature > 0:
        streams = range(rows) if numbers is None else numbers
        pick = Sampler(settings, [stream * n + k for stream in streams for k in range(n)])
    found = follow(stepper, inputs, rows, pick, settings.max_length, copies=n, heard=heard)
    return [found[start : start + n] for start in range(0, len(found), n)]


def likeliest(log_probs: Tensor, rows: Sequence[int]) -> Tensor:
    """The greedy pick; of equals, the lowest token."""
    return log_probs.argmax(dim=-1)


# Not inference_mode: tables that a network builds on first use must still serve training.
@torch.no_grad()
def follow(
    stepper: Stepper[State],
    inputs: Any,
    rows: int,
    pick: Pick,
    max_length: int,
    copies: int = 1,
    heard: Heard = len,
) -> list[Decoded]:
    """Follow `copies` paths a row, choosing each token by `pick`. Paths leave the batch at STOP."""
    outputs = [Decoded([], 0.0, False) for _ in range(rows * copies)]
    if not rows:
        return outputs
    live, tokens, state = list(range(len(outputs))), [START] * len(outputs), stepper.start(inputs)
    if copies > 1:
        state = stepper.reorder(state, torch.arange(rows).repeat_interleave(copies))
    for _ in range(max_length):
        log_probs, state = advance(stepper, state, tokens)
        picked = pick(log_probs, live)  # (B,)
        scores = log_probs.gather(1, picked[:, None]).squeeze(1).tolist()
        tokens = picked.tolist()
        for row, token, score in zip(live, tokens, scores, strict=True):
            _extend(outputs[row], token, score)
        heard(tokens)
        stay = [place for place, token in enumerate(tokens) if token != STOP]
        if not stay:
            break
        if len(stay) < len(live):
            state = stepper.reorder(state, torch.tensor(stay))
            live, tokens = [live[i] for i in stay], [tokens[i] for i in stay]
    return outputs


def _extend(output: Decoded, token: int, score: float) -> None:
    output.score += score
    if token == STOP:
        output.finished = True
    else:
        output.tokens.append(token)
