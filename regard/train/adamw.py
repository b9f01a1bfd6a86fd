"""AdamW (Loshchilov & Hutter 2019) over torch's fused kernel.

The arithmetic is torch's, bit for bit; only the wrapper is ours. torch.optim imports the whole
compiler (torch._dynamo) with its first optimizer, a second of waiting before every training.
"""

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor

Group = dict[str, Any]  # "params", "weight_decay" and, set by the loop before each step, "lr"


class AdamW:
    """Looks like a torch optimizer to the loop and to checkpoints: `param_groups`, `state`."""

    def __init__(self, groups: list[Group], *, lr: float, betas: tuple[float, float]) -> None:
        self.param_groups: list[Group] = [{"lr": lr, **group} for group in groups]
        self.betas = betas
        self.state: dict[Tensor, dict[str, Tensor]] = defaultdict(dict)

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            if parameters:
                self._step(parameters, group)

    def _step(self, parameters: list[Tensor], group: Group) -> None:
        states = [self._state_of(p) for p in parameters]
        torch._foreach_add_([s["step"] for s in states], 1)
        torch._fused_adamw_(
            parameters,
            [p.grad for p in parameters if p.grad is not None],
            [s["exp_avg"] for s in states],
            [s["exp_avg_sq"] for s in states],
            [],
            [s["step"] for s in states],
            lr=group["lr"],
            beta1=self.betas[0],
            beta2=self.betas[1],
            weight_decay=group["weight_decay"],
            eps=1e-9,
            amsgrad=False,
            maximize=False,
        )

    def _state_of(self, p: Tensor) -> dict[str, Tensor]:
        state = self.state[p]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32, device=p.device)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
        return state

    def zero_grad(self) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                p.grad = None
