"""Every attention weight of any network, ours or a stranger's: rows sum to 1 over the keys that
are allowed, and are 0 elsewhere.

Nothing is asked of the network. While it runs, torch is watched one level below: a softmax whose
result is multiplied with something is an attention, and so is every fused attention kernel.

N batch x heads   T queries   S keys
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from regard.check.report import Finding, does_not_apply
from regard.check.sequences import padded
from regard.check.subject import Batch, Subject, worst
from regard.check.trace import name_of
from regard.nn.watch import tensors_in

SOFTMAX = {"aten::_softmax", "aten::_safe_softmax"}
PRODUCT = {"aten::bmm", "aten::mm"}
FUSED = {"aten::_scaled_dot_product_flash_attention_for_cpu"}


@dataclass
class Looked:
    """The weights (N, T, S) of one attention in one call."""

    path: str  # of the module that was running
    weights: Tensor


@dataclass
class Watcher(TorchDispatchMode):
    """Follows what comes out of a softmax until it is multiplied."""

    places: list[str]
    looked: list[Looked] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.followed: dict[int, Tensor] = {}  # by where their numbers lie; kept, so none is reused

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = func(*args, **(kwargs or {}))
        name = func.name().partition(".")[0]
        if name in FUSED:
            self._see(_fused(*args, **(kwargs or {})))
        elif name in PRODUCT:
            self._multiplied(*args)
        elif name in SOFTMAX or self._same_shape(args, output):
            self.followed |= {_home(tensor): tensor for tensor in tensors_in(output)}
        return output

    def _same_shape(self, args: Any, output: Any) -> bool:
        """Weights that were masked, dropped out or copied are still weights."""
        out = {tensor.numel() for tensor in tensors_in(output)}
        return any(_home(a) in self.followed and a.numel() in out for a in tensors_in(args))

    def _multiplied(self, left: Tensor, right: Tensor) -> None:
        if _home(left) in self.followed:
            self._see(left)
        elif _home(right) in self.followed:
            self._see(right.mT)

    def _see(self, weights: Tensor) -> None:
        path = self.places[-1] if self.places else ""
        self.looked.append(Looked(path, weights.detach().reshape(-1, *weights.shape[-2:]).clone()))


def _home(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _fused(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    dropout: float = 0.0,
    causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> Tensor:
    """The weights of a fused kernel, computed again from what it was given."""
    scores = q @ k.mT * (q.size(-1) ** -0.5 if scale is None else scale)
    if causal:
        later = torch.ones_like(scores, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    if attn_mask is not None:
        scores = scores + attn_mask
    return scores.softmax(dim=-1)


@contextmanager
def running(network: nn.Module) -> Iterator[list[str]]:
    """The paths of the modules that are running now, innermost last."""
    places: list[str] = []

    def left(*_: object) -> None:  # what a hook returns would replace the output
        places.pop()

    hooks: list[Any] = []
    for path, module in network.named_modules():
        enter = module.register_forward_pre_hook(lambda *_, path=path: places.append(path))
        leave = module.register_forward_hook(left, always_call=True)
        hooks += [enter, leave]
    try:
        yield places
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def look(subject: Subject, batch: Batch) -> list[Looked]:
    """The weights of every attention while `batch` goes through the network."""
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # it hides a whole layer in one call
    try:
        with running(subject.network) as places, Watcher(places) as watcher:
            subject.probe.call(subject.network, *batch.flat)
        return watcher.looked
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def attention(subject: Subject, cases: int, dice: Random) -> Finding:
    """All rows of a batch are padded alike, so that one mask says what is allowed to all heads."""
    gaps: list[float] = []
    wrong: list[str] = []
    done = 0
    for _ in range(max(1, cases // 10)):
        batch = _padded(subject, dice)
        for one in look(subject, batch):
            gap, what = _judge(subject, one, batch)
            gaps.append(gap)
            wrong += [f"{name_of(subject.network, one.path)}: {what}"] if what else []
            done += one.weights.size(0) * one.weights.size(1)
    if not done:
        return does_not_apply("attention", "no attention was seen: no softmax that is multiplied")
    return Finding("attention", done, worst(gaps), not wrong, wrong[0] if wrong else "")


def _padded(subject: Subject, dice: Random) -> Batch:
    """A batch with padding on every side that takes some."""
    batch = subject.inputs(dice, room=subject.room)
    for place, side in enumerate(subject.probe.sides):
        for where in side.pads[:1] if subject.room else ():
            batch = padded(subject, batch, place, where, dice)
    return batch


def _judge(subject: Subject, one: Looked, batch: Batch) -> tuple[float, str]:
    """How far the rows are from what they should be, and what is wrong in words."""
    weights, tolerance = one.weights, subject.tolerance
    T, S = weights.shape[-2:]
    allowed = _allowed(subject, batch, T, S)
    sums = weights.sum(dim=-1)
    blind = (weights == 0).all(dim=-1)  # a query that may look nowhere
    uneven = float((sums - 1).abs().masked_fill(blind, 0).max())
    shut = float(weights.abs().masked_fill(allowed, 0).max())
    if not weights.isfinite().all():
        return float("inf"), "weights that are not finite"
    if uneven > tolerance:
        columns = float((weights.sum(dim=-2) - 1).abs().max())
        axis = " (its columns do: softmax over the wrong axis)" if columns < tolerance else ""
        return uneven, f"the weights of a query do not sum to 1{axis}"
    if shut > tolerance:
        return shut, "weight on keys that are padding or lie in the future"
    return max(uneven, shut), ""


def _allowed(subject: Subject, batch: Batch, T: int, S: int) -> Tensor:
    """Which keys (T, S) may be seen. Sides are told by their lengths; where two happen to be
    equally long, only what holds for both is asked. What padding itself looks at is free: with a
    window there may be nothing real within its reach."""
    sides = zip(subject.probe.sides, batch.sides, strict=True)
    alike = [(side, mask) for side, (ids, mask) in sides if ids.size(1) == S]
    allowed = torch.ones(T, S, dtype=torch.bool)
    if alike and all(side.causal for side, _ in alike) and T == S:
        allowed = allowed.tril()
    if len(alike) == 1 and not alike[0][0].causal:
        real = alike[0][1][0]  # (S,)
        allowed = allowed & (real | ~real[:, None] if T == S else real)
    return allowed
