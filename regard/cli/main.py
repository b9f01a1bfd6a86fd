"""`regard`: the group of all commands, and what happens when one fails.

Results go to standard output, talk goes to standard error. Our own errors end in a sentence
without a traceback: exit code 2 for a mistake, 3 for a training failure, 130 for Ctrl-C.
"""

import os
import sys
import warnings
from importlib import import_module

import click

from regard.errors import RegardError, did_you_mean

COMMANDS = {
    "demo": "train the five-minute demonstration",
    "train": "train on your file, or train a recipe",
    "resume": "go on with a stopped run",
    "predict": "answer inputs",
    "evaluate": "score a run beside its baselines",
    "look": "draw what attention looked at",
    "info": "show the card of a run",
    "runs": "list runs with their scores",
    "init": "write a recipe with every setting explained",
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
    try:
        regard.main(prog_name="regard", standalone_mode=False)
    except RegardError as error:
        click.echo(f"regard: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:  # `regard predict ... | head` is not an error
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # results that can not be written, as on a full disk
        click.echo(f"regard: the output can not be written: {error.strerror or error}.", err=True)
        silence_output()
        sys.exit(2)


def silence_output() -> None:
    """Do not try again at exit what could not be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
