"""`regard chat`: talk to a run in the terminal."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regard.cli.completion import complete_run
from regard.cli.console import echo_json, say
from regard.cli.decoding import decoding_options, given, unbroken
from regard.errors import ConfigError, TextError, did_you_mean
from regard.text.tokenizer import visible

if TYPE_CHECKING:
    from regard.run import Chat

HELP = {
    "/undo": "forget the last message and its answer",
    "/set": "show how answers are chosen; /set temperature=0.5 top_p=none changes it",
    "/history": "show what is remembered, * marking what the model reads next",
    "/new": "begin a new conversation",
    "/help": "this list",
    "/quit": "leave; so does Ctrl-D",
}
BLOCK = '"""'
# Before every NAME= that stands outside of quotes.
NEXT_WISH = re.compile(r'[\s,]+(?=[\w.-]+\s*=)(?=(?:[^"]*"[^"]*")*[^"]*$)')


@click.command()
@click.argument("run", type=click.Path(path_type=Path, readable=False), shell_complete=complete_run)
@decoding_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, one an answer.")
def chat(run: Path, as_json: bool, **decoding: float | None) -> None:
    """Talk to RUN. Answers appear while they are written.

    What was said before goes along, where RUN was trained on whole conversations. A line that ends
    in a backslash goes on in the next; so does all between two lines of three quotes. /help lists
    the commands; // says a slash. From a pipe, every message is answered by one line.

    \b
    regard chat runs/chat
    regard chat runs/chat --temperature 1.0 --seed 3
    printf 'Hi!\\nHow are you?\\n' | regard chat runs/chat
    """
    from regard.run import Chat, Run

    talk = Talk(Chat(Run.load(run), **given(decoding)), as_json, sys.stdin.isatty())
    if talk.live:
        say("/help lists the commands, Ctrl-D leaves.")
    for message in messages(typed if talk.live else piped, talk.live):
        if not talk.hear(message):
            break
    sys.exit(2 if talk.failed else 0)


# Messages


def typed(more: bool) -> str | None:
    """A line from the keyboard; None at its end. What is printed goes elsewhere, perhaps."""
    prompt = "  ... " if more else "you: "
    if not sys.stdout.isatty():
        click.echo(prompt, nl=False, err=True)
        return piped(more)
    with suppress(ImportError):
        import readline  # noqa: F401  (arrow keys and earlier lines at the prompt)
    try:
        return input(prompt)
    except EOFError:
        click.echo()
        return None


def piped(more: bool) -> str | None:
    line = sys.stdin.buffer.readline()
    try:
        return line.decode().removeprefix("\ufeff").rstrip("\r\n") if line else None
    except UnicodeDecodeError as error:
        raise TextError(f"a message is not UTF-8: {line[:40]!r}. Convert it first.") from error


def messages(line_of: Callable[[bool], str | None], live: bool = False) -> Iterator[str]:
    """All messages; a person's Ctrl-C drops the one that is half typed."""
    while True:
        try:
            message = next_message(line_of)
        except KeyboardInterrupt:
            if not live:
                raise
            say("\nThe message is dropped; Ctrl-D or /quit leaves.")
            continue
        if message is None:
            return
        yield message


def next_message(line_of: Callable[[bool], str | None]) -> str | None:
    """Lines that belong together, joined; None at the end."""
    line = line_of(False)
    if line is None:
        return None
    if line.strip() == BLOCK:
        return block(line_of)
    lines = [line]
    while lines[-1].endswith("\\") and (more := line_of(True)) is not None:
        lines = [*lines[:-1], lines[-1][:-1], more]
    return "\n".join(lines)


def block(line_of: Callable[[bool], str | None]) -> str:
    """All up to the closing quotes. It is said as it is, so a slash in front is made two: one
    would be a command."""
    lines = []
    while (line := line_of(True)) is not None and line.strip() != BLOCK:
        lines.append(line)
    text = "\n".join(lines)
    return f"/{text}" if text.startswith("/") else text


# Answers


