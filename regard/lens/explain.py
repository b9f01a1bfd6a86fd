"""Which words mattered? Four measures, each of them what its name says and no more:

weights         of a bag: what each gram adds to the score of the label (exact)
gradient        gradient times input: how the score would move with each token's vector, to first
                order (Shrikumar et al. 2017)
leave-one-out   how much the label's probability falls when a token is left out (exact, one at a
                time)
rollout         where attention leads through all layers, half of each layer passing by it (Abnar &
                Zuidema 2020); it says what was looked at, not what it was for

T tokens   C classes   E width
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.backends import cudnn

from regard.errors import ConfigError
from regard.lens.capture import attentions, capture
from regard.lens.influence import first_vectors
from regard.models.encoder import Source
from regard.names import Prediction
from regard.tasks.classify_bag import ClassifyByBag
from regard.tasks.judging import TOKENS_AT_ONCE, Judging, likeliest, source_of
from regard.tasks.label_data import texts_of
from regard.tasks.label_places import Place, places_of_grams, places_of_tokens
from regard.tasks.labelling import Labelling

Piece = tuple[str, float, tuple[Place, ...]]

LEAST = 0.0005  # in a probability or a score: less is nothing
WAYS = ("weights", "gradient", "leave-one-out", "rollout")


class Explained(NamedTuple):
    judgement: Prediction
    label: str
    """What is explained: the likeliest label, also where it is one of several, or none is given."""
    how: str
    pieces: tuple[tuple[str, float], ...]
    """Each token, or gram, and what it did for the label; below 0: against it. The specials that
    stand around a text are left out."""
    places: tuple[tuple[Place, ...], ...]
    """The stretches of the text that each of them stands on, if any."""

    @property
    def probability(self) -> float:
        """Of the label, as `predict` tells it."""
        return (self.judgement.probabilities or {})[self.label]

    @property
    def idle(self) -> bool:
        """Does no piece by itself change anything? Shares of what was looked at change nothing
        anyway."""
        return self.how != "rollout" and all(abs(value) < LEAST for _, value in self.pieces)

    def stretches(self) -> list[tuple[Place, float]]:
        """Parts of the text in their order, and what they did: what a piece did is shared evenly
        by the stretches that it stands on, so that all together have done the same."""
        found: dict[Place, float] = {}
        for (_, value), places in zip(self.pieces, self.places, strict=True):
            for place in places:
                found[place] = found.get(place, 0.0) + value / len(places)
        apart: list[tuple[Place, float]] = []
        for (start, stop), value in sorted(found.items()):
            if apart and start < apart[-1][0][1]:  # tokens that are bytes of one character
                (begin, end), other = apart.pop()
                start, stop, value = begin, max(stop, end), other + value
            apart.append(((start, stop), value))
        return apart

    def as_json(self) -> dict[str, Any]:
        pieces = [list(piece) for piece in self.pieces]
        more = {"explained": self.label, "how": self.how, "pieces": pieces}
        return self.judgement.as_json() | more


def explain(task: Any, network: nn.Module, text: str, how: str | None = None) -> Explained:
    """`how` is one of WAYS; by default weights for a bag, leave-one-out for a network."""
    if not isinstance(task, Labelling):
        raise ConfigError("only judgements of classifiers are explained; see `regard look`.")
    bag = isinstance(task, ClassifyByBag)
    how = how or ("weights" if bag else "leave-one-out")
    if how not in WAYS or bag != (how == "weights"):
        fitting = "weights" if bag else ", ".join(WAYS[1:])
        raise ConfigError(f'this model can be explained by {fitting}, found "{how}".')
    if how == "rollout" and not attentions(network):
        raise ConfigError("rollout: this network has no attention. Try leave-one-out.")
    if how == "gradient" and getattr(network, "wide", None) is not None:
        raise ConfigError(
            "gradient: a part of the score comes from the linear judge beside this network, which "
            "has no vectors. Try leave-one-out."
        )
    (found,) = task.predictor(network).predict([text])
    label = task.labels.index(likeliest(found))
    pieces = _grams(task, network, text, label) if bag else _tokens(task, network, text, label, how)
    told = tuple((piece, value) for piece, value, _ in pieces)
    return Explained(found, task.labels[label], how, told, tuple(place for *_, place in pieces))


def _grams(task: Any, network: nn.Module, text: str, label: int) -> list[Piece]:
    first, second = texts_of(text, task.pairs)
    parts = task.bag(network).weights_of(first, second if task.pairs else None)
    places = places_of_grams(task, text, [name for name, _ in parts])
    found = zip(parts, places, strict=True)
    return [(name, float(weights[label]), place) for (name, weights), place in found]


def _tokens(task: Any, network: nn.Module, text: str, label: int, how: str) -> list[Piece]:
    network.eval()
    encoded = task.encode(text)
    device = next(network.parameters()).device
    source = source_of([encoded], device)
    if how == "leave-one-out":
        values = leave_one_out(task.predictor(network), source, label)
    else:
        values = {"gradient": gradient, "rollout": rollout}[how](network, source, label).tolist()
    places = places_of_tokens(task, text)
    told = zip(task.pieces(text), values, places, encoded.ids, strict=True)
    # without START and STOP
    return [(piece, value, place) for piece, value, place, i in told if i > 2]


def gradient(network: nn.Module, source: Source, label: int) -> Tensor:
    """(T,)"""
    # cuDNN goes back through recurrent layers only while they train.
    with first_vectors(network) as vectors, torch.enable_grad(), cudnn.flags(enabled=False):
        score = network(source)[0, label]
        (slope,) = torch.autograd.grad(score, vectors[0])  # (1, T, E)
    return (slope * vectors[0]).sum(dim=-1)[0].detach()


@torch.no_grad()
def leave_one_out(judge: Judging, source: Source, label: int) -> list[float]:
    """(T,) some texts at a time: all at once would be T texts of T - 1 tokens."""

    def chances(source: Source) -> NDArray[np.float64]:
        return judge.chances(judge.network(source).double().cpu().numpy())[:, label]

    length = source.ids.size(1)
    at_once = max(1, TOKENS_AT_ONCE // length)
    places = torch.arange(length, device=source.ids.device)
    without = [
        chances(_without(source, places[start : start + at_once]))
        for start in range(0, length, at_once)
    ]
    return (chances(source) - np.concatenate(without)).tolist()


def _without(source: Source, gone: Tensor) -> Source:
    """The text (1, T) once for each of the places (B,) that are gone -> (B, T - 1)"""
    place = torch.arange(source.ids.size(1) - 1, device=gone.device)
    rows = place + (place >= gone[:, None])  # (B, T - 1)
    segments = None if source.segments is None else source.segments[0][rows]
    spelling = None if source.spelling is None else source.spelling[0][rows]
    return Source(source.ids[0][rows], None, segments, spelling)


@torch.no_grad()
def rollout(network: Any, source: Source, label: int) -> Tensor:
    """(T,) of the tokens that stand for the text: all of them, the first, or the last."""
    with capture(network) as seen:
        network(source)
    length = source.ids.size(1)
    flow = torch.eye(length, dtype=torch.float64)
    for one in seen:
        mean = one.weights[0].mean(dim=0).double().cpu()  # (T, T) over heads
        mixed = 0.5 * mean + 0.5 * torch.eye(length, dtype=torch.float64)
        flow = (mixed / mixed.sum(dim=1, keepdim=True)) @ flow
    rows = {"first": flow[0], "last": flow[-1]}
    return rows.get(network.body.pooling, flow.mean(dim=0))
