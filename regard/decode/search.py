"""Decode a batch of inputs: greedy search, sampling or beam search, as the settings say.

B rows of the batch   V vocabulary
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from regard.config import DecodeSettings
from regard.decode.beam import beam_search
from regard.decode.sampling import Sampler
from regard.decode.stepper import Decoded, Done, State, Stepper, advance, never
from regard.names import START, STOP

__all__ = ["Decoded", "decode", "decode_several", "decode_stream", "follow"]

Pick = Callable[[Tensor, Sequence[int]], Tensor]
"""Log-probabilities (B, V) of some rows, and the rows' numbers -> a token for each (B,)."""


def decode(
    stepper: Stepper[State],
    inputs: Any,
    rows: int,
    settings: DecodeSettings,
    *,
    numbers: Sequence[int] | None = None,
    prompts: Sequence[Sequence[int]] | None = None,
) -> list[Decoded]:
    """One output for each of the `rows` inputs, in their order; see `decode_several`."""
    one = settings.model_copy(update={"n": 1})
    found = decode_several(stepper, inputs, rows, one, numbers=numbers, prompts=prompts)
    return [outputs[0] for outputs in found]


def decode_several(
    stepper: Stepper[State],
    inputs: Any,
    rows: int,
    settings: DecodeSettings,
    *,
    numbers: Sequence[int] | None = None,
    prompts: Sequence[Sequence[int]] | None = None,
    done: Done = never,
) -> list[list[Decoded]]:
    """`settings.n` outputs for each of the `rows` inputs: best first, or samples as they come.

    settings  beam > 1: beam search; else temperature > 0: sampling; else greedy.
              max_length counts every token that the network is asked for, STOP too.
    numbers   the random stream of each row, its place in the batch by default. Pass the inputs'
              places in the whole data and a sample does not depend on how batches were cut.
    prompts   the tokens that each row has before it writes any, for settings.repetition_penalty;
              none by default. The network reads its own from `inputs`.
    done      asked after each token but STOP: is this output over? So
              someone who knows the tokenizer can end it at a text. It counts as finished, and
              keeps the tokens that ended it, for the asker to cut; other rows go on. A beam asks
              about each path that it keeps.
    """
    n = settings.n
    if settings.beam > 1:
        return beam_search(stepper, inputs, rows, settings, best=n, done=done)
    streams = range(rows) if numbers is None else numbers
    each = None if prompts is None else [prompt for prompt in prompts for _ in range(n)]
    pick = _pick(settings, [stream * n + k for stream in streams for k in range(n)], each)
    found = follow(stepper, inputs, rows, pick, settings.max_length, copies=n, done=done)
    return [found[start : start + n] for start in range(0, len(found), n)]


def _pick(
    settings: DecodeSettings,
    numbers: Sequence[int],
    prompts: Sequence[Sequence[int]] | None = None,
) -> Pick:
    sampled = settings.temperature > 0 or settings.penalized
    return Sampler(settings, numbers, prompts) if sampled else likeliest


def likeliest(log_probs: Tensor, rows: Sequence[int]) -> Tensor:
    """The greedy pick; of equals, the lowest token."""
    return log_probs.argmax(dim=-1)


def follow(
    stepper: Stepper[State],
    inputs: Any,
    rows: int,
    pick: Pick,
    max_length: int,
    copies: int = 1,
    done: Done = never,
) -> list[Decoded]:
    """Follow `copies` paths a row, choosing each token by `pick`. Paths leave the batch at STOP, or
    when `done` says so."""
    outputs = [Decoded([], 0.0, False) for _ in range(rows * copies)]
    for _ in grow(stepper, inputs, outputs, pick, max_length, copies, done):
        pass
    return outputs


# Not inference_mode: tables that a network builds on first use must still serve training.
@torch.no_grad()
def grow(
    stepper: Stepper[State],
    inputs: Any,
    outputs: list[Decoded],
    pick: Pick,
    max_length: int,
    copies: int = 1,
    done: Done = never,
) -> Iterator[list[int]]:
    """Let `outputs`, `copies` of each input, grow; each time with the newest tokens, one for each
    that still grows."""
    if not outputs:
        return
    live, tokens, state = list(range(len(outputs))), [START] * len(outputs), stepper.start(inputs)
    if copies > 1:
        rows = torch.arange(len(outputs) // copies)
        state = stepper.reorder(state, rows.repeat_interleave(copies))
    for _ in range(max_length):
        log_probs, state = advance(stepper, state, tokens)
        picked = pick(log_probs, live)  # (B,)
        scores = log_probs.gather(1, picked[:, None]).squeeze(1).tolist()
        tokens = picked.tolist()
        for row, token, score in zip(live, tokens, scores, strict=True):
            _extend(outputs[row], token, score)
        yield tokens
        for row in live:
            output = outputs[row]
            output.finished = output.finished or done(row // copies, output.tokens)
        stay = [place for place, row in enumerate(live) if not outputs[row].finished]
        if not stay:
            break
        if len(stay) < len(live):
            state = stepper.reorder(state, torch.tensor(stay))
            live, tokens = [live[i] for i in stay], [tokens[i] for i in stay]


def decode_stream(
    stepper: Stepper[State],
    inputs: Any,
    settings: DecodeSettings,
    *,
    number: int = 0,
    prompt: Sequence[int] = (),
    done: Done = never,
) -> Generator[int, None, Decoded]:
    """One output for one input, token by token, STOP left out; a beam, which changes its mind,
    comes at its end. What is returned is the whole output."""
    if settings.beam > 1:
        one = settings.model_copy(update={"n": 1})
        found = decode_several(stepper, inputs, 1, one, done=done)[0][0]
        yield from found.tokens
        return found
    # The same stream of random numbers as the first of several samples.
    pick = _pick(settings, [number * settings.n], [prompt])
    outputs = [Decoded([], 0.0, False)]
    for (newest,) in grow(stepper, inputs, outputs, pick, settings.max_length, done=done):
        if newest != STOP:
            yield newest
    return outputs[0]


def _extend(output: Decoded, token: int, score: float) -> None:
    output.score += score
    if token == STOP:
        output.finished = True
    else:
        output.tokens.append(token)
