"""Random strings through every tokenizer, in a process of its own: should a tokenizer bring the
process down, the campaign is still there to say so.

    python soak/tokenizing.py SEED COUNT     prints a JSON object; the seed decides everything

Run by its path, it imports tokenizers and nothing else, so a child is there at once.
"""

import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import product
from operator import lt
from typing import Any

from regard.config import TokenizerSettings
from regard.errors import TextError
from regard.names import UNKNOWN
from regard.text import TOKENIZERS, Tokenizer, fit_tokenizer

BATCH = 500
SHOWN = 5  # losses that are told of one batch of strings
HALVES = re.compile("[\ud800-\udfff]")

EMOJI = "👩\u200d🚀🏽❤\ufe0f🇩🇪🙂🏴\U000e0067\U000e007f\u20e3"
ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyzABCXYZ",
    "0123456789.,;:!?#<>|_-'\"/\\",
    " \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u2003\u2028\u2029\u3000",
    "".join(map(chr, [*range(32), *range(127, 160)])),  # controls, NUL among them
    "".join(map(chr, [*range(0x300, 0x370), *range(0x20D0, 0x20F1)])),  # combining
    EMOJI,
    "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069שלוםمرحبا",  # bidi
    "".join(map(chr, [*range(0xE000, 0xE020), *range(0xF0000, 0xF0010), 0x10FFFD])),  # private
    "İıΣσςßẞﬁǅŉ\u0345\u1e9eÅÄäÖöéêñ",  # folding changes their number or depends on neighbours
    "日本語中文字한국어ᄒ\u1161\u11abไทยहिन्दी",
    "\ufeff\ufffd\ufffe\uffff\U0001ffff\u200b\u00ad\u034f",
)
WORDS = ("<pad>", "<start>", "<stop>", "<unknown>", "##", "##a", "Ġ", "▁", "<|endoftext|>", "[UNK]")


def strings(dice: random.Random, count: int) -> Iterator[str]:
    """Mostly short; some of ten thousand characters; one in ten holds half a character."""
    for _ in range(count):
        length = min(200, int(dice.expovariate(1 / 12)))
        kind = dice.random()
        if kind < 0.0003:
            length = 10_000
        if kind < 0.02:
            text = dice.choice(dice.choice(ALPHABETS)) * min(10_000, length * 20)
        elif kind < 0.2:  # all planes
            text = "".join(chr(dice.randrange(0x110000)) for _ in range(length))
        else:
            pool = [*dice.choice(ALPHABETS), *dice.choice(ALPHABETS), " ", dice.choice(WORDS)]
            text = "".join(dice.choices(pool, k=length))
        if kind > 0.93:
            place = dice.randint(0, len(text))
            text = text[:place] + chr(dice.randrange(0xD800, 0xE000)) + text[place:]
        yield text


def whole(text: str) -> str:
    """Without half characters."""
    return HALVES.sub("", text)


@dataclass
class Findings:
    strings: int = 0
    refused: int = 0
    """Times a tokenizer refused a string with half a character, as it must."""
    panics: int = 0
    """Panics of the library that became our own error, as they must."""
    round_trips: int = 0
    """Strings that went to bytes and back."""
    losses: list[str] = field(default_factory=list)
    lossy: list[str] = field(default_factory=list)
    """Losses of the round trip."""


