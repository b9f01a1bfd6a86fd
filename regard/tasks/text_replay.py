"""A text written once more: for pictures of what was looked at, and to see how tokens were chosen.

T tokens   V vocabulary
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.decode.stepper import Decoded, advance
from regard.names import START, STOP
from regard.tasks.speaking import written
from regard.tasks.task import Replay, Step
from regard.tasks.tracing import step_of
from regard.tasks.writer import Writer

SHOWN = 24  # tokens that a picture holds, at most, of what was written


# Pictures


class Rewritten(NamedTuple):
    ids: list[int]  # the beginning, and what was written
    begun: int  # how many of them are the beginning
    output: str

    @property
    def written(self) -> list[int]:
        return self.ids[self.begun :]

    def run(self, network: Any) -> Tensor:
        """Scores (T, V) of every written token, given all before it."""
        device = next(network.parameters()).device
        ids = torch.tensor([self.ids[:-1]], device=device)
        logits: Tensor = network(ids)[0]
        return logits[self.begun - 1 :]


@torch.no_grad()
def rewritten(writer: Writer, text: str) -> Rewritten:
    """As much as a network has in sight at once. Of a beginning that is longer, its end is read, so
    that there is room to write."""
    ids, longest = writer.encode(text), writer.longest
    room = SHOWN
    if longest is not None:
        ids = ids if len(ids) <= longest else ids[-max(1, longest // 2) :]
        room = min(SHOWN, longest + 1 - len(ids))
    few = {"max_length": min(writer.settings.max_length, room), "n": 1}
    settings = writer.settings.model_copy(update=few)
    own = Writer(writer.stepper, writer.tokenizer, settings, longest, several=writer.several)
    best = own.write([ids], [writer.answered])[0][0]
    return Rewritten([*ids, *_tokens(own, best)], len(ids), written(own, best))


def replay_of(writer: Writer, text: str) -> Replay:
    """Rows are the tokens that come next, columns those that were seen."""
    found, pieces = rewritten(writer, text), writer.tokenizer.pieces
    seen, after = tuple(pieces(found.ids[:-1])), tuple(pieces(found.ids[1:]))
    network = writer.stepper.network
    axes = {"self": (after, seen), "cross": (tuple(pieces(found.written)), seen)}
    return Replay(text, found.output, lambda: found.run(network), tuple(found.written), axes)


def _tokens(writer: Writer, output: Decoded) -> list[int]:
    """What was written, with STOP where that ended it."""
    stopped = output.finished and not writer.done(0, output.tokens)
    return [*output.tokens, STOP] if stopped else output.tokens


# Traces


@torch.no_grad()
def trace_of(writer: Writer, text: str, others: int) -> list[Step]:
    """Each token that `predict` writes, with its probability, beside those of the likeliest
    `others`, before and after each filter."""
    ids, number = writer.encode(text), writer.answered
    writer.answered += 1
    tokens = _tokens(writer, writer.write([ids], [number])[0][0])
    return [
        step_of(
            logs,
            tokens[t],
            [*ids, *tokens[:t]],
            others=others,
            pieces=writer.tokenizer.pieces,
            settings=writer.settings,
            prompt=ids,
            written=tokens[:t],
        )
        for t, logs in enumerate(_asked(writer.stepper, ids, tokens))
    ]


def _asked(stepper: Any, ids: Sequence[int], tokens: Sequence[int]) -> Iterator[Tensor]:
    """Log-probabilities (V,) when each token was chosen: the network is asked again, step by step,
    so that it forgets and slides as it did in writing."""
    state = stepper.start([ids])
    for token in [START, *tokens][: len(tokens)]:
        log_probs, state = advance(stepper, state, [token])
        yield log_probs[0].cpu()
