"""`regard predict`: answer inputs from arguments, a file or a pipe, in order."""

import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING

import click

from regard.cli.completion import complete_run
from regard.cli.console import echo_json, say
from regard.cli.decoding import decoding_options, given, unbroken
from regard.errors import ConfigError
from regard.names import REMARKS, counted

if TYPE_CHECKING:
    from regard.names import Prediction
    from regard.run import Run

SAID = 5  # problems told one by one; after that they are only counted


@click.command()
@click.argument("run", type=click.Path(path_type=Path, readable=False), shell_complete=complete_run)
@click.argument("inputs", nargs=-1)
@click.option(
    "--file",
    type=click.Path(path_type=Path, readable=False),
    help="One input a line; of a .tsv, .csv or .jsonl file, the cells of its source column (of "
    "both columns, where two texts are judged together).",
)
@click.option("--source", help="Column to read, where it is not called as in training.")
@click.option("--n", type=int, help="Outputs for each input, on one line with tabs between.")
@decoding_options
@click.option("--trace", is_flag=True, help="Show how each output grows, token by token.")
@click.option(
    "--explain",
    is_flag=False,
    flag_value="",
    metavar="[HOW]",
    help="Of labels: which words mattered, by weights, gradient, leave-one-out or rollout.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, readable=False),
    help="With --explain: write a page.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def predict(
    run: Path,
    inputs: tuple[str, ...],
    file: Path | None,
    source: str | None,
    trace: bool,
    explain: str | None,
    html: Path | None,
    as_json: bool,
    **decoding: float | None,
) -> None:
    """Answer INPUTS, or the lines of a file, or of standard input.

    Every input is answered by one line, in order. An input that is empty or too long for the model
    is answered by an empty line and a remark on standard error; the exit code is 2 then. "score"
    is the natural logarithm of the output's probability.

    Two texts that are judged together are one input, with a tab between them: first<TAB>second; of
    a table both columns are read. Labels are told alone in a pipe, in a terminal with their
    probability; --n tells the likeliest ones.

    \b
    regard predict runs/demo attention transformer
    regard predict runs/demo attention --n 3 --temperature 0.8 --seed 1
    regard predict runs/demo attention --trace
    regard predict runs/demo --file words.txt --beam 8 --json
    regard predict runs/summarize --file mails.csv --source body
    regard predict runs/classify "A great film." --explain
    regard predict runs/paraphrase $'It rains.\\tIt is raining.'
    cat words.txt | regard predict runs/demo > answers.txt
    """
    if file and (inputs or trace):
        raise ConfigError("give inputs or --file, not both; --trace goes with inputs.")
    if html and explain is None:
        raise ConfigError("--html: is the page of an explanation; add --explain.")
    from regard.run import CHUNK, Run

    chosen = given(decoding)
    opened = Run.load(run)
    if trace:
        from regard.cli.trace import show_traces

        sys.exit(show_traces(opened, inputs, chosen, as_json=as_json))
    if explain is not None:
        from regard.cli.explaining import show_explanations

        for name in chosen:
            raise ConfigError(f"--{name.replace('_', '-')}: an explanation has no such setting.")
        show_explanations(opened, inputs, explain or None, html, as_json=as_json)
        return
    if inputs:
        predictions = opened.stream(inputs, **chosen)
    elif file:
        predictions = opened.stream(_cells_or_lines(opened, file, source), **chosen)
    else:
        predictions = opened.stream_chunks(as_they_come(_lines(None), CHUNK), **chosen)
    told = Remarks(getattr(opened.recipe, "keep", ""))
    for number, prediction in enumerate(predictions, start=1):
        told.note(number, prediction)
        if as_json:
            echo_json(prediction.as_json())
        else:
            click.echo(_line(prediction, chances=_in_terminal()))
    sys.exit(told.close())


def _in_terminal() -> bool:
    return sys.stdout.isatty()


