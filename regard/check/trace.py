"""Where two passes part ways: the first layer that makes different things of equal ones.

Axes are told by their sizes: the lengths of made-up inputs are chosen unlike every width of the
network, so an axis as long as the input is the one of the positions.
"""

from collections import defaultdict
from collections.abc import Callable

from torch import Tensor, nn

from regard.check.subject import difference
from regard.nn.watch import Call, watch

Cut = Callable[[Tensor], Tensor]  # the part of a layer's output that must be equal


def first_difference(
    network: nn.Module,
    one: Callable[[], object],
    other: Callable[[], object],
    cut_one: Cut,
    cut_other: Cut,
    tolerance: float,
) -> str:
    """The first module that was given equal things and made different ones of them, by its path
    and kind, as in "blocks.0.attention (SelfAttention)"."""

    def differ(a: list[Tensor], b: list[Tensor]) -> bool:
        """What can not be laid over each other is passed over."""
        cuts = [(cut_one(x), cut_other(y)) for x, y in zip(a, b, strict=False)]
        return any(x.shape == y.shape and difference(x, y) > tolerance for x, y in cuts)

    with watch(network) as first:
        one()
    with watch(network) as second:
        other()
    given: list[str] = []  # modules that were already given different things
    for a, b in _paired(first, second):
        if differ(a.inputs, b.inputs):
            given.append(a.path)
        elif differ(a.outputs, b.outputs):
            return _blamed(network, a.path, given)
    return _blamed(network, "", given)


def _blamed(network: nn.Module, path: str, given: list[str]) -> str:
    """The module and, where it did the harm between its children, which of them noticed first."""
    inner = [one for one in given if one and (one.startswith(f"{path}.") or not path)]
    if not inner:
        return name_of(network, path)
    noticed = min((one for one in inner if inner[0].startswith(one)), key=len)
    return f"{name_of(network, path)}, in what it gives to {noticed}"


def _paired(first: list[Call], second: list[Call]) -> list[tuple[Call, Call]]:
    """Equal calls: the n-th of a module in one pass with its n-th in the other."""
    waiting: dict[str, list[Call]] = defaultdict(list)
    for call in second:
        waiting[call.path].append(call)
    return [(call, waiting[call.path].pop(0)) for call in first if waiting[call.path]]


def name_of(network: nn.Module, path: str) -> str:
    module = network.get_submodule(path)
    return f"{path or 'the network itself'} ({type(module).__name__})"


def narrowed(size: int, start: int, length: int) -> Cut:
    """Every axis of `size` positions cut to `length` of them, from `start` on."""

    def cut(tensor: Tensor) -> Tensor:
        for axis in range(tensor.dim()):
            if tensor.size(axis) == size:
                tensor = tensor.narrow(axis, start, length)
        return tensor

    return cut


def one_row(rows: int, number: int) -> Cut:
    """The first axis of `rows` cut to one row."""

    def cut(tensor: Tensor) -> Tensor:
        axes = [axis for axis in range(tensor.dim()) if tensor.size(axis) == rows]
        return tensor.narrow(axes[0], number, 1) if axes else tensor

    return cut


def both(*cuts: Cut) -> Cut:
    def cut(tensor: Tensor) -> Tensor:
        for one in cuts:
            tensor = one(tensor)
        return tensor

    return cut
