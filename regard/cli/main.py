"""`regard`: the group of all commands, and what happens when one fails.

Results go to standard output, talk goes to standard error. Our own errors end in a sentence
without a traceback: exit code 2 for a mistake, 3 for a training failure, 130 for Ctrl-C.
"""

import io
import os
import sys
import warnings
from importlib import import_module

import click

from regard.cli.console import VARIABLE
from regard.errors import RegardError, did_you_mean

COMMANDS = {
    "demo": "train the five-minute demonstration",
    "train": "train on your file, or train a recipe",
    "resume": "go on with a stopped run",
    "predict": "answer inputs",
    "generate": "write on from a beginning",
    "chat": "talk to a model in the terminal",
    "evaluate": "score a run beside its baselines",
    "compare": "is one run better than another?",
    "look": "draw what attention looked at",
    "check": "prove that a model is honest",
    "info": "show the card of a run",
    "runs": "list runs with their scores",
    "init": "write a recipe with every setting explained",
    "course": "run a chapter of the course",
    "reproduce": "train what a result was claimed for",
    "data": "check a data file, or measure it",
    "tokenizer": "show how text is cut into pieces",
    "doctor": "look at this machine, for bug reports",
    "completion": "print the script for the Tab key",
}


class Commands(click.Group):
    """Each command is imported when it is named, so `regard --help` starts at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS and ctx.resilient_parsing:  # the Tab key after a typing mistake
            return None
        if name not in COMMANDS:
            ctx.fail(f'there is no command "{name}".{did_you_mean(name, COMMANDS)}')
        command: click.Command = getattr(import_module(f"regard.cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands)
@click.version_option(package_name="regard")
def regard() -> None:
    """Train, look inside and use attention models on your own text.

    \b
    regard demo                              five minutes, from nothing to a trained Transformer
    regard train translate pairs.tsv         the same on your own file
    regard predict runs/demo attention       use it
    regard look runs/demo attention          see what it looked at
    """


def main() -> None:
    warnings.showwarning = lambda message, *_: click.echo(f"regard: warning: {message}", err=True)
    mend_streams()
    try:
        run()
    except RegardError as error:
        click.echo(f"regard: {error}", err=True)
        sys.exit(error.exit_code)
    except click.exceptions.Exit as done:  # --help and --version
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:  # `regard predict ... | head` is not an error
        silence_output()
        sys.exit(0)
    except OSError as error:  # results that can not be written, as on a full disk
        click.echo(f"regard: {_about(error)}: {error.strerror or error}.", err=True)
        silence_output()
        sys.exit(2)
    except MemoryError:
        click.echo("regard: not enough memory: try a smaller model or smaller batches.", err=True)
        sys.exit(3)
    except Exception as error:
        if "REGARD_DEBUG" in os.environ:
            raise
        click.echo(
            f"regard: a fault inside Regard: {type(error).__name__}: {error}\nPlease report it, "
            "with what you typed and `regard doctor`; REGARD_DEBUG=1 shows where it happened.",
            err=True,
        )
        sys.exit(2)


def run() -> None:
    """Like click's own main, which would end with exit code 1 when a reader goes away."""
    if VARIABLE in os.environ:  # the Tab key
        regard.main(prog_name="regard", standalone_mode=False)
    with regard.make_context("regard", sys.argv[1:]) as context:
        regard.invoke(context)
    sys.stdout.flush()


def mend_streams() -> None:
    """A closed stream is nowhere; letters that a terminal does not know are spelled out."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _about(error: OSError) -> str:
    return str(error.filename) if error.filename else "the output can not be written"


def silence_output() -> None:
    """Do not try again at exit what could not be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