def _line(prediction: "Prediction", *, chances: bool) -> str:
    """The outputs with tabs between them. With `chances`, how likely is told behind each label: to
    a person, not to a program that reads labels."""
    found, several = (prediction, *prediction.others), bool(prediction.others)
    outputs = [_one_line(one.output, several) for one in found]
    if not chances or prediction.probabilities is None:
        return "\t".join(outputs)
    return "\t".join(
        f"{output or '(no label)'}\t{100 * math.exp(one.score or 0.0):.0f} %"
        for output, one in zip(outputs, found, strict=True)
    )


def _one_line(output: str, several: bool) -> str:
    """Where several outputs stand on a line, a tab inside one would shift the others."""
    return unbroken(output).replace("\t", "\\t") if several else unbroken(output)


def _cells_or_lines(run: "Run", file: Path, source: str | None) -> Iterator[str]:
    """Where two texts are judged together, the cells of both columns."""
    from regard.data.inputs import is_table, read_column, read_two_columns
    from regard.tasks.label_data import joined

    if source is None and not is_table(file):
        return _lines(file)
    data = getattr(run.recipe, "data", None)
    usual = getattr(data, run.task.columns[0], None)
    if second := getattr(data, "other", None):
        pairs, note = read_two_columns(file, source or usual, second)
        cells: Iterator[str] = map(joined, pairs)
    else:
        cells, note = read_column(file, source or usual, fallback=source is None)
    say(note)
    return cells


def _lines(file: Path | None) -> Iterator[str]:
    from regard.data.lines import read_lines

    if file is None and sys.stdin.isatty():
        raise ConfigError(
            'nothing to answer: give inputs, --file, or a pipe, as in "echo hi | ...".'
        )
    yield from (line for _, line in read_lines(file or Path("/dev/stdin")))


def as_they_come(lines: Iterable[str], most: int) -> Iterator[list[str]]:
    """Chunks of what has arrived, as soon as something has: who types a line gets an answer, and
    who pipes a million gets full chunks. Never more than `most` lines wait."""
    arrived: Queue[str | BaseException | None] = Queue(maxsize=most)

    def pump() -> None:
        try:
            for line in lines:
                arrived.put(line)
            arrived.put(None)
        except BaseException as error:  # told after the lines before it are answered
            arrived.put(error)

    Thread(target=pump, daemon=True).start()
    ended = False
    while not ended:
        chunk, last = _drain(arrived, most)
        if chunk:
            yield chunk
        if isinstance(last, BaseException):
            raise last
        ended = last is None


def _drain(
    arrived: "Queue[str | BaseException | None]", most: int
) -> tuple[list[str], str | BaseException | None]:
    """Wait for one thing, then take what else is there; the second is what ended it."""
    item = arrived.get()
    chunk: list[str] = []
    while isinstance(item, str):
        chunk.append(item)
        if len(chunk) == most:
            break
        try:
            item = arrived.get_nowait()
        except Empty:
            break
    return chunk, item


class Remarks:
    """What to say about inputs that could not be answered, or not be read in full. `kept`: which
    part of a long text a classifier reads."""

    def __init__(self, kept: str = "") -> None:
        self.problems, self.unfinished, self.cut, self.kept = 0, 0, 0, kept
        self.unknown: dict[str, None] = {}

    def note(self, number: int, prediction: "Prediction") -> None:
        self.unknown |= dict.fromkeys(prediction.unknown[:SAID] if len(self.unknown) < 20 else ())
        self.unfinished += not prediction.finished
        self.cut += prediction.cut
        if prediction.problem:
            self.problems += 1
            if self.problems <= SAID:
                say(f"regard: input {number}: {prediction.problem}")

    def close(self) -> int:
        """Say the rest; the exit code."""
        if self.unknown:
            shown = " ".join(repr(piece) for piece in list(self.unknown)[:10])
            say(f"regard: warning: never met in training, so read as unknown: {shown}")
        if self.unfinished:
            say(
                f"regard: warning: outputs cut at their greatest length: {self.unfinished:,}. A "
                "longer one is allowed by decode.max_length in recipe.toml."
            )
        for cut in counted({"cut_texts": self.cut, "kept": self.kept}, REMARKS):
            say(f"regard: warning: {cut}.")
        if self.problems > SAID:
            say(f"regard: {self.problems:,} inputs in all could not be answered.")
        return 2 if self.problems else 0
