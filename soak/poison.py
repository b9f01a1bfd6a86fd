"""A number that is not finite, put into a training at one step, in one place."""

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from regard.nn.watch import watch
from regard.tasks.task import Loss
from regard.train.training import Training


class Poison:
    """`kind` is one of KINDS. It is active in one step, and in one of the step's pieces; looking
    at the step again finds it again."""

    def __init__(self, kind: str, step: int, value: float, dice: random.Random) -> None:
        self.kind, self.step, self.value, self.dice = kind, step, value, dice
        self.named: list[str] = []  # what a report may call the place

    def plant(self, training: Training) -> None:
        self.training, self.network = training, training.network
        self.pieces = len(training.pieces_of(self.step - 1))
        self.piece = self.dice.randrange(self.pieces)  # the one that is poisoned
        self.calls = 0  # of the loss, in this step
        self._count_pieces()
        self.before_the_step(self._remember)  # after what is planted below
        KINDS[self.kind](self)

    def _remember(self) -> None:
        self.weights = [p.detach().clone() for p in self.network.parameters()]

    def applied(self) -> bool:
        """Did the step change a weight?"""
        pairs = zip(self.weights, self.network.parameters(), strict=True)
        return not all(torch.equal(w.nan_to_num(), p.nan_to_num()) for w, p in pairs)

    def _count_pieces(self) -> None:
        real = self.training.task.loss

        def loss(network: nn.Module, *rest: Any) -> Loss:
            self.calls += self._in_step() and network.training
            return real(network, *rest)

        self.training.task.loss = loss  # type: ignore[method-assign]

    def _in_step(self) -> bool:
        return self.training.progress.step == self.step - 1

    def active(self) -> bool:
        there = self._in_step() and self.network.training
        return there and (self.calls - 1) % self.pieces == self.piece

    def spoiled(self, tensor: Tensor) -> Tensor:
        """A copy with one bad number."""
        other = tensor.clone(memory_format=torch.contiguous_format)
        flat = other.view(-1)
        flat[self.dice.randrange(len(flat))] = self.value
        return other

    def _called(self) -> list[str]:
        """The modules that give a tensor, in the order in which they end."""
        self.network.eval()
        with torch.no_grad(), watch(self.network) as calls:
            self.training.loss_of(self.network, self.training.pieces_of(0)[0])
        return list(dict.fromkeys(call.path for call in calls if call.outputs))

    def _aliases(self, parameter: Tensor) -> list[str]:
        every = self.network.named_parameters(remove_duplicate=False)
        return [name for name, other in every if other is parameter]

    # What is computed

    def in_output(self, paths: list[str]) -> None:
        path = self.dice.choice(paths)
        self.named = [f"the output of {path or 'the network itself'} "]
        self.network.get_submodule(path).register_forward_hook(
            lambda module, args, output: self.spoiled(output) if self.active() else output
        )

    def in_input(self) -> None:
        kinds = {path: self.network.get_submodule(path) for path in self._called()}
        self.in_output([path for path, kind in kinds.items() if isinstance(kind, nn.Embedding)])

    def in_activation(self) -> None:
        self.in_output(self._called())

    def in_loss(self) -> None:
        real, self.named = self.training.task.loss, ["the loss"]

        def loss(*given: Any) -> Loss:
            total, tokens = real(*given)
            return Loss(total * self.value if self.active() else total, tokens)

        self.training.task.loss = loss  # type: ignore[method-assign]

    def in_gradient(self) -> None:
        parameter = self.dice.choice([*self.network.parameters()])
        self.named = [f"the gradient of {name} " for name in self._aliases(parameter)]
        parameter.register_hook(lambda g: self.spoiled(g) if self.active() else g)

    def in_flow(self) -> None:
        """In the gradient that comes back to a layer, from where it flows to all before it."""
        own = {path: self.network.get_submodule(path) for path in self._called()}
        path = self.dice.choice([p for p, m in own.items() if [*m.parameters(recurse=False)]])
        owned = own[path].parameters(recurse=False)
        self.named = [f"the gradient of {name} " for p in owned for name in self._aliases(p)]

        def hook(module: nn.Module, args: Any, output: Tensor) -> None:
            if output.requires_grad and self.active():
                output.register_hook(self.spoiled)

        own[path].register_forward_hook(hook)

    # What is remembered

    def before_the_step(self, act: Callable[[], None]) -> None:
        real = self.training.pieces_of

        def pieces_of(step: int) -> list[list[Any]]:
            if step == self.step - 1:
                act()
            return real(step)

        self.training.pieces_of = pieces_of  # type: ignore[method-assign]

    def in_weight(self) -> None:
        parameter = self.dice.choice([*self.network.parameters()])
        self.named = [f"the weight of {name} " for name in self._aliases(parameter)]
        self.before_the_step(lambda: self._spoil(parameter))

    @torch.no_grad()
    def _spoil(self, tensor: Tensor) -> None:
        tensor.copy_(self.spoiled(tensor))

    def in_optimizer(self) -> None:
        parameter = self.dice.choice([*self.network.parameters()])

        def act() -> None:
            key, state = self.dice.choice(sorted(self.training.optimizer.state[parameter].items()))
            self.named = [f"the optimizer's {key} of {n} " for n in self._aliases(parameter)]
            self._spoil(state)

        self.before_the_step(act)

    def in_update(self) -> None:
        parameter = self.dice.choice([*self.network.parameters()])
        self.named = [f"the weight of {name} " for name in self._aliases(parameter)]
        real = self.training.optimizer.step

        def step() -> None:
            real()
            if self._in_step():
                self._spoil(parameter)

        self.training.optimizer.step = step  # type: ignore[method-assign]

    def in_validation(self) -> None:
        real, self.named = self.training.task.validate, ["the validation loss"]

        def validate(network: nn.Module, examples: Any) -> dict[str, float]:
            scores = real(network, examples)
            late = self.training.progress.step >= self.step
            return {**scores, "loss": self.value} if late else scores

        self.training.task.validate = validate  # type: ignore[method-assign]


KINDS: dict[str, Callable[[Poison], None]] = {
    "input": Poison.in_input,
    "activation": Poison.in_activation,
    "loss": Poison.in_loss,
    "gradient": Poison.in_gradient,
    "gradient flow": Poison.in_flow,
    "weight": Poison.in_weight,
    "optimizer": Poison.in_optimizer,
    "update": Poison.in_update,
    "validation": Poison.in_validation,
}
