"""See what goes into and comes out of every layer of any network, while it does not know.

A trainer uses it to name the layer where a NaN was born, a check to name the layer where two
passes part ways.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from torch import Tensor, nn


class Call(NamedTuple):
    """One call of a module; the network itself has the path ""."""

    path: str
    inputs: list[Tensor]
    outputs: list[Tensor]


@contextmanager
def watch(network: nn.Module) -> Iterator[list[Call]]:
    """Collect the calls of all modules inside the `with`, in the order in which they end.

    >>> import torch
    >>> network = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    >>> with watch(network) as calls:
    ...     _ = network(torch.zeros(1, 2))
    >>> [(call.path, tuple(call.outputs[0].shape)) for call in calls]
    [('0', (1, 3)), ('1', (1, 3)), ('', (1, 3))]
    """
    calls: list[Call] = []

    def noted(path: str) -> Any:
        def hook(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            given = [*tensors_in(args), *tensors_in(kwargs)]
            calls.append(Call(path, given, [t.detach() for t in tensors_in(output)]))

        return hook

    hooks = [
        module.register_forward_hook(noted(path), with_kwargs=True)
        for path, module in network.named_modules()
    ]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors of whatever a module takes or returns: one, a tuple, list or table, nested."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from tensors_in(item)


def first_not_finite(calls: list[Call]) -> str | None:
    """The path of the first module that was given finite numbers and made NaN or inf of them."""
    for path, inputs, outputs in calls:
        if all(map(_finite, inputs)) and not all(map(_finite, outputs)):
            return path or "the network itself"
    return None


def _finite(tensor: Tensor) -> bool:
    return not tensor.is_floating_point() or bool(tensor.isfinite().all())
