"""`regard generate`: a language model writes on from a beginning."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regard.cli.completion import complete_run
from regard.cli.console import echo_json, say
from regard.cli.decoding import decoding_options, given
from regard.errors import ConfigError
from regard.text.tokenizer import visible

if TYPE_CHECKING:
    from regard.run import Run


@click.command()
@click.argument("run", type=click.Path(path_type=Path, readable=False), shell_complete=complete_run)
@click.argument("prompt", required=False)
@click.option("--n", type=int, help="So many texts, each a try of its own.")
@click.option("--max-length", type=int, help="Tokens to write, at most.")
@click.option(
    "--beyond",
    type=click.Choice(["slide", "refuse"]),
    help="When the text outgrows what the model has in sight: forget the older half, or refuse.",
)
@decoding_options
@click.option("--trace", is_flag=True, help="Show how each token was chosen, filter by filter.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, one a text.")
def generate(
    run: Path, prompt: str | None, trace: bool, as_json: bool, **decoding: float | str | None
) -> None:
    """Write on from PROMPT, or from what comes through a pipe; the text appears as it is written.

    Plausible is not true: the model continues as its training text might, and knows nothing else.
    --trace shows the chances that each token had, before and after the filters.

    \b
    regard generate runs/gpt "To be, or not"
    regard generate runs/gpt "To be" --n 3 --temperature 1.0 --seed 1
    regard generate runs/gpt "ROMEO:" --max-length 400 --stop "JULIET:"
    regard generate runs/gpt "To be" --top-k 40 --top-p 0.9 --max-length 8 --trace
    cat beginning.txt | regard generate runs/gpt > text.txt
    """
    from regard.run import Run

    opened, chosen = Run.load(run), given(decoding)
    if not hasattr(opened.predictor(), "stepper"):
        raise ConfigError(
            f"{run}: a {opened.recipe.task} model answers inputs; use: regard predict {run}"
        )
    text = _piped() if prompt is None else prompt
    if trace:
        from regard.cli.trace import show_traces

        sys.exit(show_traces(opened, [text], chosen, as_json=as_json))
    writer: Any = opened.predictor(**chosen)
    for remark in writer.remarks(text, writer.settings.max_length):
        say(f"regard: warning: {remark}")
    if as_json or chosen.get("n", 1) > 1:
        _whole(opened, text, chosen, as_json=as_json)
        return
    say(f"[{opened.folder}: what follows the beginning, which is not repeated]")
    for piece in opened.stream(text, **chosen):
        click.echo(_shown(piece) if sys.stdout.isatty() else piece, nl=False)
        sys.stdout.flush()
    click.echo()


def _shown(piece: str) -> str:
    """For a terminal, which what a model writes must not drive."""
    return "\n".join(visible(line, blank=" ") for line in piece.split("\n"))


def _piped() -> str:
    """Read as training reads a file; the line break that echo and editors add at the end is no part
    of a beginning."""
    if sys.stdin.isatty():
        return ""
    text = sys.stdin.buffer.read().decode(errors="surrogateescape")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return text.removesuffix("\n")


def _whole(run: "Run", text: str, chosen: dict[str, Any], *, as_json: bool) -> None:
    found = run.predictor(**chosen).predict([text])[0]
    for number, one in enumerate((found, *found.others), start=1):
        if as_json:
            echo_json({"input": text, "output": one.output, "score": one.score})
        else:
            click.echo(f"[{number}]\n{one.output}\n")
