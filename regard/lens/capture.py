"""See every attention weight while the model runs as it always does.

Hooks on the `Attend` modules compute the weights beside the fused kernel, from what the kernel
was given; an `Align` tells its own. The output stays bit-equal, the model does not know, and nobody
pays when nobody looks.

B batch   H heads   T query positions   S key positions
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.lens.influence import influence
from regard.lens.picture import AttentionMap, Picture
from regard.nn.align import Align
from regard.nn.attention import Attend, attend
from regard.tasks.task import Task

WHOLE = {"blocks": "self", "body": "self"}  # layers of a network that has only one stack


@dataclass(frozen=True)
class Seen:
    """The weights of one attention in one call."""

    name: str  # "encoder", "decoder", "cross", "copy", or "self" where there is one stack
    layer: int  # 0 for the first
    weights: Tensor  # (B, H, T, S)


def attentions(network: nn.Module) -> dict[str, tuple[str, int]]:
    """The attentions of a network: {module path: (name, layer)}."""
    found = {}
    for path, module in network.named_modules():
        if isinstance(module, Attend | Align):
            parts = path.split(".")
            layer = next((int(p) for p in parts if p.isdigit()), 0)
            if "copy" in parts:
                found[path] = ("copy", 0)
            else:
                across = "cross" in parts or isinstance(module, Align)
                found[path] = ("cross" if across else WHOLE.get(parts[0], parts[0]), layer)
    return found


@contextmanager
def capture(network: nn.Module) -> Iterator[list[Seen]]:
    """Collect the weights of every attention call made inside the `with`.

    with capture(network) as seen:
        network(source, target)
    seen[0].weights  # (B, H, T, S)
    """
    seen: list[Seen] = []
    hooks = [
        network.get_submodule(path).register_forward_hook(_note(seen, *place), with_kwargs=True)
        for path, place in attentions(network).items()
    ]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _note(seen: list[Seen], name: str, layer: int) -> Callable[..., None]:
    @torch.no_grad()
    def hook(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        if isinstance(module, Align):
            weights = output[1][:, None]  # one head
        else:
            given = inspect.signature(module.forward).bind(*args, **kwargs).arguments
            _, weights = attend(**given, weights=True)
            assert weights is not None
        seen.append(Seen(name, layer, weights.detach()))

    return hook


def look(task: Task[Any], network: nn.Module, text: str) -> Picture:
    """Run one text through a trained network and keep what every head looked at; of a network
    without attention, what its outputs depend on."""
    if not attentions(network):
        return influence(task, network, text)
    replay = task.replay(network, text)
    network.eval()
    with capture(network) as seen, torch.no_grad():
        replay.run()
    maps = tuple(
        AttentionMap(
            name=one.name,
            layer=one.layer,
            rows=replay.axes[one.name][0],
            columns=replay.axes[one.name][1],
            weights=one.weights[0].float().cpu().numpy(),
            heads=tuple(range(one.weights.size(1))),
        )
        for one in _whole(seen)
    )
    return Picture(source=replay.source, output=replay.output, maps=maps)


def _whole(seen: list[Seen]) -> list[Seen]:
    """Each attention once: what a network that goes step by step saw, one step below the other."""
    calls: dict[tuple[str, int], list[Tensor]] = {}
    for one in seen:
        calls.setdefault((one.name, one.layer), []).append(one.weights)
    return [Seen(*place, torch.cat(weights, dim=2)) for place, weights in calls.items()]
