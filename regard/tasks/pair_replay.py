"""An output written once more, with the source in sight: for pictures of what was looked at, and to
see how each token was chosen.

S source tokens   T target tokens   V vocabulary
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.decode.stepper import FORBIDDEN
from regard.errors import TextError
from regard.models.encoder import Source
from regard.names import START, STOP
from regard.nn.padding import padded
from regard.tasks.speaking import written
from regard.tasks.task import Replay, Step
from regard.tasks.tracing import step_of
from regard.tasks.transducer import Transducer, device_of


class Rewritten(NamedTuple):
    """Token ids of an input and of the output found for it."""

    source: list[int]
    read: list[int]  # START, then what was written, but for the last token
    written: list[int]  # STOP comes last, unless the length limit ended it
    output: str

    def run(self, network: Any) -> Tensor:
        """Scores (T, V) of every token, given those before it."""
        device = device_of(network)
        scores: Tensor = network(Source.of([self.source], device), padded([self.read]).to(device))
        return scores[0]


@torch.no_grad()
def rewritten(predictor: Transducer, text: str) -> Rewritten:
    ids = predictor.encode(text)
    if not ids:
        raise TextError("nothing to look at: the text is empty.")
    best = predictor.search([ids])[0][0]
    stopped = best.finished and not predictor.done(0, best.tokens)  # by STOP itself
    tokens = [*best.tokens, STOP] if stopped else best.tokens
    return Rewritten(ids, [START, *tokens[:-1]], tokens, written(predictor, best))


def replay_of(predictor: Transducer, text: str) -> Replay:
    found, target = rewritten(predictor, text), predictor.target
    rows, seen = tuple(target.pieces(found.written)), tuple(target.pieces(found.read))
    columns = tuple(predictor.source.pieces(found.source))
    across = rows, columns
    axes = {"encoder": (columns, columns), "decoder": (rows, seen), "cross": across, "copy": across}
    chosen = tuple(found.written)
    return Replay(text, found.output, lambda: found.run(predictor.network), chosen, axes)


@torch.no_grad()
def trace_of(predictor: Transducer, text: str, others: int) -> list[Step]:
    """Each token with its probability, beside those of the likeliest `others`, before and after
    each filter."""
    found = rewritten(predictor, text)
    predictor.network.eval()
    logs = found.run(predictor.network).log_softmax(dim=-1).cpu()  # (T, V)
    logs[:, list(FORBIDDEN)] = -torch.inf
    return [
        step_of(
            logs[t],
            token,
            found.read[: t + 1],
            others=others,
            pieces=predictor.target.pieces,
            settings=predictor.settings,
            written=found.written[:t],
        )
        for t, token in enumerate(found.written)
    ]
