"""Where did a number stop being finite? Looked for when a step went wrong, before it is applied."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import TrainingError
from regard.nn.watch import first_not_finite, watch
from regard.tasks.task import Loss
from regard.train.adamw import AdamW
from regard.train.optim import optimizer_tensors


def length_of(network: nn.Module, optimizer: AdamW) -> float:
    """Of all weights and all that the optimizer keeps, as one long vector: a single look tells
    whether every number is finite."""
    kept = (tensor for state in optimizer.state.values() for tensor in state.values())
    tensors = [*(p.detach() for p in network.parameters()), *kept]
    return float(torch.stack(torch._foreach_norm(tensors)).norm())


def in_memory(network: nn.Module, optimizer: AdamW) -> str | None:
    """The first weight, or number of the optimizer, that is not finite."""
    weights = ((f"the weight of {name}", p) for name, p in network.named_parameters())
    kept = (
        (f"the optimizer's {key} of {name}", tensor)
        for full_name, tensor in optimizer_tensors(network, optimizer).items()
        for name, _, key in [full_name.rpartition("/")]
    )
    return _first(chain(weights, kept))


def in_step(
    network: nn.Module, pieces: Sequence[Any], loss_of: Callable[[nn.Module, Any], Loss]
) -> str | None:
    """The first layer of a step that gave a number which is not finite, found by going through
    it again; or the loss; or the gradient nearest to the loss, since gradients flow back from
    there."""
    order: list[str] = []
    for piece in pieces:
        with torch.no_grad(), watch(network) as calls:
            loss = float(loss_of(network, piece).total)
        if layer := first_not_finite(calls):
            return f"the output of {layer}"
        if not math.isfinite(loss):
            return "the loss itself"
        order = list(dict.fromkeys(call.path for call in calls))  # a shared table: its first use
    return _first(_gradients(network, reversed(order)))


def _gradients(network: nn.Module, paths: Iterable[str]) -> Iterator[tuple[str, Tensor]]:
    """Those of the layers at these paths, then those of parameters that no layer owns."""
    modules = dict(network.named_modules())
    owned = (
        (f"{path}.{name}" if path else name, p)
        for path in paths
        for name, p in modules[path].named_parameters(recurse=False)
    )
    for name, p in chain(owned, network.named_parameters()):
        if p.grad is not None:
            yield f"the gradient of {name}", p.grad


def _first(named: Iterable[tuple[str, Tensor]]) -> str | None:
    return next((name for name, tensor in named if not bool(tensor.isfinite().all())), None)


def told(step: int, cause: str | None, loss: float) -> str:
    cause = cause or "the length of all gradients, or of all weights,"
    return f"step {step}: {cause} is not finite (loss {loss:.4g}). This step was not applied."


def require_finite(network: nn.Module, optimizer: AdamW, step: int) -> None:
    """Before anything is judged or saved: the last update may have gone too far."""
    if not math.isfinite(length_of(network, optimizer)):
        cause = in_memory(network, optimizer) or "the length of all weights"
        raise TrainingError(f"step {step}: {cause} is not finite after it. This was not saved.")
