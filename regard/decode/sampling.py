"""Choose the next token: draw it at random from what the filters leave, or take the likeliest.

B rows of the batch   V vocabulary
"""

from collections.abc import Sequence
from random import Random

from torch import Tensor

from regard.config import DecodeSettings
from regard.decode.filters import History, filter_logits


class Sampler:
    """Draws one token a row; at a temperature of 0, takes the likeliest that the penalties leave.

    Every row has its own random stream, made from the seed and the row's number alone: what a row
    draws never depends on its neighbours or on who has left. Where penalties are set, it remembers
    what each row has drawn; `prompts` are the tokens that each had before.
    """

    def __init__(
        self,
        settings: DecodeSettings,
        numbers: Sequence[int],
        prompts: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self.settings = settings
        self.streams = [Random(f"{settings.seed} {number}") for number in numbers]
        before = [()] * len(numbers) if prompts is None else prompts
        self.histories = [History(p, []) for p, _ in zip(before, numbers, strict=True)]

    def __call__(self, log_probs: Tensor, rows: Sequence[int]) -> Tensor:
        """Log-probabilities (B, V) of these rows of the original batch -> tokens (B,)."""
        histories = [self.histories[row] for row in rows] if self.settings.penalized else []
        kept = filter_logits(log_probs, self.settings, histories)
        tokens = self._draw(kept, rows) if self.settings.temperature > 0 else kept.argmax(dim=-1)
        if histories:
            for history, token in zip(histories, tokens.tolist(), strict=True):
                history.written.append(token)
        return tokens

    def _draw(self, log_probs: Tensor, rows: Sequence[int]) -> Tensor:
        draws = [self.streams[row].random() for row in rows]
        reached = log_probs.exp().cumsum(dim=-1)  # (B, V); the token is the first to pass the draw
        goal = reached.new_tensor(draws)[:, None] * reached[:, -1:]
        return (reached <= goal).sum(dim=-1)