class Trial:
    """One seed: its texts to fit on, its ten tokenizers, its strings."""

    def __init__(self, seed: int) -> None:
        self.seed, self.dice = seed, random.Random(seed)
        self.found = Findings()
        texts = [whole(text) for text in strings(self.dice, 200)] + ["a"]
        self.tokenizers = {
            f"{kind}{' lowercase' * low}": fitted(kind, low, texts, self.dice)
            for kind in TOKENIZERS
            for low in (False, True)
        }

    def run(self, count: int) -> Findings:
        for start in range(0, count, BATCH):
            batch = list(strings(self.dice, min(BATCH, count - start)))
            self.found.strings += len(batch)
            good = [text for text in batch if not HALVES.search(text)]
            bad = [text for text in batch if HALVES.search(text)]
            for name, tokenizer in self.tokenizers.items():
                self.encode_all(name, tokenizer, good)
                self.refuse_all(name, tokenizer, bad)
            for name in ("bytes", "bytes lowercase"):
                self.there_and_back(name, [whole(text) for text in batch])
        self.meet_panics()
        return self.found

    def encode_all(self, name: str, tokenizer: Tokenizer, texts: list[str]) -> None:
        together = self.tried(tokenizer.ids_of, texts, name)
        for text, ids in zip(texts, together or [None] * len(texts), strict=True):
            encoding = self.tried(tokenizer.encode, text, name)
            if encoding and (wrong := fault(tokenizer, text, ids, *encoding)):
                self.lose(self.found.losses, f"{name}: {text!a}: {wrong}")

    def refuse_all(self, name: str, tokenizer: Tokenizer, texts: list[str]) -> None:
        """Half a character is refused by every method, and by our own error."""
        methods = (
            tokenizer.ids,
            tokenizer.encode,
            tokenizer.unknown,
            lambda t: tokenizer.ids_of([t]),
        )
        for text, method in product(texts, methods):
            try:
                method(text)
            except TextError:
                self.found.refused += 1
            except BaseException as error:  # a panic of the library is no Exception
                self.lose(self.found.losses, f"{name}: {text!a}: {type(error).__name__}: {error}")
            else:
                self.lose(self.found.losses, f"{name}: {text!a}: took half a character")

    def there_and_back(self, name: str, batch: list[str]) -> None:
        tokenizer = self.tokenizers[name]
        for text, ids in zip(batch, self.tried(tokenizer.ids_of, batch, name) or [], strict=False):
            typed = "".join(c.lower() for c in text) if "lowercase" in name else text
            back = self.tried(tokenizer.decode, ids, name)
            self.found.round_trips += 1
            if back != typed:
                self.lose(self.found.lossy, f"{name}: {text!a} came back as {back!a}")

    def tried(self, method: Callable[[Any], Any], given: Any, name: str) -> Any:
        """What it gives, or None after any error at all: there is nothing wrong with `given`."""
        try:
            return method(given)
        except BaseException as error:
            self.lose(self.found.losses, f"{name}: {given!a:.200}: {type(error).__name__}: {error}")
            return None

    def meet_panics(self) -> None:
        """The library breaks down in earnest below each method that calls it."""
        for name in ("bpe", "bytes"):
            tokenizer: Any = self.tokenizers.pop(name)  # it is of no use afterwards
            tokenizer._library = Broken()
            for method in (tokenizer.ids, tokenizer.encode, lambda t, k=tokenizer: k.ids_of([t])):
                try:
                    method("a text")
                except TextError:
                    self.found.panics += 1
                except BaseException as error:
                    self.lose(self.found.losses, f"{name}: a {type(error).__name__} came through")

    def lose(self, losses: list[str], what: str) -> None:
        if len(losses) < SHOWN:
            losses.append(f"python soak/tokenizing.py {self.seed} ...: {what[:300]}")


class Broken:
    """Stands for the library, and breaks down as it does: by a real panic, out of Rust."""

    def encode(self, text: object) -> None:
        from tokenizers.models import BPE

        BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")], continuing_subword_prefix="##")

    encode_batch_fast = encode


def fitted(kind: str, low: bool, texts: list[str], dice: random.Random) -> Tokenizer:
    some = dice.sample(texts, dice.randint(len(texts) // 2, len(texts)))
    settings = TokenizerSettings(kind=kind, lowercase=low, size=dice.choice([300, 600, 2000]))
    return fit_tokenizer(settings, [*some, "a"])


def fault(
    tokenizer: Tokenizer,
    text: str,
    together: list[int] | None,
    ids: list[int],
    offsets: list[tuple[int, int]],
) -> str:
    """What is wrong with the encoding of a text; "" if nothing is."""
    if together != ids:
        return f"{together} in a batch, {ids} alone"
    if len(ids) != len(offsets):
        return f"{len(ids)} ids, {len(offsets)} offsets"
    if not ids:
        return "" if not text.strip() else "no ids"
    if min(ids) < UNKNOWN or max(ids) >= tokenizer.size:
        return f"ids from {min(ids)} to {max(ids)} of {tokenizer.size}"
    starts, ends = zip(*offsets, strict=True)
    if starts[0] < 0 or ends[-1] > len(text) or not all(map(lt, starts, ends)):
        return f"offsets outside of the text, or empty: {offsets[:20]}"
    if list(starts) != sorted(starts) or list(ends) != sorted(ends):
        return f"offsets that go back: {offsets[:20]}"
    return ""


if __name__ == "__main__":
    print(json.dumps(asdict(Trial(int(sys.argv[1])).run(int(sys.argv[2])))))
