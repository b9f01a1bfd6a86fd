"""A network's weights as plain named tensors: each shared table once, under its first name.
safetensors only: reading weights can not run code."""

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from regard.errors import RunError
from regard.files import read_bytes, write_bytes

Weights = dict[str, Tensor]


def weights_of(network: nn.Module) -> Weights:
    return {name: p.detach() for name, p in network.named_parameters()}


def save_weights(network: nn.Module, path: Path) -> None:
    plain = {name: w.cpu().contiguous() for name, w in weights_of(network).items()}
    write_bytes(path, save_tensors(plain))


def read_weights(path: Path) -> Weights:
    try:
        return parse_weights(read_bytes(path), str(path))
    except OSError as error:
        raise RunError(f"{path}: damaged or not readable: {error}.") from error


def parse_weights(data: bytes, where: str) -> Weights:
    """The tensors in a safetensors file; a RunError where it is anything else."""
    try:
        return load_tensors(data)
    except (SafetensorError, LookupError, TypeError, ValueError, RuntimeError) as error:
        # a type that torch has not, a size that no tensor can have
        raise RunError(f"{where}: damaged or not readable: {error}.") from error


@torch.no_grad()
def load_weights(network: nn.Module, weights: Weights, where: str) -> None:
    """Copy weights in; a RunError names the first that is missing, foreign, of another shape, or
    not made of finite numbers."""
    own = dict(network.named_parameters())
    for name in sorted(own.keys() ^ weights.keys()):
        side = "missing from" if name in own else "not known to the network but present in"
        raise RunError(f'the weight "{name}" is {side} {where}: it belongs to another recipe.')
    for name, parameter in own.items():
        if parameter.shape != weights[name].shape:
            raise RunError(
                f'the weight "{name}" in {where} has shape {tuple(weights[name].shape)}, '
                f"the recipe asks for {tuple(parameter.shape)}: was recipe.toml changed?"
            )
        if not _is_number(weights[name], parameter.dtype):
            raise RunError(
                f'the weight "{name}" in {where} is not made of finite numbers: damaged, or the '
                "work of another program. Restore the file from a copy."
            )
        parameter.copy_(weights[name])


def _is_number(tensor: Tensor, kind: torch.dtype) -> bool:
    return tensor.is_floating_point() and bool(tensor.to(kind).isfinite().all())


def count_parameters(network: nn.Module) -> int:
    """Trained numbers in a network, shared tables counted once."""
    return sum(p.numel() for p in network.parameters())


def average_weights(states: list[Weights]) -> Weights:
    """The mean of several sets of weights, taken in float64."""
    return {
        name: torch.stack([s[name].double() for s in states]).mean(0).to(first.dtype)
        for name, first in states[0].items()
    }
