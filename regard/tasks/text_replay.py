"""A text written once more: for pictures of what was looked at, and to see how tokens were chosen.

T tokens   V vocabulary
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.decode.stepper import FORBIDDEN
from regard.names import STOP
from regard.tasks.speaking import written
from regard.tasks.task import Replay, Step
from regard.tasks.tracing import step_of
from regard.tasks.writer import Writer

SHOWN = 24  # tokens that a picture holds, at most, of what was written


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
def rewritten(writer: Writer, text: str, most: int | None = None) -> Rewritten:
    """With the end of the beginning in sight, where all of it is too long for the network."""
    ids = writer.encode(text)
    longest = writer.longest
    settings = writer.settings
    if longest is not None:
        ids = ids[-max(1, longest // 2) :]
        room = longest + 1 - len(ids)
        settings = settings.model_copy(update={"max_length": min(settings.max_length, room)})
    if most is not None:
        settings = settings.model_copy(
            update={"max_length": min(settings.max_length, most), "n": 1}
        )
    own = Writer(writer.stepper, writer.tokenizer, settings, longest, several=writer.several)
    best = own.write([ids], [writer.answered])[0][0]
    stopped = best.finished and not own.done(0, best.tokens)  # by STOP itself
    tokens = [*best.tokens, STOP] if stopped else best.tokens
    return Rewritten([*ids, *tokens], len(ids), written(own, best))


def replay_of(writer: Writer, text: str) -> Replay:
    """Rows are the tokens that come next, columns those that were seen."""
    found, pieces = rewritten(writer, text, SHOWN), writer.tokenizer.pieces
    seen, after = tuple(pieces(found.ids[:-1])), tuple(pieces(found.ids[1:]))
    network = writer.stepper.network
    axes = {"self": (after, seen), "cross": (tuple(pieces(found.written)), seen)}
    return Replay(text, found.output, lambda: found.run(network), tuple(found.written), axes)


@torch.no_grad()
def trace_of(writer: Writer, text: str, others: int) -> list[Step]:
    """Each token with its probability, beside those of the likeliest `others`, before and after
    each filter."""
    found, pieces = rewritten(writer, text), writer.tokenizer.pieces
    network = writer.stepper.network
    network.eval()
    logs = found.run(network).log_softmax(dim=-1).cpu()  # (T, V)
    logs[:, [*FORBIDDEN, *[STOP] * (not writer.several)]] = -torch.inf
    return [
        step_of(
            logs[t],
            token,
            found.ids[: found.begun + t],
            others=others,
            pieces=pieces,
            settings=writer.settings,
            prompt=found.ids[: found.begun],
            written=found.written[:t],
        )
        for t, token in enumerate(found.written)
    ]
