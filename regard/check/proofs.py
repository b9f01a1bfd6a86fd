"""All checks, on a trained task or on any network: the table below is the list."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import torch
from torch import nn

from regard.check.attention import attention
from regard.check.guess import subject_of
from regard.check.learning import accumulation, gradients, no_nan, save_load
from regard.check.report import Finding, Report, does_not_apply
from regard.check.resuming import resume
from regard.check.sequences import alone, causality, padding, padding_content
from regard.check.steps import beam_one, cache
from regard.check.subject import ROUGH, Subject
from regard.models.weights import load_weights, weights_of
from regard.tasks.task import Task

Check = Callable[[Subject, int, Random], Finding]

CHECKS: dict[str, Check] = {
    "causality": causality,
    "padding_right": partial(padding, "right"),
    "padding_left": partial(padding, "left"),
    "padding_content": padding_content,
    "alone": alone,
    "cache": cache,
    "beam_one": beam_one,
    "attention": attention,
    "no_nan": no_nan,
    "gradients": gradients,
    "accumulation": accumulation,
    "save_load": save_load,
}
CASES = 100  # of each check, about


def check_task(
    task: Task[Any],
    network: nn.Module,
    *,
    cases: int = CASES,
    seed: int = 0,
    heard: Callable[[Finding], object] = id,
) -> Report:
    """Every check on a task's network. The network is copied, never touched. `heard` is told of
    every finding as soon as it is there."""

    def fresh(old: nn.Module) -> nn.Module:
        new = task.network()
        load_weights(new, weights_of(old), "memory")
        return new

    subject = Subject(
        network,
        task.probe(),
        rows=lambda dice, rows: [ids for ids in task.prepare(task.invent(dice, rows)) if ids],
        loss=lambda network, batch: task.loss(network, batch),
        fresh=fresh,
    )
    last = partial(resume, task, subject.original)
    return _report(subject, last, [], cases, seed, heard)


def check_module(module: nn.Module, *, cases: int = CASES, seed: int = 0, **said: Any) -> Report:
    """Every check on a network that somebody wrote; see `guess.subject_of` for what to say."""
    subject, guesses = subject_of(module, **said)
    not_ours = does_not_apply("resume", "Regard did not train it: its checkpoints are its owner's")
    return _report(subject, lambda *_: not_ours, guesses, cases, seed, id)


def _report(
    subject: Subject,
    last: Callable[[int, Random], Finding],
    notes: list[str],
    cases: int,
    seed: int,
    heard: Callable[[Finding], object],
) -> Report:
    found = []
    checks: list[Callable[[int, Random], Finding]] = [partial(c, subject) for c in CHECKS.values()]
    for check in [*checks, last]:
        with torch.random.fork_rng(devices=[]):
            found.append(check(cases, Random(seed)))
        heard(found[-1])
    if subject.tolerance == ROUGH:
        notes = [*notes, "Run in float32, float64 being beyond it: differences up to 1e-4 pass."]
    return Report(tuple(found), tuple(notes))
