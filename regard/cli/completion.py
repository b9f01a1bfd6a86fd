"""`regard completion`: the Tab key learns our commands, options, runs and recipes.

The `complete_...` functions are for `shell_complete=` of arguments. They run at every Tab, so they
look at names of files only and import nothing heavy.
"""

import os
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from regard.cli.console import VARIABLE, echo_json

# tasks.task_names() would load torch
TASKS = (
    *("transduce", "translate", "summarize", "pronounce", "answer", "chat"),
    *("language_model", "gpt", "lstm", "classify"),
)


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def completion(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print the script that lets SHELL (bash, zsh or fish) complete our commands and runs.

    Put it where your shell looks for such scripts, then open a new shell:

    \b
    mkdir -p ~/.local/share/bash-completion/completions
    regard completion bash > ~/.local/share/bash-completion/completions/regard

    \b
    mkdir -p ~/.zfunc        # and in ~/.zshrc: fpath+=~/.zfunc; autoload -U compinit; compinit
    regard completion zsh > ~/.zfunc/_regard

    \b
    mkdir -p ~/.config/fish/completions
    regard completion fish > ~/.config/fish/completions/regard.fish

    Without such a folder, in ~/.bashrc or ~/.zshrc (after compinit):

    \b
    eval "$(regard completion bash)"
    """
    writer = get_completion_class(shell)
    assert writer is not None, "click knows all three"
    script = writer(ctx.find_root().command, {}, "regard", VARIABLE).source()
    if as_json:
        echo_json({"shell": shell, "script": script})
    else:
        click.echo(script, nl=False)


def complete_run(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "list[CompletionItem[str]]":
    """Run folders beside the path typed so far, or under runs/ when it has no slash yet."""
    head, slash, start = incomplete.rpartition("/")
    place = head + slash or "runs/"
    found = Path(os.path.expanduser(place)).glob("*/run.json")
    names = (file.parent.name for file in found)
    return _offer((place + name for name in names if name.startswith(start)), incomplete, "dir")


def complete_task(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "list[CompletionItem[str]]":
    """Names of tasks and shipped recipes, and recipe files here; else any file."""
    here = [file.name for file in Path().glob("*.toml")]
    names = [*TASKS, *(file.stem for file in _shipped()), *here]
    return _offer((name for name in names if name.startswith(incomplete)), incomplete, "file")


def _shipped() -> list[Path]:
    return sorted(Path(str(resources.files("regard") / "recipes")).glob("*.toml"))


def _offer(names: Iterable[str], incomplete: str, otherwise: str) -> "list[CompletionItem[str]]":
    """The names, sorted; when there are none the shell goes on with its own folders or files."""
    items = [CompletionItem(name) for name in sorted(names)]
    return items or [CompletionItem(incomplete, type=otherwise)]
