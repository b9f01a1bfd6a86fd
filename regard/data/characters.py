"""Characters and sequences that seldom stand in a text on purpose.

Most texts hold none, and for those a look costs next to nothing: Python knows at once whether a
text is printable, and that leaves out every control, format, separator and unassigned character.
"""

import re
import unicodedata
from collections import Counter
from html import unescape
from pathlib import Path

from regard.data.findings import FEW

LINE_ENDS = "\t\n\r"  # these may stand inside a quoted CSV cell or a JSON string
LINE_SEPARATORS = "\x85\u2028\u2029"
BIDI = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

LOST = "replacement characters"
GARBLED = "wrongly decoded text"
MARKUP = "HTML"

# What each kind means for a model, in the order in which they are reported.
KINDS = {
    LOST: "kept; a sign that the text was once decoded wrongly: what stood there is lost",
    GARBLED: "kept; UTF-8 that was once read as Windows-1252: decode it again at its origin",
    "control characters": "kept; each is a token of its own that nobody sees",
    "direction marks": "kept; they change how text is shown, not how it is read",
    "zero-width characters": "kept; texts that look alike are different to a model",
    "line separators": "kept; other programs may cut a line in two there",
    "odd blanks": "kept; to a character or subword model they are not blanks",
    "private use": "kept; they mean something only with the font they were made for",
    "unassigned": f"kept; not in Unicode {unicodedata.unidata_version}: newer, or broken",
    MARKUP: "kept as typed; if it is markup, not text, take it out",
}
CATEGORIES = {
    "Cc": "control characters",
    "Cf": "zero-width characters",
    "Co": "private use",
    "Cn": "unassigned",
    "Cs": "unassigned",  # half a character
    "Zs": "odd blanks",
}

# The bytes 80 to BF, which follow a first byte in UTF-8, as Windows-1252 shows them.
FOLLOW = "\x80-\xbfŒœŠšŸŽžƒˆ˜‚„†‡•‰‹›€™"
QUOTES = "‘’“”–—…"  # they do too, but after a letter they are mostly what they seem
MOJIBAKE = re.compile(
    f"Ã[{FOLLOW}]|Â[\xa0-\xbf]|â€[{FOLLOW}{QUOTES}]|ï»¿|ï¿½|ðŸ[{FOLLOW}{QUOTES}]{{2}}"
    f"|(?:[ÐÑ][{FOLLOW}{QUOTES}]){{2,}}"
)
FIRST = re.compile("[ÃÂâïðÐÑ]")
TAGS = (
    "a|abbr|b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|font|form|h[1-6]|head|hr|html|i|"
    "iframe|img|input|li|link|meta|ol|option|p|pre|s|script|select|small|span|strike|strong|style|"
    "sub|sup|table|tbody|td|th|thead|title|tr|tt|u|ul"
)
TAG = re.compile(rf"</?({TAGS})(?:\s[^<>]*)?\s*/?>", re.IGNORECASE)
ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")


class OddCharacters:
    """Counts them by kind, and remembers the first places of each."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        self.places: dict[str, list[str]] = {kind: [] for kind in KINDS}

    def look(self, text: str, path: Path, line: int) -> None:
        """Count what is odd in a text that stands there."""
        for kind, what in odd(text):
            self.counts[kind][what] += 1
            places = self.places[kind]
            if len(places) < FEW and (place := f"{path}:{line}") not in places:
                places.append(place)

    def total(self, kind: str) -> int:
        return self.counts[kind].total()

    def names(self, kind: str) -> str:
        """'U+00A0 NO-BREAK SPACE 12, U+3000 IDEOGRAPHIC SPACE 3', the most frequent first."""
        common = self.counts[kind].most_common(FEW)
        named = [f"{describe(what)} {count:,}" for what, count in common]
        others = len(self.counts[kind]) - len(named)
        return ", ".join([*named, *([f"{others} others"] if others else [])])


def odd(text: str) -> list[tuple[str, str]]:
    """(kind, character or sequence) for everything odd in a text.

    >>> odd("plain"), odd("KÃ¤se &amp; Brot")
    ([], [('wrongly decoded text', 'Ã¤'), ('HTML', '&amp;')])
    """
    found: list[tuple[str, str]] = []
    if not text.isprintable():
        found += [(kind, c) for c in text if not c.isprintable() and (kind := _kind(c))]
    if not text.isascii():
        found += [(LOST, "\ufffd")] * text.count("\ufffd")
        if FIRST.search(text):
            found += [(GARBLED, sequence) for sequence in MOJIBAKE.findall(text)]
    if "<" in text:
        found += [(MARKUP, f"<{name.lower()}>") for name in TAG.findall(text)]
    if "&" in text:
        found += [(MARKUP, entity) for entity in ENTITY.findall(text) if unescape(entity) != entity]
    return found


def _kind(character: str) -> str:
    if character in LINE_ENDS:
        return ""
    if character in BIDI:
        return "direction marks"
    if character in LINE_SEPARATORS:
        return "line separators"
    return CATEGORIES[unicodedata.category(character)]


def describe(what: str) -> str:
    """A sequence as it is; a character by code point and name, so that it can be seen.

    >>> describe("\\xa0"), describe("\\x07"), describe("\\x96"), describe("<br>")
    ('U+00A0 NO-BREAK SPACE', 'U+0007', 'U+0096 (– in Windows-1252)', '<br>')
    """
    if len(what) > 1:
        return what if what.isprintable() else what.encode("unicode_escape").decode()
    name = unicodedata.name(what, "")
    if "\x80" <= what < "\xa0":  # nobody types these: Windows-1252 was read as Latin-1
        meant = what.encode("latin-1").decode("cp1252", "replace")
        name = f"({meant} in Windows-1252)" if meant.isprintable() else name
    return f"U+{ord(what):04X} {name}".strip()


def scripts(characters: set[str]) -> dict[str, int]:
    """How many different letters of each script, the most first.

    >>> scripts(set("Größe и 1"))
    {'LATIN': 5, 'CYRILLIC': 1}
    """
    letters = (c for c in characters if c.isalpha())
    # The first 256 are Latin, also those called "micro sign" or "masculine ordinal indicator".
    names = ("LATIN" if c < "\u0100" else unicodedata.name(c, "UNNAMED") for c in letters)
    return dict(Counter(name.split()[0] for name in names).most_common())
