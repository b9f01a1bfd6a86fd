"""B11, B12, B13: padding, memory and the future, on every kind of network that a recipe can name.

The networks are tiny and untrained; what is checked does not depend on what they learned. The
checks are those of `regard check`, with many more cases.
"""

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import torch
from pydantic import ValidationError

from regard.check.report import Finding
from regard.check.sequences import alone, causality, padding, padding_content
from regard.check.steps import beam_one, cache
from regard.check.subject import EXACT, Subject, difference
from regard.config import Settings
from regard.label_shapes import MeanSettings, ReadingRnnSettings, ReadingStackSettings
from regard.nn.attention import attend
from regard.nn.mask import Mask
from regard.shapes import (
    DecoderSettings,
    RecurrentWriterSettings,
    Seq2SeqSettings,
    TransformerSettings,
)
from regard.tasks import TASKS
from regard.tasks.classify import Classify
from regard.tasks.recipe import make_recipe
from soak.campaign import Campaign, Outcome

Check = Callable[[Subject, int, random.Random], Finding]

LONGEST = 40
STACK = {"width": 16, "heads": 4, "max_length": LONGEST}
# The shapes that each task's networks can have. A task that is not here fails.
BASES: dict[str, dict[type[Settings], dict[str, Any]]] = {
    "transduce": {TransformerSettings: STACK, Seq2SeqSettings: {"width": 8, "max_length": LONGEST}},
    "language_model": {
        DecoderSettings: STACK,
        RecurrentWriterSettings: {"width": 8, "max_length": LONGEST},
    },
    "classify": {
        ReadingStackSettings: STACK,
        ReadingRnnSettings: {"width": 8, "max_length": LONGEST},
        MeanSettings: {"width": 8, "max_length": LONGEST},
    },
}
STACKS: list[dict[str, Any]] = [
    {"kv_heads": 1},
    {"kv_heads": 2, "head_width": 6},
    {"window": 3},
    {"dropout": 0.2},
    {"norm_epsilon": 1e-3},
    {"positions": "rotary", "norm": "rms", "activation": "swiglu", "kv_heads": 2},
]
ALSO: dict[type[Settings], list[dict[str, Any]]] = {  # numbers that make another computation
    TransformerSettings: STACKS,
    DecoderSettings: STACKS,
    ReadingStackSettings: [
        *STACKS,
        {"causal": True, "pooling": "last", "segments": 0},
        {"pairs": 30, "spelling": 30, "wide": 30},
    ],
    ReadingRnnSettings: [
        {"cell": "lstm", "layers": 2, "projection": 5, "bidirectional": False},
        {"spelling": 30, "skipping": 0.2, "skipped_run": 3},
    ],
    MeanSettings: [{"word_dropout": 0.2, "judge_dropout": 0.2, "skipping": 0.2, "pairs": 30}],
    RecurrentWriterSettings: [{"cell": "lstm", "layers": 2, "projection": 5, "dropout": 0.2}],
    Seq2SeqSettings: [
        {"cell": "lstm", "layers": 2, "projection": 5, "bidirectional": True},
        {"attention": "general", "scope": "local-p", "reach": 2, "bidirectional": True},
        {"attention": "none", "copying": True, "reverse_source": True},
        {"attention": "dot", "input_feeding": False, "dropout": 0.2},
    ],
}


def variants(of: type[Settings]) -> Iterator[dict[str, Any]]:
    """The base, then every choice of every setting that has choices, one at a time; a new choice
    in the settings is covered as soon as it is there."""
    yield {}
    for name, field in of.model_fields.items():
        kind = field.annotation
        choices = get_args(kind) if get_origin(kind) is Literal else (True, False) * (kind is bool)
        yield from ({name: choice} for choice in choices if choice != field.default)
    yield from ALSO[of]


