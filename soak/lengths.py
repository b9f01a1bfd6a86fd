"""C10: what is longer than the model takes is counted and told, never cut.

Each set-up has tokenizers of its own, texts around the limit on both sides, and a tiny network
whose every call is watched: what it was given must be the whole text, to the last id.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from click.testing import CliRunner
from torch import nn

from regard.cli.predict import predict as predict_command
from regard.config import DecodeSettings, TokenizerSettings
from regard.data.pairs import Pair
from regard.models.copying import Copying
from regard.models.encoder import Source
from regard.models.predictor import Predictor
from regard.names import PAD, START
from regard.run import Run
from regard.shapes import TransformerSettings
from regard.tasks.transduce import Transduce
from regard.text import TOKENIZERS, Tokenizer
from regard.train.training import Training
from soak.campaign import Campaign, Outcome
from soak.doors import recipe_for

SYLLABLES = ("ba", "Ko", "mé", "日", "ti 9", " ", "un", "!", "Zu ", "🙂")
Row = tuple[int, ...]


class Remembering(Copying):
    """A baseline that only knows what it was trained on, which is nothing."""

    pairs: tuple[tuple[str, str], ...] = ()


class Watched(Transduce):
    def load_baselines(self, folder: Path) -> dict[str, Predictor]:
        return {"nearest": Remembering()}


@dataclass
class Calls:
    """Rows of ids that a network was given, without padding."""

    sources: Counter[Row] = field(default_factory=Counter)
    targets: Counter[Row] = field(default_factory=Counter)

    def note(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        if isinstance(given[0], Source):  # the encoder
            self.sources.update(map(_unpadded, given[0].ids.tolist()))
        else:
            self.targets.update(map(_unpadded, given[0].tolist()))


def _unpadded(row: list[int]) -> Row:
    return tuple(i for i in row if i != PAD)  # no text has a PAD of its own


@contextmanager
def watched(network: nn.Module) -> Iterator[Calls]:
    calls = Calls()
    hooks = [
        module.register_forward_pre_hook(calls.note)
        for name, module in network.named_children()
        if name in ("encoder", "decoder")
    ]
    yield calls
    for hook in hooks:
        hook.remove()


@dataclass
class SetUp:
    """A task with its limit, its pairs, and how long each is in tokens, counted by `encode`."""

    task: Watched
    limit: int
    pairs: list[Pair]
    about: str

    def __post_init__(self) -> None:
        self.network: nn.Module = self.task.network().eval()

    def source(self, text: str) -> Row:
        return tuple(self.task.source.encode(text).ids)

    def target(self, text: str) -> Row:
        return tuple(self.task.target.encode(text).ids)

    @property
    def trained(self) -> list[Pair]:
        """Those that fit: the target needs room for STOP."""
        return [
            pair
            for pair in self.pairs
            if 0 < len(self.source(pair.source)) <= self.limit
            and len(self.target(pair.target)) + 1 <= self.limit
        ]


def set_up(dice: random.Random) -> SetUp:
    kinds = [dice.choice(list(TOKENIZERS)) for _ in range(2)]
    source, target = (
        TokenizerSettings(kind=kind, size=300, lowercase=dice.random() < 0.5) for kind in kinds
    )
    shared = dice.random() < 0.3
    pairs = [Pair(_text(dice), _text(dice)) for _ in range(dice.randint(20, 40))]
    recipe = recipe_for(path="pairs.tsv").model_copy(
        update={"source": source, "target": None if shared else target, "metrics": ("exact_match",)}
    )
    fitted = Watched.fit(recipe, pairs)
    middle = dice.choice(pairs)  # fits exactly, on one side
    limit = max(len(fitted.source.ids(middle.source)), len(fitted.target.ids(middle.target)) + 1)
    model = TransformerSettings(
        width=8, heads=2, encoder_layers=1, decoder_layers=1, max_length=limit
    )
    update = {"model": model, "decode": DecodeSettings(max_length=min(3, limit))}
    task = Watched(recipe.model_copy(update=update), fitted.source, fitted.target)
    for tokens in range(limit - 2, limit + 3):
        near = _prefix(dice, task.source, tokens), _prefix(dice, task.target, tokens - 1)
        pairs += [Pair(near[0], "ba"), Pair("ba", near[1]), Pair(*near)]
    names = kinds[:1] if shared else kinds
    return SetUp(task, limit, pairs, f"{' to '.join(names)}, at most {limit} tokens")


def _text(dice: random.Random) -> str:
    text = "".join(dice.choices(SYLLABLES, k=dice.randint(1, 12))).strip()
    return text or "ba"


def _prefix(dice: random.Random, tokenizer: Tokenizer, tokens: int) -> str:
    """A text of so many tokens, or of a few more where none has just so many."""
    text = "".join(dice.choices(SYLLABLES, k=20 + 10 * max(tokens, 0))).strip()
    for end in range(1, len(text)):
        if len(tokenizer.ids(text[:end])) >= tokens:
            return text[:end]
    return text


# The three promises


def keep_to_the_limit(cases: int, dice: random.Random, folder: Path) -> Outcome:
    outcome = Outcome()
    left_out = refused = 0
    for number in range(cases):
        made = set_up(dice)
        told = [train(made, folder), answer(made, dice, folder), evaluate(made, folder)]
        for faults, decisions, _ in told:
            outcome.cases += decisions
            outcome.losses += [f"set-up {number}, {made.about}: {fault}" for fault in faults]
        left_out, refused = left_out + told[0][2], refused + told[1][2]
    outcome.notes.append(
        f"{cases:,} set-ups; {left_out:,} examples left out of training and {refused:,} inputs "
        "refused, all of them counted"
    )
    return outcome


Told = tuple[list[str], int, int]  # what was wrong, decisions looked at, those that said no


def train(made: SetUp, folder: Path) -> Told:
    """Training counts what it leaves out, and its network sees all of everything else."""
    training = Training(made.task, made.network, made.pairs, made.pairs, folder)
    expected, faults = made.trained, []
    if training.batches.left_out != len(made.pairs) - len(expected):
        faults.append(
            f"{training.batches.left_out} left out, expected {len(made.pairs) - len(expected)}"
        )
    with watched(made.network) as calls:
        for step in range(training.batches.steps_per_pass):
            for piece in training.pieces_of(step):
                training.loss_of(made.network, piece)
    sources = Counter(made.source(pair.source) for pair in expected)
    targets = Counter((START, *made.target(pair.target)) for pair in expected)
    if calls.sources != sources or calls.targets != targets:
        faults.append("the network was not given the whole texts of one pass")
    return faults, len(made.pairs), training.batches.left_out


def answer(made: SetUp, dice: random.Random, folder: Path) -> Told:
    """`predict` refuses with the place of the input, its tokens and the limit; it reads the rest
    to its end."""
    inputs = [pair.source for pair in made.pairs] + [pair.source + " ß" for pair in made.pairs[:9]]
    path = folder / "inputs.txt"
    path.write_text("".join(f"{text}\n" for text in inputs), encoding="utf-8")
    run = Run(folder, made.task, made.network, {})
    with watched(made.network) as calls, mock.patch.object(Run, "load", return_value=run):
        result = CliRunner().invoke(predict_command, ["run", "--file", str(path), "--json"])
    rows = [json.loads(line) for line in result.stdout_bytes.decode().split("\n") if line]
    faults = [] if [row["input"] for row in rows] == inputs else [f"{len(rows)} answers"]
    lengths = [len(made.source(text)) for text in inputs]
    for number, (row, length) in enumerate(zip(rows, lengths, strict=False), start=1):
        faults += _answered(row, length, made.limit, number, result.stderr)
    refused = sum(length > made.limit for length in lengths)
    if result.exit_code != (2 if refused else 0):
        faults.append(f"{refused} inputs refused, and the exit code is {result.exit_code}")
    fitting = (made.source(text) for text in inputs)
    if calls.sources != Counter(ids for ids in fitting if 0 < len(ids) <= made.limit):
        faults.append("the network did not read the whole inputs")
    return faults, len(inputs), refused


def _answered(row: dict[str, Any], length: int, limit: int, number: int, said: str) -> list[str]:
    problem = row.get("problem", "")
    if (length > limit) != bool(problem):
        return [f"input {number} of {length} tokens: {problem or 'answered'}"]
    named = f"has {length} tokens" in problem and f"at most {limit}" in problem
    told = f"input {number}: {problem}" in said or "inputs in all could not be answered" in said
    return [] if not problem or named and told else [f"input {number}: refused by {problem}"]


def evaluate(made: SetUp, folder: Path) -> Told:
    """`evaluate` says how many do not fit, and counts each of them as wrong."""
    path = folder / "data.jsonl"
    rows = ({"source": pair.source, "target": pair.target} for pair in made.pairs)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = Run(folder, made.task, made.network, {})
    found = run.evaluate(path)
    inputs = list(dict.fromkeys(pair.source for pair in made.pairs))
    fits = [0 < len(made.source(text)) <= made.limit for text in inputs]
    answers = dict(zip(inputs, (p.output for p in run.stream(inputs)), strict=True))
    right = sum(
        answers[text].strip() in {p.target.strip() for p in made.pairs if p.source == text}
        for text, fit in zip(inputs, fits, strict=True)
        if fit
    )
    wanted = {
        "examples": len(inputs),
        "too_long": fits.count(False),
        "exact_match": 100 * right / len(inputs),
    }
    score = found["scores"]["exact_match"]["value"]
    told = {"examples": found["examples"], "too_long": found["too_long"], "exact_match": score}
    faults = [] if told == wanted else [f"evaluate says {told}, expected {wanted}"]
    return faults, len(inputs), fits.count(False)


CAMPAIGNS: tuple[Campaign, ...] = (
    Campaign(
        name="C10",
        promise="what is longer than the model takes is counted and told, never cut",
        full=400,
        short=6,
        run=keep_to_the_limit,
    ),
)
