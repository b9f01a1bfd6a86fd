"""Files that are not UTF-8, and where in them the first wrong byte stands.

`first_wrong` follows table 3-7 of the Unicode standard byte by byte; it asks no decoder.
"""

import random
import re
from collections.abc import Callable

from soak.hostile import ENDS, MARK, Hostile, Pairs

# First byte -> the least and the greatest second byte, and how many follow in all.
SEQUENCES = {
    **dict.fromkeys(range(0xC2, 0xE0), (0x80, 0xBF, 1)),
    0xE0: (0xA0, 0xBF, 2),
    **dict.fromkeys([*range(0xE1, 0xED), 0xEE, 0xEF], (0x80, 0xBF, 2)),
    0xED: (0x80, 0x9F, 2),
    0xF0: (0x90, 0xBF, 3),
    **dict.fromkeys(range(0xF1, 0xF4), (0x80, 0xBF, 3)),
    0xF4: (0x80, 0x8F, 3),
}
WRONG = {  # kind -> bytes that are not UTF-8 wherever they stand
    "overlong": [b"\xc0\xaf", b"\xc1\xbf", b"\xe0\x80\xaf", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf"],
    "lone continuation": [b"\x80", b"\xbf", b"\xa9\xa9"],
    "cut short": [b"\xc3", b"\xe2\x82", b"\xf0\x9f\x99", b"\xe2", b"\xf0\x9f"],
    "half a character": [b"\xed\xa0\xbd\xed\xb9\x82", b"\xed\xa0\x80", b"\xed\xbf\xbf"],
    "beyond Unicode": [b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff", b"\xfe\xfe"],
    "NUL": [b"\0"],
}
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252", "utf-32")


def first_wrong(content: bytes) -> tuple[int, int, int]:
    """Line, offset and value of the first byte that is no text: NUL, or where a sequence begins
    that is no character. A CRLF is one line end."""
    place = 0
    while place < len(content):
        length = _sequence(content, place)
        if not length:
            line = len(re.findall(rb"\r\n|\n|\r", content[:place])) + 1
            return line, place, content[place]
        place += length
    raise ValueError("all of it is UTF-8")


def _sequence(content: bytes, place: int) -> int:
    """How many bytes the character at `place` has, or 0."""
    first = content[place]
    if 0 < first < 0x80:
        return 1
    if first not in SEQUENCES:
        return 0
    least, greatest, following = SEQUENCES[first]
    rest = content[place + 1 : place + 1 + following]
    if len(rest) < following or not least <= rest[0] <= greatest:
        return 0
    return following + 1 if all(0x80 <= byte <= 0xBF for byte in rest[1:]) else 0


def corrupted(dice: random.Random, form: str) -> tuple[str, bytes]:
    """A kind of mistake, and a file of that format which has it."""
    kind = dice.choice([*WRONG, "cut off", *ENCODINGS])
    pairs = _pairs(dice, "éüß°" if kind in ENCODINGS else "éЖ日🙂\u2028")
    begin = dice.choice([b"", MARK]) if kind not in ENCODINGS else b""
    ends, last = dice.choice(list(ENDS)), dice.random() < 0.7
    good = Hostile(kind, pairs, ends, begin=begin, last=last, header=dice.random() < 0.5)
    return kind, _made(kind, dice)(good.content(form))


def _pairs(dice: random.Random, letters: str) -> Pairs:
    rows = 3000 if dice.random() < 0.02 else dice.randint(1, 12)  # some are read in many chunks
    return [
        (f"s{i}.{''.join(dice.choices(letters, k=3))}", f"t{i} {dice.choice(letters)}")
        for i in range(rows)
    ]


def _made(kind: str, dice: random.Random) -> Callable[[bytes], bytes]:
    if kind in ENCODINGS:
        return lambda good: good.decode().encode(kind)
    if kind == "cut off":  # in the middle of the last character that has several bytes
        return lambda good: good[: max(n for n, byte in enumerate(good) if byte >= 0xC0) + 1]
    return lambda good: _inserted(good, dice.choice(WRONG[kind]), dice)


def _inserted(good: bytes, wrong: bytes, dice: random.Random) -> bytes:
    """Wrong bytes between two characters, or inside of one."""
    place = dice.choice([0, len(good), *(dice.randrange(len(good)) for _ in range(4))])
    return good[:place] + wrong + good[place:]
