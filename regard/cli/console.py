"""What a person sees while a model trains: a bar on a terminal, plain lines in a pipe, JSON lines
when asked."""

import gc
import json
import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from regard.names import SCORE_TITLES

if TYPE_CHECKING:
    from regard.train.training import Event, Training

SECONDS_BETWEEN_LINES = 5.0
VARIABLE = "_REGARD_COMPLETE"  # click answers the shell when this is set


def say(text: str = "") -> None:
    """Talk: to standard error, so that standard output stays data."""
    click.echo(text, err=True)


def megabytes(size: float) -> str:
    """
    >>> megabytes(3e8), megabytes(12.34e9)
    ('300 MB', '12.3 GB')
    """
    return f"{size / 1e6:,.0f} MB" if size < 1e10 else f"{size / 1e9:.1f} GB"


def in_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def columns(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """The rows as lines, their cells under each other.

    >>> columns([["run", "steps"], ["demo", "9"]], right=[1])
    ['run   steps', 'demo      9']
    """
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        blanks = [" " * (w - cell_len(cell)) for cell, w in zip(row, widths, strict=True)]
        pairs = enumerate(zip(row, blanks, strict=True))
        cells = [pad + cell if i in right else cell + pad for i, (cell, pad) in pairs]
        lines.append("  ".join(cells).rstrip())
    return lines


@contextmanager
def quick_start() -> Iterator[None]:
    """Imports and data make a million objects and no garbage: looking for it costs two seconds."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def command(*words: object) -> str:
    """How to call us again from this shell: regard, or its path when it is not on the PATH."""
    found, ours = shutil.which("regard"), Path(sys.argv[0])
    known = found is not None and ours.exists() and Path(found).samefile(ours)
    program = "regard" if known or ours.name != "regard" else os.path.relpath(ours)
    parts = (os.path.relpath(w) if isinstance(w, Path) else str(w) for w in words)
    return " ".join(map(quoted, [program, *parts]))


def quoted(word: str) -> str:
    """For a shell; a tab as one that survives a terminal and being copied from it.

    >>> print(quoted("it's"), quoted("It rains.\\tIt's wet."))
    'it'"'"'s' $'It rains.\\tIt\\'s wet.'
    """
    if "\t" not in word:
        return shlex.quote(word)
    found = word.replace("\\", "\\\\").replace("'", "\\'").replace("\t", "\\t")
    return f"$'{found}'"


@contextmanager
def stop_on_interrupt() -> Iterator[list[int]]:
    """The first Ctrl-C (or SIGTERM) is noted in the list, the second one ends the process."""
    caught: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)
        say("\nStopping after this step; again to stop at once, without saving ...")

    before = {n: signal.signal(n, note) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def watch(training: "Training", *, as_json: bool) -> bool:
    """Run a training to its end and show it; False when Ctrl-C stopped it."""
    view = JsonView() if as_json else BarView() if sys.stderr.isatty() else LineView()
    with stop_on_interrupt() as caught, view.showing(training):
        try:
            for event in training.run(lambda: bool(caught)):
                view.note(training, event)
        except BrokenPipeError:  # who read our output went away: stop, and lose nothing
            training.save()
            caught.append(signal.SIGPIPE)
    if caught:
        say(f"\nStopped after step {training.progress.step:,} of {training.steps:,}.")
    return not caught


@contextmanager
def telling() -> Iterator[None]:
    """Inside the `with`, work that takes a while says how far it is: a bar, or a line now and then
    where nobody looks at the terminal."""
    from regard.progress import listening

    if not sys.stderr.isatty():
        with listening(_Lines()):
            yield
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        rows: dict[str, Any] = {}

        def show(what: str, done: int, whole: int) -> None:
            if what not in rows:
                rows[what] = bar.add_task(what, total=whole)
            bar.update(rows[what], completed=done)

        with listening(show):
            yield


class _Lines:
    """One line every few seconds, with the time that is left."""

    def __init__(self) -> None:
        self.began = self.said = time.perf_counter()

    def __call__(self, what: str, done: int, whole: int) -> None:
        now = time.perf_counter()
        if now - self.said < SECONDS_BETWEEN_LINES:
            return
        left = (now - self.began) * (whole - done) / max(1, done)
        self.said = now
        say(f"{what}: {100 * done / max(1, whole):.0f} %, {left:.0f} s left")


class LineView:
    """One line every few seconds, and one for each validation."""

    def __init__(self) -> None:
        self.said = self.began = time.perf_counter()
        self.first_step = self.first_tokens = 0

    @contextmanager
    def showing(self, training: "Training") -> Iterator[None]:
        self.said = self.began = time.perf_counter()
        self.first_step, self.first_tokens = training.progress.step, training.progress.tokens
        yield

    def note(self, training: "Training", event: "Event") -> None:
        from regard.train.training import Validated

        now = time.perf_counter()
        if isinstance(event, Validated) or now - self.said > SECONDS_BETWEEN_LINES:
            self.said = now
            say(self.line(training))

    def line(self, training: "Training") -> str:
        facts = self.facts(training)
        if training.steps:
            facts.insert(0, f"step {training.progress.step:,}/{training.steps:,}")
        return "  ".join(facts)

    def facts(self, training: "Training") -> list[str]:
        from regard.train.memory import peak_memory

        progress, passed = training.progress, time.perf_counter() - self.began
        scores = [f"validation {k} {v:.3g}{_unit(k)}" for k, v in progress.validation.items()]
        if not training.steps:  # a bag learns at once
            return [*scores, megabytes(peak_memory())]
        done = max(1, progress.step - self.first_step)
        left = passed / done * (training.steps - progress.step)
        return [
            f"loss {progress.mean_loss or 0:.3f}",
            *scores,
            f"{(progress.tokens - self.first_tokens) / max(passed, 1e-9):,.0f} tokens/s",
            f"{int(left // 60)}:{int(left % 60):02d} left",
            megabytes(peak_memory()),
        ]


def _unit(score: str) -> str:
    return " %" if SCORE_TITLES.get(score, "").endswith("%") else ""


class BarView(LineView):
    """A bar with rate and time left, redrawn a few times a second."""

    @contextmanager
    def showing(self, training: "Training") -> Iterator[None]:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        with super().showing(training):
            columns = BarColumn(), TaskProgressColumn(), TextColumn("{task.description}")
            with Progress(*columns, console=Console(stderr=True)) as self.bar:
                start = training.progress.step
                self.row = self.bar.add_task("", total=training.steps, completed=start)
                yield

    def note(self, training: "Training", event: "Event") -> None:
        now = time.perf_counter()
        if now - self.said > 0.2 or training.progress.step == training.steps:
            self.said = now
            text = "  ".join(self.facts(training))
            self.bar.update(self.row, completed=training.progress.step, description=text)


class JsonView(LineView):
    """Every step and every validation as one JSON object a line, on standard output."""

    def note(self, training: "Training", event: "Event") -> None:
        from regard.train.loop import Step
        from regard.train.training import Validated

        if isinstance(event, Step):
            echo_json({"step": event.number, "loss": event.loss, "rate": event.rate})
        elif isinstance(event, Validated):
            echo_json({"step": event.step, "validation": event.scores, "better": event.better})


def echo_json(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # half a character, or a terminal that knows few letters
        text = json.dumps(value)
    click.echo(text)
