"""Where the norm stands, before each part of a layer or after it: the gradients of deep networks at
their start, and how they train. Part of the chapter on the Transformer."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.course.draw import COLOURS, label, lines, panels
from regard.course.language import WORDS, ids_of, language, least_loss, next_word_loss
from regard.course.lesson import Drawing, Number
from regard.course.tiny import train
from regard.models.decoder import Decoder
from regard.shapes import DecoderSettings

DEPTH, STEPS, BATCH, ROWS = 8, 80, 32, 2000
RATES = (2e-3, 1e-2)
DEEP, STARTS = 24, 7
PLACES = ("pre", "post")
STYLES = {("pre", 2e-3): ":", ("post", 2e-3): "-.", ("pre", 1e-2): "-", ("post", 1e-2): "--"}


@dataclass(frozen=True)
class Compared:
    norms: dict[str, list[float]]
    """Length of the gradient in every layer of a deep network before its first step."""
    losses: dict[tuple[str, float], list[float]]
    """Of every step, by place of the norm and rate."""

    @property
    def ratio(self) -> float:
        """Of the gradients in the last layer, post against pre."""
        return self.norms["post"][-1] / self.norms["pre"][-1]

    def numbers(self) -> Iterator[Number]:
        first = self.norms["pre"][-1]
        yield Number.measured(f"gradient of the last of {DEEP} layers, pre-norm", first)
        yield Number.at_least("post-norm against pre-norm there", self.ratio, 2)
        for (place, rate), losses in self.losses.items():
            name = f"loss after {STEPS} steps, rate {rate:g}, {place}-norm"
            yield Number.measured(name, last(losses))
        slow, fast = (last(self.losses["post", r]) - last(self.losses["pre", r]) for r in RATES)
        yield Number.at_most(f"post-norm worse by, rate {RATES[0]:g}", slow, 0.4)
        yield Number.at_least(f"post-norm worse by, rate {RATES[1]:g}", fast, 0.4)

    def says(self) -> str:
        pre, post = (last(self.losses[place, RATES[1]]) for place in PLACES)
        return (
            f"Before the first step, the gradient in the last of {DEEP} layers is {self.ratio:.1f} "
            "times as large with the norm after the parts as with the norm before them. A rate "
            f"that is right for the one is too high for the other: at {RATES[1]:g}, {DEPTH} layers "
            f"came to a loss of {pre:.2f} nats a word in the language of the chapter cheating (the "
            f"least possible is {least_loss():.2f}) with pre-norm, and of {post:.2f} with "
            f"post-norm. At {RATES[0]:g} both learn alike. That is why post-norm networks are "
            "trained with a low rate and a long warm-up."
        )

    def draw(self) -> Drawing:
        figure, (left, right) = panels(2, size=(4.1, 3.3))
        curves = {f"{place}-norm": found for place, found in self.norms.items()}
        lines(left, list(range(1, DEEP + 1)), curves)
        left.set_ylim(bottom=0)
        label(left, "Gradient before the first step", "layer, 1 reads the words", "its length")
        for (place, rate), found in self.losses.items():
            colour, style = COLOURS[PLACES.index(place)], STYLES[place, rate]
            right.plot(found, style, color=colour, label=f"{place}-norm, rate {rate:g}")
        right.axhline(least_loss(), color=COLOURS[5], linewidth=0.8)
        right.set_ylim(1, 4.2)
        right.legend(fontsize=9, frameon=False)
        label(right, f"Training {DEPTH} layers", "step", "loss, nats a word")
        return Drawing(
            figure,
            "Left: with the norm after the parts, the layers near the output begin with large "
            "gradients. Right: at a high rate that network stays behind; at a lower one both "
            "learn. The thin line is the least possible loss.",
        )


def both_places(seed: int) -> Compared:
    norms = {place: gradients(place, seed) for place in PLACES}
    losses = {(place, rate): learned(place, rate, seed) for rate in RATES for place in PLACES}
    return Compared(norms, losses)


def decoder(place: str, layers: int, seed: int) -> Decoder:
    s = {"width": 32, "heads": 4, "layers": layers, "norm_place": place, "max_length": 16}
    torch.manual_seed(seed)
    return Decoder.of(DecoderSettings.model_validate(s), len(WORDS))


def gradients(place: str, seed: int) -> list[float]:
    """The length of the gradient in every layer before the first step; of several starts the
    one in the middle."""
    rows = ids_of(language()[::2000])
    found = []
    for start in range(STARTS):
        model = decoder(place, DEEP, STARTS * seed + start)
        loss = next_word_loss(model, rows)
        (loss.total / loss.tokens).backward()
        found.append([_length(block) for block in model.blocks])
    return torch.tensor(found).median(dim=0).values.tolist()


def _length(module: nn.Module) -> float:
    return float(
        nn.utils.get_total_norm([p.grad for p in module.parameters() if p.grad is not None])
    )


def learned(place: str, rate: float, seed: int) -> list[float]:
    """The loss of every step on the little language of the chapter on cheating."""
    dice = torch.Generator().manual_seed(seed)
    every = language()
    chosen = torch.randperm(len(every), generator=dice)[:ROWS].tolist()
    rows = ids_of([every[i] for i in chosen])

    def batch_of(step: int) -> Tensor:
        return rows[torch.randint(len(rows), (BATCH,), generator=dice)]

    return train(decoder(place, DEPTH, seed), batch_of, next_word_loss, steps=STEPS, rate=rate)


def last(losses: list[float]) -> float:
    """The mean of the last ten steps."""
    return sum(losses[-10:]) / 10
