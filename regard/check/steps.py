"""Writing one token at a time: what is remembered between steps changes nothing.

B batch   T positions   V vocabulary
"""

from functools import partial
from random import Random
from typing import Any

import torch
from torch import Tensor

from regard.check.report import Finding, does_not_apply
from regard.check.subject import Batch, Subject, difference, worst
from regard.check.trace import first_difference, narrowed
from regard.config import DecodeSettings
from regard.decode.beam import beam_search
from regard.decode.search import decode
from regard.decode.stepper import FORBIDDEN

WRITTEN = 10  # tokens decoded, at most


def cache(subject: Subject, cases: int, dice: Random) -> Finding:
    """One pass over a whole text, and the same text a token at a time."""
    if subject.probe.step is None:
        return does_not_apply("cache", "it was given no step to write with (step=...)")
    gaps, failed, done = [], None, 0
    while done < cases:
        batch = subject.inputs(dice)
        whole = subject.call(subject.network, batch).log_softmax(dim=-1)
        found = _stepped(subject, batch)
        gap = [difference(whole[:, t], step) for t, step in enumerate(found)]
        late = next((t for t, g in enumerate(gap) if g > subject.tolerance), None)
        failed = failed or (None if late is None else (batch, late))
        gaps.extend(gap)
        done += len(whole)
    note = "" if failed is None else _first_step(subject, *failed)
    return Finding("cache", done, worst(gaps), failed is None, note)


@torch.no_grad()
def _stepped(subject: Subject, batch: Batch) -> list[Tensor]:
    """The scores (B, V) of every step, as log-probabilities."""
    ids, state, found = batch.sides[-1][0], None, []
    for t in range(ids.size(1)):
        scores, state = _step(subject, batch, state, ids[:, t])
        found.append(scores.log_softmax(dim=-1))
    return found


def _step(subject: Subject, batch: Batch, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
    assert subject.probe.step is not None
    return subject.probe.step(subject.network, state, tokens, *batch.flat[:-2])


@torch.no_grad()
def _first_step(subject: Subject, batch: Batch, late: int) -> str:
    """The layer whose output in the first wrong step is not that of the whole pass."""
    ids, state = batch.sides[-1][0], None
    for t in range(late):
        _, state = _step(subject, batch, state, ids[:, t])
    layer = first_difference(
        subject.network,
        partial(subject.call, subject.network, batch),
        partial(_step, subject, batch, state, ids[:, late]),
        narrowed(ids.size(1), late, 1),
        lambda tensor: tensor,
        subject.tolerance,
    )
    return f"step {late + 1} differs from the whole pass, first at {layer}"


# Searching


class WithMemory:
    """A network that is asked for one token at a time, a single row of it: there is nothing to
    reorder but that row."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    def start(self, batch: Batch) -> tuple[Batch, Any]:
        return batch, None

    def step(self, state: tuple[Batch, Any], tokens: Tensor) -> tuple[Tensor, Any]:
        batch, inner = state
        scores, inner = _step(self.subject, batch, inner, tokens)
        return scores.log_softmax(dim=-1), (batch, inner)

    def reorder(self, state: Any, rows: Tensor) -> Any:
        return state


class WithoutMemory(WithMemory):
    """The same network, asked with everything written so far in every step."""

    def step(self, state: tuple[Batch, Any], tokens: Tensor) -> tuple[Tensor, Any]:
        batch, ids = state
        ids = tokens[:, None] if ids is None else torch.cat([ids, tokens[:, None]], dim=1)
        mask = torch.ones_like(ids, dtype=torch.bool)
        scores = self.subject.call(
            self.subject.network, batch.with_side(len(batch.sides) - 1, ids, mask)
        )
        return scores[:, -1].log_softmax(dim=-1), (batch, ids)


def beam_one(subject: Subject, cases: int, dice: Random) -> Finding:
    """Greedy search step by step, greedy search by whole passes, and a beam of one: one output."""
    if not subject.probe.sides[-1].causal or not _scores_tokens(subject):
        return does_not_apply("beam_one", "it does not write: nothing comes out token by token")
    ways: list[WithMemory] = [WithoutMemory(subject)]
    ways += [WithMemory(subject)] if subject.probe.step else []
    settings = DecodeSettings(max_length=min(WRITTEN, subject.longest))
    wrong: list[str] = []
    cases = max(1, cases // 4)  # each is a search of many steps, four times
    for _ in range(cases):
        batch = subject.inputs(dice, rows=1)
        found = [decode(way, batch, 1, settings)[0].tokens for way in ways]
        found += [beam_search(way, batch, 1, settings)[0][0].tokens for way in ways]
        if any(tokens != found[0] for tokens in found[1:]):
            wrong.append(f"greedy search without memory wrote {found[0]}, the others {found[1:]}")
    note = f"{len(wrong)} of {cases} outputs differ: {wrong[0]}" if wrong else ""
    return Finding("beam_one", cases, len(wrong) / cases, not wrong, note)


def _scores_tokens(subject: Subject) -> bool:
    """Does every position give a score for each token?"""
    side, output = subject.probe.sides[-1], subject.call(subject.network, subject.inputs(Random(0)))
    return output.dim() == 3 and output.size(-1) == side.vocabulary > max(FORBIDDEN) + 1
