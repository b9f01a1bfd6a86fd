"""A module that somebody wrote: how it is called, as they say it or as its signature suggests.

B batch   T positions
"""

import copy
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from regard.check.subject import LENGTHS, Subject
from regard.errors import ConfigError, did_you_mean
from regard.tasks.probe import Probe, Side

KINDS = ("encoder", "decoder", "encoder-decoder")
# What a mask is called where True, or 1, means a real position, and where it means padding.
REAL = ("attention_mask", "mask", "source_mask")
PADDING = ("key_padding_mask", "src_key_padding_mask", "padding_mask")
TARGETS = ("decoder_input_ids", "target", "targets", "tgt")
ENOUGH = 64  # positions, where nothing says how many there may be


def subject_of(
    module: nn.Module,
    *,
    vocabulary: int | None = None,
    kind: str | None = None,
    call: Callable[..., Any] | None = None,
    step: Callable[..., tuple[Tensor, Any]] | None = None,
    longest: int | None = None,
) -> tuple[Subject, list[str]]:
    """The module as a subject, and what was guessed about it.

    vocabulary  ids are below this; the largest embedding's size by default
    kind        "encoder" reads whole texts, "decoder" may not look ahead, "encoder-decoder" both
    call        lambda m, ids, mask: ... -> (B, T, ...); ids (B, T), mask (B, T) True where real;
                an encoder-decoder gets m, ids, mask, target_ids, target_mask
    step        lambda m, state, tokens: ... -> (scores (B, V), state), for one that remembers
                between tokens (B,); the first state is None. An encoder-decoder also gets the
                ids and mask of its source.
    longest     positions it can take; that of its position embedding by default
    """
    guesses: list[str] = []
    module = copy.deepcopy(module).cpu().eval()  # the caller's own is left alone
    if vocabulary is None:
        vocabulary = _vocabulary(module)
        guesses.append(f"Guessed vocabulary={vocabulary}, its largest embedding.")
    masked = True  # a person who writes `call` is given a mask, and expected to use it
    if call is None:
        call, said, masked = _call(module)
        guesses.append(f"Guessed that it is called as {said}.")
    call = _plain(call)
    longest = longest or _longest(module)
    if kind is None:
        kind = _kind(module, call, vocabulary, longest)
        guesses.append(f'Guessed kind="{kind}"; another kind has other checks to pass.')
    if kind not in KINDS:
        raise ConfigError(f'kind: there is no kind "{kind}".{did_you_mean(kind, list(KINDS))}')
    probe = Probe(_sides(kind, vocabulary, longest, masked), call, step)
    _try(module, probe, longest)
    return Subject(module, probe), guesses


def _sides(kind: str, vocabulary: int, longest: int, masked: bool) -> tuple[Side, ...]:
    """Without a mask, padding is harmless only behind a text that nobody reads backwards."""
    both = ("right", "left") if masked else ()
    writes = both or ("right",)
    first = 1 if vocabulary > 2 else 0  # 0 often means padding
    reading = Side("source", vocabulary, longest, pads=both, first=first)
    writing = Side("target", vocabulary, longest, causal=True, pads=("right",), first=first)
    if kind == "encoder":
        return (Side("text", vocabulary, longest, pads=both, first=first),)
    if kind == "decoder":
        return (Side("text", vocabulary, longest, causal=True, pads=writes, first=first),)
    return reading, writing


def _vocabulary(module: nn.Module) -> int:
    sizes = _embeddings(module, of_positions=False)
    if not sizes:
        raise ConfigError(
            "vocabulary: can not be guessed, it has no nn.Embedding: say vocabulary=."
        )
    return max(sizes)


def _longest(module: nn.Module) -> int:
    return min([*_embeddings(module, of_positions=True), ENOUGH])


def _embeddings(module: nn.Module, of_positions: bool) -> list[int]:
    """The sizes of embeddings; those of positions are told by their names."""
    return [
        m.num_embeddings
        for path, m in module.named_modules()
        if isinstance(m, nn.Embedding) and ("pos" in path) == of_positions
    ]


def _call(module: nn.Module) -> tuple[Callable[..., Any], str, bool]:
    """How to call it, from the names of what its forward takes; the same in words; and whether
    it takes a mask."""
    names = list(inspect.signature(module.forward).parameters)
    target = next((name for name in names if name in TARGETS), None)
    real = next((name for name in names[1:] if name in REAL), None)
    padding = next((name for name in names[1:] if name in PADDING), None)
    chosen = real or padding

    def call(m: nn.Module, ids: Tensor, mask: Tensor, *rest: Tensor) -> Any:
        given: dict[str, Tensor] = {target: rest[0]} if target else {}
        if chosen:
            shown = mask if real else ~mask
            given[chosen] = shown.long() if chosen == "attention_mask" else shown
        return m(ids, **given)

    words = [f"{chosen}={'mask' if real else '~mask'}"] if chosen else []
    words += [f"{target}=target"] if target else []
    return call, f"module({', '.join(['ids', *words])})", chosen is not None


def _plain(call: Callable[..., Any]) -> Callable[..., Tensor]:
    """The tensor in what comes back: itself, .logits, .last_hidden_state, or the first of many."""

    def plain(m: nn.Module, *given: Tensor) -> Tensor:
        output = call(m, *given)
        for name in ("logits", "last_hidden_state"):
            output = getattr(output, name, output)
        return output[0] if isinstance(output, tuple | list) else output

    return plain


def _kind(module: nn.Module, call: Callable[..., Tensor], vocabulary: int, longest: int) -> str:
    """Two inputs: both. A score for every token: it writes. Else it reads."""
    if any(name in TARGETS for name in inspect.signature(module.forward).parameters):
        return "encoder-decoder"
    output = _answer(module, Probe(_sides("encoder", vocabulary, longest, True), call), longest)
    return "decoder" if output.dim() == 3 and output.size(-1) == vocabulary else "encoder"


def _try(module: nn.Module, probe: Probe, longest: int) -> None:
    output = _answer(module, probe, longest)
    rows, T = 2, min(LENGTHS[0], longest)
    if not isinstance(output, Tensor) or output.dim() < 2 or output.size(0) != rows:
        found = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise ConfigError(
            f"call: expected a tensor (B, T, ...) = ({rows}, {T}, ...) or (B, ...), found {found}. "
            "Say how to get it: call=lambda m, ids, mask: m(ids).logits"
        )
    if probe.sides[-1].causal and (output.dim() < 3 or output.size(1) != T):
        raise ConfigError(
            f"call: a decoder gives an output for every position, (B, T, ...) = ({rows}, {T}, "
            f'...), but this gave {tuple(output.shape)}. Is it kind="encoder"?'
        )


@torch.no_grad()
def _answer(module: nn.Module, probe: Probe, longest: int) -> Tensor:
    """What it says to two rows of ids, or a ConfigError that shows what it said instead."""
    T = min(LENGTHS[0], longest)
    flat = []
    for side in probe.sides:
        ids = torch.arange(2 * T).reshape(2, T) % max(1, side.vocabulary - side.first) + side.first
        flat += [ids, torch.ones_like(ids, dtype=torch.bool)]
    try:
        return probe.call(module, *flat)
    except Exception as error:  # noqa: BLE001, whatever a stranger's module raises
        raise ConfigError(
            f"call: the module could not be called with ids (2, {T}): {type(error).__name__}: "
            f"{error}. Say how it is called: call=lambda m, ids, mask: ..."
        ) from error
