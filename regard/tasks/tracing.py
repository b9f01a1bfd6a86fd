"""How a token was chosen: its probability beside those of the runners-up, before and after each
filter of sampling.

V vocabulary
"""

from collections.abc import Callable, Sequence

from torch import Tensor

from regard.config import DecodeSettings
from regard.decode.filters import stages
from regard.decode.stepper import FORBIDDEN
from regard.tasks.task import Step

Pieces = Callable[[Sequence[int]], Sequence[str]]


def step_of(
    logs: Tensor,
    token: int,
    before: Sequence[int],
    *,
    others: int,
    pieces: Pieces,
    settings: DecodeSettings,
    prompt: Sequence[int] = (),
    written: Sequence[int] = (),
) -> Step:
    """logs     (V,) log-probabilities of the next token; a forbidden one has -inf
    token    the one that was chosen
    before   what is shown as written already
    prompt, written   what the penalties look at
    """
    chances, tables = logs.exp(), stages(logs, settings, prompt, written)[1:]
    best = chances.topk(min(others + 1, len(chances) - len(FORBIDDEN))).indices.tolist()
    beside = [i for i in best if i != token][:others]
    return Step(
        before=tuple(pieces(before)),
        piece=pieces([token])[0],
        probability=float(chances[token]),
        others=tuple((pieces([i])[0], float(chances[i])) for i in beside),
        filters=tuple(
            (name, tuple(float(table[i]) for i in (token, *beside))) for name, table in tables
        ),
    )