def subjects(folder: Path) -> Iterator[tuple[str, Subject]]:
    """Every task's network, in every variant, with tokenizers fitted on a few lines: one for each
    side, or one for both where tokens are copied."""
    data = folder / "pairs.tsv"
    data.write_text("".join(f"{'abcde'[i % 5] * (i % 7 + 1)} z\t{i % 3}\n" for i in range(60)))
    for name in TASKS:
        tasks = {copying: fitted(name, data, copying) for copying in (False, True)}
        for of, base in BASES[name].items():
            for variant in variants(of):
                task = tasks[bool(variant.get("copying"))]
                try:
                    shape = of(**{**base, **variant})
                except ValidationError:  # what is refused is no network
                    continue
                task.recipe = task.recipe.model_copy(update={"model": shape})
                torch.manual_seed(0)
                told = ", ".join(f"{k} {v}" for k, v in variant.items()) or "plain"
                kind = task.recipe.model.kind
                yield f"{name} by {kind} ({told})", Subject(task.network(), task.probe())
    yield "classify by bag", _bag(data, letters=0)
    yield "classify by bag (letters 3)", _bag(data, letters=3)


def _bag(data: Path, letters: int) -> Subject:
    """Learned: a bag that has not is nothing but zeros."""
    recipe, _ = make_recipe("classify", [data], ["model.kind=bag", f"model.letters={letters}"])
    train = Classify.read(recipe).train
    task = Classify.fit(recipe, train)
    network = task.network()
    task.begin(network, train)
    return Subject(network, task.probe())


def fitted(name: str, data: Path, copying: bool) -> Any:
    kind = TASKS[name]
    tree: dict[str, Any] = {"train": {"steps": 1}}
    tree |= {"model": {"copying": copying}} if name == "transduce" else {}
    recipe, _ = make_recipe(name, [data], tree=tree)
    return kind.fit(recipe, kind.read(recipe).train)


def campaign(
    checks: dict[str, tuple[Check, float]], cases: int, dice: random.Random, folder: Path
) -> Outcome:
    """Each check on each network; a check's share says how many of the cases it gets."""
    outcome, worst = Outcome(), 0.0
    found = list(subjects(folder))
    for told, subject in found:
        for name, (check, share) in checks.items():
            many = max(1, round(share * cases / len(found)))
            finding = check(subject, many, dice)
            if finding.passed is None:
                continue
            outcome.cases += finding.cases
            worst = max(worst, finding.worst or 0.0)
            if not finding.passed:
                outcome.losses.append(f"{told}: {name}: {finding.note}")
    outcome.notes.append(f"{len(found)} networks; worst difference {worst:.1e} in float64")
    return outcome


def padded_campaign(cases: int, dice: random.Random, folder: Path) -> Outcome:
    checks: dict[str, tuple[Check, float]] = {
        "padding_right": (partial(padding, "right"), 0.3),
        "padding_content": (padding_content, 0.3),
        "alone": (alone, 0.3),
    }
    outcome = campaign(checks, cases, dice, folder)
    worst = 0.0
    for number in range(max(1, cases // 10)):
        gap = left_padded_gap(random.Random(dice.random()))
        worst = max(worst, gap)
        outcome.saw(gap <= EXACT, f"attend with padding on the left differs by {gap}, #{number}")
    outcome.notes.append(f"{cases // 10:,} attentions padded on the left: worst {worst:.1e}")
    return outcome


def left_padded_gap(dice: random.Random) -> float:
    """Our networks pad on the right only; their attention takes any mask."""
    generator = torch.Generator().manual_seed(dice.randrange(2**31))
    B, H, T, D, more = (dice.randint(1, n) for n in (3, 3, 9, 8, 5))
    q, k, v = torch.randn(3, B, H, T, D, generator=generator, dtype=torch.float64)
    junk = torch.randn(2, B, H, more, D, generator=generator, dtype=torch.float64)
    real = torch.arange(more + T) >= more
    plain, _ = attend(q, k, v, mask=Mask(causal=True))
    longer = [torch.cat([junk[i], x], dim=2) for i, x in enumerate((k, v))]
    padded, _ = attend(q, *longer, mask=Mask(causal=True, dense=real[None, None, None]))
    return difference(plain, padded)


CAMPAIGNS = (
    Campaign(
        "B11",
        "padding, left or right, and whatever stands in it, changes nothing",
        full=20_000,
        short=300,
        run=padded_campaign,
    ),
    Campaign(
        "B12",
        "a step with memory equals a whole pass, and a beam of one is greedy search",
        full=20_000,
        short=100,
        run=partial(campaign, {"cache": (cache, 0.8), "beam_one": (beam_one, 0.2)}),
    ),
    Campaign(
        "B13",
        "whatever later tokens are, earlier outputs are the same to the bit",
        full=30_000,
        short=300,
        run=partial(campaign, {"causality": (causality, 1.0)}),
    ),
)
