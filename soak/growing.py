"""How the time of a tokenizer grows with a long text, in a process of its own with one thread.

    python soak/growing.py KIND          a JSON line for each text and each kind of work

A text twice as long may take twice as long, and a little more; where time grows with the square,
it takes four times as long, whatever its size. What no longer fits into a cache makes a step as
well, but at one size only: where the first doubling looks wrong, two larger ones are tried.
"""

import gc
import json
import random
import sys
import time
from collections.abc import Callable, Iterator

from regard.config import TokenizerSettings
from regard.text import Tokenizer, fit_tokenizer

MEGABYTE = 1_000_000
ALLOWED = 2.5  # times as long for a text twice as long
DOUBLED = (MEGABYTE // 2, MEGABYTE, 2 * MEGABYTE)
TRIES = 3  # the best of them counts: other programs make it slower, nothing makes it faster
MOST = 12  # tries where the times look wrong
ENOUGH = 0.1  # seconds: shorter work is done several times over
UNITS = {
    "one letter": "a",
    "blanks": " ",
    "line ends": "\n",
    "digits": "1234567890",
    "one digit": "7",
    "families": "👩\u200d👩\u200d👧\u200d👦",
    "short words": "aaaa bbbb ",
    "combining marks": "e\u0301\u0327",
    "only marks": "\u0301",
    "dotted capitals": "İ",
    "punctuation": "?!...",
}
WORKS = ("encode", "decode", "fit")


def text_of(name: str, size: int) -> str:
    """About so many bytes of UTF-8."""
    if name == "letters at random":
        return "".join(random.Random(0).choices("abcdefghijklmnopqrstuvwxyz", k=size))
    unit = UNITS[name]
    return unit * (size // len(unit.encode()))


NAMES = (*UNITS, "letters at random")


def fitted(kind: str, lowercase: bool, texts: list[str]) -> Tokenizer:
    return fit_tokenizer(TokenizerSettings(kind=kind, lowercase=lowercase, size=1000), texts)


def work_of(work: str, kind: str, text: str) -> Callable[[], object]:
    """Something to measure. Folding capitals is part of it: that must not take long either."""
    if work == "fit":
        return lambda: fitted(kind, True, [text, "b"])
    tokenizer = fitted(kind, True, [text[:10_000], "b"])
    ids = tokenizer.ids(text)
    return lambda: tokenizer.decode(ids) if work == "decode" else tokenizer.encode(text)


def growth(work: str, kind: str, name: str) -> list[float]:
    """How many times as long a megabyte takes as half of it; where that looks wrong, also two of
    one, and four of two."""
    ratios: list[float] = []
    while len(ratios) < len(DOUBLED) and all(ratio > ALLOWED for ratio in ratios):
        half, full = seconds_of(work, kind, name, DOUBLED[len(ratios)])
        ratios.append(full / half)
    return ratios


def seconds_of(work: str, kind: str, name: str, size: int) -> tuple[float, float]:
    """Seconds of the processor for a text of this size and for one of twice the size."""
    half, full = (work_of(work, kind, text_of(name, bytes_)) for bytes_ in (size, 2 * size))
    times = 1 + int(ENOUGH / _seconds(half, 1))
    best = 1e9, 1e9
    for tries in range(MOST):
        if tries >= TRIES and best[1] <= ALLOWED * best[0]:
            break
        best = min(best[0], _seconds(half, times)), min(best[1], _seconds(full, times))
    return best


def _seconds(work: Callable[[], object], times: int) -> float:
    gc.collect()
    begun = time.process_time()
    for _ in range(times):
        work()
    return max(1e-6, time.process_time() - begun)


def measured(kind: str) -> Iterator[dict[str, object]]:
    gc.disable()  # its own time depends on all that lives in the process
    for work in WORKS:
        for name in NAMES:
            yield {"kind": kind, "work": work, "text": name, "ratios": growth(work, kind, name)}


if __name__ == "__main__":
    for found in measured(sys.argv[1]):
        print(json.dumps(found), flush=True)
