"""How much memory will a whole run take? What can be tried is tried: validation is begun, some rows
are decoded, the baselines learn from a few examples. The rest is arithmetic.

Each part is measured above what the process holds anyway, and scaled to the size it will have.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from sys import getsizeof
from typing import Any

import torch
from torch import Tensor, nn

from regard.data.splits import Splits
from regard.models.predictor import Predictor
from regard.names import STOP
from regard.tasks.task import predict_fitting
from regard.tasks.text_data import TextSplits, beginning
from regard.train.budget import Trial
from regard.train.memory import forget_peak, give_back_memory, held_memory, peak_memory
from regard.train.room import size_of
from regard.train.state import random_tensors, restore_random
from regard.train.training import Training

SHARE = 4  # one in so many rows of a batch is decoded, and half as many before
WHOLE = 1000  # a batch of no more rows is decoded whole
FEW, MANY = 500, 4000  # examples that baselines learn from
ANSWERED = 2000  # inputs that they answer
COUNTED = 200_000  # characters that an n-gram model learns from, and twice as many
BOOTSTRAP = 45_000_000  # bytes, from 1,000 examples on


@dataclass(frozen=True)
class Estimate:
    """Bytes that each part of a run holds at its peak."""

    training: int  # and reading before it
    validating: int  # and saving after it
    scoring: int

    @property
    def peak(self) -> int:
        return max(self.training, self.validating, self.scoring)


def estimate_memory(
    training: Training, splits: Splits[Any], trial: Trial, draw: Callable[[], object]
) -> Estimate:
    """`draw` makes the pictures that a run ends with. Leaves network and random state alone, but
    `peak_memory` forgets what was."""
    before, mode = random_tensors(), training.network.training
    try:
        held = _held() + trial.kept
        validating, judging = _validating(training, trial)
        with torch.no_grad(), stopping_at(training.network, _wanted(training, splits.test)):
            drawing = _extra(draw)
        scoring = _scoring(training, splits, trial, max(judging, drawing))
        return Estimate(trial.memory, held + validating, held + scoring)
    finally:
        training.network.train(mode)
        restore_random(before)


# The parts of a run


def _validating(training: Training, trial: Trial) -> tuple[int, int]:
    """Bytes above what is held, and those for judging alone: whole passes, without decoding."""
    task, network = training.task, training.network
    network.eval()
    found: list[int] = []  # rows decoded at once

    def judge() -> None:
        with torch.no_grad(), _until_decoding(network, found):
            task.validate(network, training.validation)

    judging = _extra(judge)
    decoding = 0
    if found:  # this task decodes
        greedy = task.predictor(network, beam=1, temperature=0.0, n=1)
        decoding = _decoding(training, greedy, training.validation, found)
    saving = 2 * trial.kept  # a file in parts, and in one piece
    return max(judging, decoding, saving), judging


def _scoring(training: Training, splits: Splits[Any], trial: Trial, others: int) -> int:
    """Bytes above what is held when the run is finished; `others` are known already."""
    task, network = training.task, training.network
    if isinstance(splits, TextSplits):
        return _loading(training, trial) + max(_counting(training, splits), others)
    predictor, inputs = task.predictor(network), task.inputs(splits.test)
    found: list[int] = []
    with torch.no_grad(), _until_decoding(network, found):
        predict_fitting(task, predictor, inputs)
    decoding = _decoding(training, predictor, splits.test, found)
    loading = _loading(training, trial)
    everything = [*splits.train, *splits.validation, *splits.test]
    read_again = _size(_evenly(everything, FEW)) * len(everything) // min(FEW, len(everything))
    learning, learned, answering = _baselines(training, splits.train, inputs)
    metrics = round(BOOTSTRAP * min(1.0, len(inputs) / 1000))
    return read_again + max(loading, learning, learned + max(decoding, answering, metrics, others))


def _loading(training: Training, trial: Trial) -> int:
    """Bytes for the weights to keep: one checkpoint is read and parsed at a time."""
    settings, weights = training.settings, size_of(*training.network.parameters())
    averaged = settings.average if settings.keep == "averaged" else 1
    return averaged * weights + 2 * (weights + trial.kept)


def _counting(training: Training, splits: TextSplits) -> int:
    """Bytes at the peak of learning what the n-gram model counts."""
    learn, whole = training.task.baselines, len(splits.train)
    few, more = ([beginning(splits.train, size)] for size in (COUNTED, 2 * COUNTED))
    learn(few)  # what is loaded once
    least, most = (_extra(partial(learn, some)) for some in (few, more))
    return _line(whole, (len(few[0]), least), (len(more[0]), most))


def _decoding(training: Training, predictor: Any, part: Sequence[Any], found: list[int]) -> int:
    """Bytes for a batch of so many rows, with outputs as long as those that are wanted: a network
    that has learned something stops there."""
    if not found:
        return 0  # this task does not decode
    inputs = training.task.inputs(part)
    fitting = sorted((text for text in inputs if training.task.fits(text)), key=len)
    batch = fitting[: found[0]]  # short inputs make the batches with the most rows
    share = SHARE if len(batch) > WHOLE else 1
    few, more = (
        _evenly(batch, -(-len(batch) // (2 * share))),
        _evenly(batch, -(-len(batch) // share)),
    )
    with stopping_at(training.network, _wanted(training, part)):
        predictor.predict(few[:1])  # what is made once, at the first use
        least, most = (_extra(partial(predictor.predict, some)) for some in (few, more))
    return _line(len(batch), (len(few), least), (len(more), most))


def _baselines(
    training: Training, train: Sequence[Any], inputs: Sequence[str]
) -> tuple[int, int, int]:
    """Bytes at the peak of learning, when it is over, and in addition for answering."""
    learn, few, many = training.task.baselines, _evenly(train, FEW), _evenly(train, MANY)
    before = _held()
    for baseline in learn(few).values():
        baseline.predict(inputs[:1])
    libraries = _held() - before
    least = _extra(lambda: learn(few))
    before, learned = _held(), list[Predictor]()
    most = _extra(lambda: learned.extend(learn(many).values()))
    kept, more = _held() - before, len(train) / len(many)
    some = (list(inputs) * round(more + 1))[: min(ANSWERED, round(len(inputs) * more))]
    answering = max(_extra(partial(baseline.predict, some)) for baseline in learned)
    learning = _line(len(train), (len(few), least), (len(many), most))
    return libraries + learning, libraries + round(kept * more), answering


# How it is measured


def _held() -> int:
    give_back_memory()
    return held_memory()


def _extra(work: Callable[[], object]) -> int:
    """Bytes that `work` holds at its peak, above what is held before it."""
    before = _held()
    forget_peak()
    work()
    return max(0, peak_memory() - before)


class _Decodes(Exception):
    """Not an error: work has come to the point where it decodes."""


@contextmanager
def _until_decoding(network: nn.Module, found: list[int]) -> Iterator[None]:
    """End the work inside the `with` where it uses a part of the network by itself, as decoding
    does; `found` gets the number of rows it gives to that part."""
    inside: list[bool] = []

    def note(module: nn.Module, given: tuple[Tensor, ...]) -> None:
        if not inside:
            found.append(len(given[0]))
            raise _Decodes

    parts = [part for part in network.modules() if not list(part.children())]
    hooks = [
        network.register_forward_pre_hook(lambda *_: inside.append(True)),
        network.register_forward_hook(lambda *_: inside.clear()),
        *(part.register_forward_pre_hook(note) for part in parts),
    ]
    try:
        yield
    except _Decodes:
        pass
    finally:
        for hook in hooks:
            hook.remove()


def _wanted(training: Training, part: Sequence[Any]) -> Tensor:
    """Tokens in each output that is wanted (N,), the shortest first."""
    prepared = [ids for ids in training.task.prepare(part) if ids is not None]
    return torch.tensor(sorted(training.task.lengths(ids)[-1] for ids in prepared) or [1])


@contextmanager
def stopping_at(network: Any, lengths: Tensor) -> Iterator[None]:
    """Inside the `with` the network writes outputs that are as long as those wanted: of a batch
    some rows stop early and some late, as many as in `lengths` (N,), and the last the latest."""
    if not hasattr(network, "step"):  # it writes nothing at all
        yield
        return
    start, step, reorder = network.start, network.step, network.reorder
    written, wanted = 0, torch.empty(0)

    def begin(*given: Any) -> Any:
        nonlocal written
        written = 0
        return start(*given)

    def go_on(state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        nonlocal written, wanted
        if not written:  # the first step has a row for each output
            places = torch.arange(1, len(tokens) + 1) * len(lengths) // len(tokens)
            wanted = lengths[(places - 1).clamp(min=0)]
        written += 1
        log_probs, state = step(state, tokens)
        stops = torch.where(wanted <= written, 0.0, -torch.inf)
        log_probs[:, STOP] = stops.to(log_probs)
        return log_probs, state

    def choose(state: Any, rows: Tensor) -> Any:
        nonlocal wanted
        wanted = wanted[rows] if written else wanted
        return reorder(state, rows)

    network.start, network.step, network.reorder = begin, go_on, choose
    try:
        yield
    finally:
        del network.start, network.step, network.reorder


def _line(place: int, first: tuple[int, int], second: tuple[int, int]) -> int:
    """The height at a place to the right of two points (place, height), on a line through both
    that does not fall.

    >>> _line(40, (10, 500), (20, 600))
    800
    """
    (near, low), (far, high) = first, second
    rise = max(0.0, (high - low) / (far - near)) if far > near else high / far
    return round(high + rise * (place - far))


def _evenly(items: Sequence[Any], most: int) -> list[Any]:
    return list(items[:: -(-len(items) // most) or 1])


def _size(examples: Sequence[Any]) -> int:
    """Bytes of some examples, each a dataclass of strings."""
    texts = [getattr(e, name) for e in examples for name in e.__dataclass_fields__]
    return sum(map(getsizeof, [*examples, *texts]))
