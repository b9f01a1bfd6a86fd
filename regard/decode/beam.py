"""Beam search: keep the likeliest few beginnings of every output, not only the likeliest one.

All sentences share one batch, whose rows are their live paths. In each step every path is
extended by every token, and a sentence keeps its `beam` best extensions: those that end in
STOP, or where `done` says so, are over, the others live on. So a beam of 1 is exactly greedy
search.

R rows   V vocabulary   N sentences in the batch   K beam
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor

from regard.config import DecodeSettings
from regard.decode.stepper import Decoded, Done, State, Stepper, advance, never
from regard.names import START, STOP

Extension = tuple[float, int, int]  # score with the new token, row it extends, new token


@torch.no_grad()
def beam_search(
    stepper: Stepper[State],
    inputs: Any,
    rows: int,
    settings: DecodeSettings,
    *,
    best: int = 1,
    done: Done = never,
) -> list[list[Decoded]]:
    """The `best` outputs found for each of the `rows` inputs, best first.

    Outputs are ranked by `value`; of equals, the one found first wins. A sentence leaves the
    batch when none of its live paths can get among its `best` any more. Paths that the length
    limit cut short rank last. Fewer than `best` come back where a narrow beam found no more.
    """
    if not rows:
        return []
    sentences = [Sentence(partial(done, row)) for row in range(rows)]
    searching, tokens, state = sentences, [START] * rows, stepper.start(inputs)
    for _ in range(settings.max_length):
        log_probs, state = advance(stepper, state, tokens)
        paths = [path for sentence in searching for path in sentence.live]
        owners = [n for n, sentence in enumerate(searching) for _ in sentence.live]
        extensions = best_extensions(log_probs, paths, owners, settings.beam)
        parents: list[int] = []
        for sentence, found in zip(searching, extensions, strict=True):
            parents += sentence.grow(paths, found, settings, best)
        searching = [sentence for sentence in searching if sentence.live]
        if not searching:
            break
        state = stepper.reorder(state, torch.tensor(parents))
        tokens = [path.tokens[-1] for sentence in searching for path in sentence.live]
    return [(sentence.done + sentence.live)[:best] for sentence in sentences]


@dataclass(slots=True)
class Sentence:
    """The search for one output: paths still growing and paths that ended, each best first."""

    over: Callable[[list[int]], bool]
    live: list[Decoded] = field(default_factory=lambda: [Decoded([], 0.0, False)])
    done: list[Decoded] = field(default_factory=list)

    def grow(
        self, paths: list[Decoded], found: list[Extension], settings: DecodeSettings, best: int
    ) -> list[int]:
        """Put `found` in the place of the live paths; returns the rows that these extend."""
        self.live, going = [], []
        for score, row, token in found:
            tokens = paths[row].tokens + [token] * (token != STOP)
            if token == STOP or self.over(tokens):
                self.done.append(Decoded(tokens, score, True))
            else:
                self.live.append(Decoded(tokens, score, False))
                going.append(row)
        self.done.sort(key=lambda output: -value(output, settings.length_penalty))
        if self.settled(settings, best):
            self.live, going = [], []
        return going

    def settled(self, settings: DecodeSettings, best: int) -> bool:
        """True when there are live paths, but none can get among the `best` any more.

        A path's score can only fall, while a longer output is divided by a larger penalty: its
        value never rises above today's score over the penalty of the longest output, to which
        `done` may add an end.
        """
        if not self.live or len(self.done) < best:
            return False
        alpha = settings.length_penalty
        hope = self.live[0].score / penalty(settings.max_length + 1, alpha)
        return hope <= value(self.done[best - 1], alpha)


def best_extensions(
    log_probs: Tensor, paths: list[Decoded], owners: list[int], beam: int
) -> list[list[Extension]]:
    """Each sentence's `beam` best extensions, best first; of equals, the earlier row, lower token.

    log_probs  (R, V) of the token that extends each path
    owners     the sentence each path belongs to: 0, 0, 0, 1, 1, 2, ...

    Tensors find which extensions are good enough (a few more than `beam` where scores are
    equal); only those are put in order, since `topk` promises nothing about equals.
    """
    scores = log_probs.new_tensor([path.score for path in paths], dtype=torch.float64)  # (R,)
    top = log_probs.topk(min(beam, log_probs.size(1))).values  # (R, at most K): none needs more
    totals = top.double() + scores[:, None]
    enough = totals >= _bar(totals, owners, beam)[:, None]
    least = top.masked_fill(~enough, torch.inf).amin(dim=1, keepdim=True)  # (R, 1)
    rows, tokens = (log_probs >= least).nonzero(as_tuple=True)
    totals = log_probs[rows, tokens].double() + scores[rows]
    extensions: list[list[Extension]] = [[] for _ in range(owners[-1] + 1)]
    for found in zip(totals.tolist(), rows.tolist(), tokens.tolist(), strict=True):
        extensions[owners[found[1]]].append(found)
    return [sorted(found, key=lambda e: (-e[0], e[1], e[2]))[:beam] for found in extensions]


def _bar(totals: Tensor, owners: list[int], beam: int) -> Tensor:
    """The score (R,) that an extension of each row needs to be among its sentence's `beam` best."""
    owner = torch.tensor(owners, device=totals.device)  # (R,)
    first = torch.searchsorted(owner, owner)  # (R,) the first row of the same sentence
    place = torch.arange(len(owners), device=totals.device) - first
    grid = totals.new_full((owners[-1] + 1, beam, totals.size(1)), -torch.inf)
    grid[owner, place] = totals
    bar = grid.flatten(1).topk(beam).values[:, -1]  # (N,)
    return bar.clamp_min(torch.finfo(totals.dtype).min)[owner]  # -inf is never enough


def value(output: Decoded, alpha: float) -> float:
    """What outputs are ranked by: the score over the length penalty, an end counted as a token."""
    return output.score / penalty(len(output.tokens) + output.finished, alpha)


def penalty(length: int, alpha: float) -> float:
    """Wu et al. 2016, eq. 14, without the coverage term.

    >>> penalty(7, 0.0), penalty(7, 1.0)
    (1.0, 2.0)
    """
    return float(((5 + length) / 6) ** alpha)
