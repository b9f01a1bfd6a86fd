"""Read whole conversations, one JSON object a line, as pairs: every turn but the first answers
those before it.

A turn is a text, a list of texts (messages sent one after the other), or an object whose
"content", "text" or "value" is one, as chat programs export it; what the system or a tool says
there is no turn.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from regard.data.formats import Flaw, short
from regard.data.json_lines import has_half_characters, parse_object
from regard.data.lines import read_lines
from regard.data.pairs import Pair

NAMES = ("turns", "conversation", "conversations", "dialog", "dialogue", "messages", "utterances")
CONTENT = ("content", "text", "value")
BETWEEN = "\n"  # turns of one source
HISTORY = 3  # turns before a reply, where nobody says how many
SILENT = ("system", "tool", "function")  # roles of those who are not heard
WANTED = 'Write {"turns": ["Hi!", "Hello, how are you?"]} on each line.'


@dataclass(frozen=True, slots=True)
class Reply(Pair):
    """A turn and those before it."""

    conversation: str

    @property
    def group(self) -> str:
        return self.conversation


def turns_column(path: Path) -> str | None:
    """The key of a JSON Lines file that holds lists of turns, as its first lines say."""
    for number, line in read_lines(path):
        if line.strip():
            found = parse_object(number, line)
            values = {} if isinstance(found, Flaw) else found
            lists = {key.casefold(): key for key in values if isinstance(values[key], list)}
            return next((lists[name] for name in NAMES if name in lists), None)
    return None


def read_conversations(path: Path, key: str, history: int) -> Iterator[Reply | Flaw]:
    """The replies of each conversation in order; their sources hold up to `history` turns, one a
    line. A conversation in which nobody answers has none."""
    for number, line in read_lines(path):
        if not line.strip():
            continue
        found = parse_object(number, line, WANTED)
        turns = found if isinstance(found, Flaw) else turns_of(number, found.get(key), key)
        if isinstance(turns, Flaw):
            yield turns
        else:
            yield from replies(turns, history)


def turns_of(line: int, value: Any, key: str) -> list[str] | Flaw:
    """The texts of the turns; those in which nothing is said are not turns."""
    if not isinstance(value, list):
        problem = f'"{key}" is not a list of turns but {short(json.dumps(value))}.'
        return Flaw(line, "type", f"{problem} {WANTED}")
    texts = [_text(turn) for turn in value]
    if None in texts:
        turn = short(json.dumps(value[texts.index(None)], ensure_ascii=False))
        problem = f'turn {texts.index(None) + 1} of "{key}" is {turn}.'
        wanted = 'Make it a text, a list of texts, or {"content": "..."}.'
        return Flaw(line, "type", f"{problem} {wanted}")
    return _whole(line, [text for text in texts if text], key)


def _whole(line: int, texts: list[str], key: str) -> list[str] | Flaw:
    if has_half_characters(texts):
        problem = f'half of a character, such as \\ud83d without its other half, in "{key}".'
        return Flaw(line, "json", f"{problem} Write the whole character, or remove it.")
    return texts


def _text(turn: Any) -> str | None:
    """One line, or None where it is no turn."""
    if isinstance(turn, dict):
        silent = str(turn.get("role")).casefold() in SILENT
        turn = next((turn[key] or "" for key in CONTENT if key in turn), "" if silent else None)
        turn = "" if silent else turn
    messages = [turn] if isinstance(turn, str) else turn
    if not isinstance(messages, list) or not all(isinstance(one, str) for one in messages):
        return None
    return one_line(" ".join(messages))


def one_line(message: str) -> str:
    """A turn as a source holds it: a line of its own."""
    return " ".join(message.split())


def replies(turns: Sequence[str], history: int) -> Iterator[Reply]:
    """
    >>> [(pair.source, pair.target) for pair in replies(["Hi!", "Hello.", "Well?"], history=2)]
    [('Hi!', 'Hello.'), ('Hi!\\nHello.', 'Well?')]
    """
    name = blake2b(BETWEEN.join(turns).encode(), digest_size=8).hexdigest()
    for place in range(1, len(turns)):
        yield Reply(said(turns[:place], history), turns[place], name)


def said(turns: Sequence[str], history: int) -> str:
    """The last turns as one source."""
    return BETWEEN.join(turns[-history:])
