"""Attention before neural networks: kernel regression (Nadaraya 1964, Watson 1964). What is asked
is answered with the mean of what is known, and what lies nearer counts more.

T queries   S keys
"""

import torch
from torch import Tensor, nn

from regard.nn.align import softmax_over


def kernel_regression(
    queries: Tensor, keys: Tensor, values: Tensor, width: float | Tensor = 1.0
) -> tuple[Tensor, Tensor]:
    """queries (T,), keys and values (S,) -> answers (T,) and the weights (T, S) they come from:
    softmax(-((query - key) / width)^2).

    >>> answer, weights = kernel_regression(
    ...     torch.tensor([15.0]), torch.tensor([10.0, 20.0, 30.0]), torch.tensor([1.0, 3.0, 9.0])
    ... )
    >>> answer.tolist(), weights.tolist()
    ([2.0], [[0.5, 0.5, 0.0]])
    """
    weights = (-(((queries[:, None] - keys) / width) ** 2)).softmax(dim=-1)
    return weights @ values, weights


class KernelRegression(nn.Module):
    """The same with a width that is learned: how far around it should an answer look?"""

    def __init__(self, width: float = 1.0) -> None:
        super().__init__()
        self.log_width = nn.Parameter(torch.tensor(float(width)).log())  # so that it stays above 0

    @property
    def width(self) -> float:
        return float(self.log_width.detach().exp())

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        return kernel_regression(queries, keys, values, self.log_width.exp())

    def leave_one_out(self, keys: Tensor, values: Tensor) -> Tensor:
        """(S,): what is answered at each key while its own value is hidden. A width is learned from
        these: with its own value in sight, the narrowest would always win. A key by itself is
        answered 0."""
        scores = -(((keys[:, None] - keys) / self.log_width.exp()) ** 2)  # (S, S)
        others = ~torch.eye(len(keys), dtype=torch.bool, device=keys.device)
        return softmax_over(scores, others) @ values
