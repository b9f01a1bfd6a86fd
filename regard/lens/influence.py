"""How much each source token moves each output token, by gradients: it needs no attention, so that
networks with and without can be drawn alike (Simonyan et al. 2013; for words, Li et al. 2016).

S source tokens   T output tokens   E width   V vocabulary
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.backends import cudnn

from regard.lens.picture import AttentionMap, Picture
from regard.nn.embeddings import TokenEmbedding
from regard.tasks.task import Replay, Task

NAME = "influence"
ADDED = {"weights", "tokens"}  # of grams in a bag, of tokens in a mean


def influence(task: Task[Any], network: nn.Module, text: str) -> Picture:
    """Each row: how long the gradient of that token's log-probability is at every source token, as
    a share of all of them."""
    replay = task.replay(network, text)
    if told := ADDED & replay.axes.keys():  # a linear model says it itself
        return _told(replay, *told)
    network.eval()
    # cuDNN goes back through recurrent layers only while they train.
    with first_vectors(network) as vectors, torch.enable_grad(), cudnn.flags(enabled=False):
        chances = replay.run().log_softmax(dim=-1)  # (T, V)
        pulls = [_pull(chances[t, token], vectors[0]) for t, token in enumerate(replay.chosen)]
    found = torch.stack(pulls)  # (T, S)
    shares = found / found.sum(dim=1, keepdim=True).clamp_min(torch.finfo(found.dtype).tiny)
    rows, columns = replay.axes["cross"]
    weights = shares[None].float().cpu().numpy()
    one = AttentionMap(NAME, 0, rows, columns, weights, heads=(0,))
    return Picture(source=replay.source, output=replay.output, maps=(one,))


def _told(replay: Replay, name: str) -> Picture:
    shares = replay.run()[None].float().cpu().numpy()  # (1, T, S)
    rows, columns = replay.axes[name]
    one = AttentionMap(name, 0, rows, columns, shares, heads=(0,))
    return Picture(source=replay.source, output=replay.output, maps=(one,))


def _pull(chance: Tensor, vectors: Tensor) -> Tensor:
    """(S,)"""
    (slope,) = torch.autograd.grad(chance, vectors, retain_graph=True)  # (1, S, E)
    return slope[0].norm(dim=-1)


@contextmanager
def first_vectors(network: nn.Module) -> Iterator[list[Tensor]]:
    """The vectors of the tokens that are looked up first, which is the source."""
    found: list[Tensor] = []

    def note(module: nn.Module, given: Any, vectors: Tensor) -> Tensor | None:
        if found:
            return None
        found.append(vectors.detach().requires_grad_())
        return found[0]

    tables = {m for m in network.modules() if isinstance(m, TokenEmbedding)}
    hooks = [table.register_forward_hook(note) for table in tables]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()