@dataclass
class Talk:
    """The conversation as it is shown."""

    chat: "Chat"
    as_json: bool
    live: bool  # a person types
    failed: bool = False

    @property
    def name(self) -> str:
        return self.chat.run.folder.absolute().name

    def hear(self, message: str) -> bool:
        """Answer a message, or carry a command out; False to leave."""
        if message.startswith("/") and not message.startswith("//") and "\n" not in message:
            return self.obey(message)
        if message.strip() or not self.live:  # in a pipe, every message has its line
            self.answer(message.removeprefix("/") if message.startswith("//") else message)
        return True

    def answer(self, message: str) -> None:
        """Say it; what can not be answered is told, and the conversation goes on."""
        if sys.stdout.isatty() and not self.as_json:
            click.echo(f"{visible(self.name, blank=' ')}: ", nl=False)
        try:
            found = self.chat.say(message, len if self.as_json else self._show)
        except TextError as error:
            self._refuse(message, str(error))
            return
        except KeyboardInterrupt:
            if not self.live:
                raise
            say("\nStopped; the message is forgotten.")
            return
        if self.as_json:
            echo_json({"message": message, **found._asdict()})
        else:
            click.echo()
        if not found.finished:
            say("regard: the answer is cut at its greatest length (decode.max_length).")

    def _show(self, piece: str) -> None:
        click.echo(visible(piece, blank=" ") if sys.stdout.isatty() else unbroken(piece), nl=False)
        sys.stdout.flush()

    def _refuse(self, message: str, problem: str) -> None:
        """A line for every message, so that none is shifted."""
        self.failed = not self.live
        if self.as_json:
            echo_json({"message": message, "output": "", "problem": problem})
        else:
            click.echo()
        say(f"regard: {problem}")

    # Commands

    def obey(self, line: str) -> bool:
        name, _, rest = line.strip().partition(" ")
        if name == "/undo":
            say("Forgotten." if self.chat.undo() else "Nothing was said yet.")
        elif name == "/new":
            self.chat.turns.clear()
            say("A new conversation.")
        elif name == "/set":
            self._set(rest)
        elif name == "/history":
            self._history()
        elif name == "/help":
            say("\n".join(f"{command:10} {about}" for command, about in HELP.items()))
        elif name != "/quit":
            say(f'regard: there is no command "{visible(name)}".{did_you_mean(name, HELP)}')
        return name != "/quit"

    def _set(self, text: str) -> None:
        try:
            dropped = self.chat.set(**wishes(text))
        except ConfigError as error:
            say(f"regard: {error}")
            return
        if dropped:
            say(f"Dropped: {', '.join(dropped)}.")
        shown = self.chat.predictor.settings.model_dump(exclude_none=True, exclude={"n"})
        say(", ".join(f"{name} {value}" for name, value in shown.items()))

    def _history(self) -> None:
        turns = self.chat.turns
        if not turns:
            say("Nothing was said yet.")
        read = self.chat.places_read([*turns, "?"])
        for place, turn in enumerate(turns):
            speaker = "you" if place % 2 == 0 else self.name
            mark = "*" if place in read else " "
            say(f"{mark} {speaker}: {visible(turn, blank=' ')}")


def wishes(text: str) -> dict[str, Any]:
    """Settings as people type them; one without a value is taken back.

    >>> wishes("temperature=0.5 top_p=none"), wishes("temperature 0.5")
    ({'temperature': 0.5, 'top_p': None}, {'temperature': 0.5})
    """
    parts = NEXT_WISH.split(text.strip()) if text.strip() else []
    return dict(map(_wish, parts))


def _wish(part: str) -> tuple[str, Any]:
    from regard.toml import override

    name, _, value = part.partition("=" if "=" in part else " ")
    if "=" not in part and not value:
        raise ConfigError(f'"{name}" has no value: write it as in /set temperature=0.5.')
    if value.strip().lower() in ("", "none"):
        return name.strip(), None
    return name.strip(), override({}, [f"value={value}"])["value"]
