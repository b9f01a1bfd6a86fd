"""Muon: momentum whose matrices are made orthogonal before they are applied, so that a step moves
every direction of a matrix equally far (Jordan et al. 2024, "Muon"). In a short trial on the
demo's data, phoneme error after 2,500 steps was 10.2 % with it (and GELU), 11.7 % with AdamW (and
ReLU).

torch.optim.Muon does this arithmetic in bfloat16, which a CPU without bfloat16 units emulates
slowly. Here it is done in the weights' own type, all matrices of one shape at once.
"""

from collections import defaultdict

import torch
from torch import Tensor

from regard.train.adamw import AdamW, Group

MOMENTUM = 0.95
# x -> a x + b x^3 + c x^5 on the singular values: the best three rounds for values down to 0.001
# (the first three of Amsel et al. 2025, "The Polar Express"). At one rate they did as well on the
# demo's data as torch's five, for less work.
ROUNDS = (
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
)


class Muon(AdamW):
    """AdamW, except for groups with `orthogonal=True`, whose parameters must be matrices.

    Their step is scaled to the size AdamW's usually has (Liu et al. 2025, 2.2), so that one
    learning rate serves both.
    """

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            if group.get("orthogonal"):
                self._step_matrices(group)
        super().step()

    def _step_matrices(self, group: Group) -> None:
        by_shape: dict[torch.Size, list[Tensor]] = defaultdict(list)
        for p in group["params"]:
            if p.grad is not None:
                by_shape[p.shape].append(p)
        for shape, parameters in by_shape.items():
            pushes = torch.stack([self._push(p) for p in parameters])
            rate = group["lr"] * 0.2 * max(shape) ** 0.5
            for p, direction in zip(parameters, orthogonal(pushes), strict=True):
                p.mul_(1 - group["lr"] * group["weight_decay"]).sub_(direction, alpha=rate)
                p.grad = None  # done: AdamW passes over parameters without a gradient

    def _push(self, p: Tensor) -> Tensor:
        """The gradient blended with its running mean (Nesterov's momentum)."""
        assert p.grad is not None
        mean = self.state[p].setdefault("momentum", torch.zeros_like(p))
        mean.lerp_(p.grad, 1 - MOMENTUM)
        return p.grad.lerp(mean, MOMENTUM)


def orthogonal(matrices: Tensor) -> Tensor:
    """(N, rows, columns) -> the same directions, all about equally long, by products only."""
    if matrices.size(1) > matrices.size(2):
        return orthogonal(matrices.mT).mT
    x = matrices / (1.01 * matrices.norm(dim=(1, 2), keepdim=True) + 1e-7)  # none above 1
    for a, b, c in ROUNDS:
        square = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x
