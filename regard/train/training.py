"""One training, from wherever it stands to its end: steps, validations, checkpoints, the log.

It yields what happens and leaves the talking to whoever listens (a terminal, a notebook).
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from regard.config import TrainSettings
from regard.errors import DataError, RunError, TrainingError
from regard.models.weights import Weights, average_weights, load_weights, weights_of
from regard.tasks.task import Loss, Task
from regard.train import checkpoints
from regard.train.checkpoints import Checkpoint
from regard.train.divergence import refuse_divergence, refuse_high_rate, way_on
from regard.train.log import Log
from regard.train.loop import Step, fit
from regard.train.memory import keep_freed_memory, other_work
from regard.train.not_finite import require_finite
from regard.train.optim import load_optimizer_tensors, make_optimizer, optimizer_tensors
from regard.train.schedules import rate_at
from regard.train.state import Progress, random_tensors, restore_random

CARRIED = "carried."  # names of what a task takes from step to step, beside the random states
LOGGED = 500  # lines in metrics.jsonl for the whole training, validations aside


@dataclass(frozen=True)
class Validated:
    step: int
    scores: dict[str, float]
    better: bool


@dataclass(frozen=True)
class Stopped:
    """Asked to stop: everything is saved, `regard resume` goes on from here."""

    step: int


Event = Step | Validated | Stopped


class Training:
    """`for event in training.run(): ...` until it is done or told to stop."""

    def __init__(
        self,
        task: Task[Any],
        network: nn.Module,
        train: Sequence[Any],
        validation: Sequence[Any],
        folder: Path,
    ) -> None:
        self.task, self.network, self.validation, self.folder = task, network, validation, folder
        self.batches = task.batches(train)
        task.carry_on({})
        self.optimizer = make_optimizer(network, task.recipe.train)
        if task.recipe.train.steps != 0:
            refuse_high_rate(network, task.recipe.train.rate)
        self.progress = Progress()
        self._log = Log(folder / "metrics.jsonl")

    @property
    def settings(self) -> TrainSettings:
        return self.task.recipe.train

    @property
    def steps(self) -> int:
        if self.settings.steps is None:
            raise DataError("the time budget was not yet turned into steps.")
        return self.settings.steps

    @property
    def validate_every(self) -> int:
        return self.settings.validate_every or max(1, -(-self.steps // 10))

    # The work

    def pieces_of(self, step: int) -> list[list[Any]]:
        """The batch of a step, cut into at most `accumulate` pieces."""
        rows = self.batches.of(step)
        size = -(-len(rows) // self.settings.accumulate)
        return [rows[start : start + size] for start in range(0, len(rows), size)]

    def _tokens_of(self, step: Step) -> int:
        """Real tokens, on all sides."""
        return sum(sum(self.task.lengths(row)) for row in self.batches.of(step.number - 1))

    def loss_of(self, network: nn.Module, piece: list[Any]) -> Loss:
        return self.task.loss(network, piece, self.settings.label_smoothing)

    def run(self, should_stop: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """Go on to the last step, early stop, or the first step after `should_stop()` is true. A
        TrainingError says which number went wrong, and how to go on from what is saved."""
        if self.progress.step > self.steps:
            raise RunError(
                f"{self.folder}: {self.progress.step} steps are done, but train.steps in its "
                f"recipe.toml is {self.steps}. Raise it to train on; or end with the weights there "
                f"are: regard resume {self.folder} --finish"
            )
        self._log.forget_after(self.progress.step)
        try:
            if self.steps == 0 and self.progress.best is None:  # all was learned at once
                yield self._validate()
                self.save()
            if not self.finished:
                yield from self._go_on(should_stop)
        except TrainingError as error:
            saved = checkpoints.steps_in(self.folder / "checkpoints")
            hint = way_on(self.folder, saved, self.progress.calm_step, self.settings.rate)
            raise TrainingError(f"{error} {hint}") from error

    def _go_on(self, should_stop: Callable[[], bool]) -> Iterator[Event]:
        keep_freed_memory()
        steps = fit(
            self.network,
            self.optimizer,
            self.pieces_of,
            self.loss_of,
            lambda step: rate_at(step, self.steps, self.settings),
            steps=self.steps,
            start=self.progress.step,
            clip=self.settings.clip,
        )
        clock = time.perf_counter()
        for step in steps:
            self.progress.saw(step.loss, self._tokens_of(step))
            self.progress.seconds += time.perf_counter() - clock
            clock = time.perf_counter()
            self._log_step(step)
            refuse_divergence(self.progress, step.loss, step.rate)
            yield step
            if self._due(step.number):
                yield self._validate()
            stopping = should_stop()
            if self._due(step.number) or stopping:
                self.progress.seconds += time.perf_counter() - clock
                clock = time.perf_counter()
                self.save()
            if self.finished:
                return
            if stopping:
                yield Stopped(step.number)
                return

    def _due(self, step: int) -> bool:
        """Does this step end in a validation?"""
        return step % self.validate_every == 0 or step == self.steps

    @property
    def finished(self) -> bool:
        patience = self.settings.patience
        tired = patience is not None and self.progress.without_better >= patience
        return self.progress.step >= self.steps or tired

    def _validate(self) -> Validated:
        require_finite(self.network, self.optimizer, self.progress.step)
        self.network.eval()
        with other_work():
            scores = self._scores()
        better = self.progress.validated(scores)
        self._log.add({"step": self.progress.step, "validation": scores})
        return Validated(self.progress.step, scores, better)

    def _scores(self) -> dict[str, float]:
        try:
            scores = self.task.validate(self.network, self.validation)
        except TrainingError as error:  # no output can be chosen
            raise TrainingError(f"step {self.progress.step}, validating: {error}") from error
        for name, value in scores.items():
            if not math.isfinite(value):
                raise TrainingError(f"step {self.progress.step}: the validation {name} is {value}.")
        return scores

    def _log_step(self, step: Step) -> None:
        if step.number % max(1, self.steps // LOGGED) == 0 or step.number == self.steps:
            self._log.add(
                {"step": step.number, "loss": step.loss, "rate": step.rate, "norm": step.grad_norm}
            )

    def log(self) -> list[dict[str, Any]]:
        """All that was logged so far."""
        return self._log.read()

    # Saving and going on

    def save(self) -> None:
        """Write a checkpoint; a number that is not finite is never written."""
        require_finite(self.network, self.optimizer, self.progress.step)
        tensors = {
            "model": weights_of(self.network),
            "optimizer": optimizer_tensors(self.network, self.optimizer),
            "random": random_tensors() | {CARRIED + n: t for n, t in self.task.carried().items()},
        }
        home = self.folder / "checkpoints"
        checkpoints.save(home, Checkpoint(self.progress.as_json(), tensors))
        checkpoints.prune(home, set(self._to_average()))

    def restore(self, checkpoint: Checkpoint) -> None:
        """Become the training that wrote `checkpoint`, to the last bit."""
        load_weights(self.network, checkpoint.tensors["model"], "the checkpoint")
        try:
            load_optimizer_tensors(self.network, self.optimizer, checkpoint.tensors["optimizer"])
            restore_random(checkpoint.tensors["random"])
            self.task.carry_on(_carried(checkpoint.tensors["random"]))
            self.progress = Progress.from_json(checkpoint.state)
        except (LookupError, TypeError, ValueError, OverflowError, RuntimeError) as error:
            raise RunError(
                f"{self.folder}: the checkpoint does not fit recipe.toml ({error!r}). Was the "
                "recipe changed after the run began? Put the old one back, or begin a new run."
            ) from error

    def final_weights(self) -> Weights:
        """The weights that `train.keep` asks for."""
        home, keep = self.folder / "checkpoints", self.settings.keep
        steps = {"best": [self.progress.best_step], "last": [self.progress.step]}
        chosen = steps.get(keep) or self._to_average()
        if not chosen or (0 in chosen and self.steps > 0):
            raise RunError(
                f"{self.folder}: no validation has been reached, so there are no weights to keep. "
                f"Go on with: regard resume {self.folder}"
            )
        try:
            found = [self._weights_at(checkpoints.folder_of(home, step)) for step in chosen]
        except RunError as error:
            raise RunError(
                f"{error} The weights to keep ({keep}) are in it. To end with those of the last "
                f'step instead, put keep = "last" into [train] of {self.folder / "recipe.toml"} '
                f"and run: regard resume {self.folder}"
            ) from error
        return average_weights(found)

    def _weights_at(self, checkpoint: Path) -> Weights:
        return checkpoints.load(checkpoint).tensors["model"]  # what else is in it is not held

    def _to_average(self) -> list[int]:
        """The last checkpoints that stand at a validation: where a person stopped the run does
        not count, or a stopped run would differ from one never stopped."""
        if self.settings.keep != "averaged":
            return []
        steps = checkpoints.steps_in(self.folder / "checkpoints")
        return [step for step in steps if self._due(step)][-self.settings.average :]


def _carried(tensors: Weights) -> Weights:
    return {n.removeprefix(CARRIED): t for n, t in tensors.items() if n.startswith(CARRIED)}
