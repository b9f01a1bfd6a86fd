"""Does a table begin with the names of its columns? Nobody says so; the names themselves do."""

import re
from collections.abc import Collection, Sequence

NAMES = frozenset(
    """
    abstract address answer answers article body category class comment completion content context
    date department dept
    definition description dialogue document email example gloss grapheme graphemes headline
    highlights id idx index input instruction ipa label lang language lemma licence license link
    mail message meaning name note original output paragraph passage phoneme phonemes phones phrase
    prompt pronunciation pronunciations query question reference reply response score sentence
    sentiment source speaker spelling split src subject summary target text tgt title token tokens
    topic translation trg url utterance word
    """.split()
)
PARTS = frozenset("first full last no nr number of the".split())  # of names, never alone
LANGUAGES = frozenset(
    """
    afrikaans albanian arabic armenian basque bengali bulgarian catalan chinese croatian czech
    danish dutch english esperanto estonian finnish french galician georgian german greek hebrew
    hindi hungarian icelandic indonesian irish italian japanese korean latin latvian lithuanian
    macedonian malay mandarin marathi norwegian persian polish portuguese romanian russian serbian
    slovak slovenian spanish swahili swedish tagalog tamil thai turkish ukrainian urdu vietnamese
    welsh yiddish
    """.split()
)
CODES = frozenset(  # ISO 639-1
    """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy
    da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu
    hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb
    lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om
    or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw
    ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """.split()
)
LONGEST = 30
NUMBER = re.compile(r"\s*[-+]?[\d.,]*\d\s*")
WORD = re.compile(r"[^\W\d]+(?:[_-][^\W\d]+)*")


def is_header(
    cells: Sequence[str], names: Collection[str] = (), rest: Sequence[Sequence[str]] = ()
) -> bool:
    """Whether a first row names the columns: one of `names` is in it, or its cells are distinct,
    short, and at least one is a name that people give to columns, or a word above numbers.

    >>> is_header(["Question", "Antwort"]), is_header(["Go.", "Ve."])
    (True, False)
    >>> is_header(["en", "de"]), is_header(["en", "passant"])
    (True, False)
    """
    folded = [cell.strip().casefold() for cell in cells]
    if len(cells) > 1 and _holds_one(cells, names):
        return True
    if len(cells) > 1 and all(map(is_known, folded)):
        return True
    if len(cells) < 2 or len(set(folded)) < len(folded) or any(_too_long(cell) for cell in folded):
        return False
    above_numbers = any(map(_above_numbers, folded, zip(*rest, strict=False)))
    return above_numbers or any(map(is_known, folded)) or all(cell in CODES for cell in folded)


def _above_numbers(cell: str, column: Sequence[str]) -> bool:
    """A word over a column of numbers is its name."""
    return _could_be_name(cell) and len(column) > 1 and all(map(NUMBER.fullmatch, column))


def is_known(name: str) -> bool:
    """Whether people call columns so; of source_text or translation.en, a part is enough, of
    words between blanks, as in "Full name", all must be known."""
    known = NAMES | LANGUAGES
    words = name.strip().casefold().replace("e-mail", "email").split()
    if len(words) > 1:
        return all(word.strip(".") in known | PARTS for word in words)
    parts = re.split(r"[_.]", words[0] if words else "")
    return parts[0] in known if len(parts) == 1 else all(parts) and not known.isdisjoint(parts)


def header_note(rows: Sequence[Sequence[str]], header: bool, names: Collection[str] = ()) -> str:
    """What to say aloud about the guess, or "" where there can be no doubt."""
    first, rest = rows[0], rows[1:]
    cells = f"({', '.join(cell.strip() for cell in first)})"
    if header:
        if _holds_one(first, names) or all(is_known(cell) or not cell.strip() for cell in first):
            return ""
        return (
            f"the first row {cells} is taken for the names of the columns; "
            "if it is data, put a row of names above it."
        )
    others = sum(all(map(_could_be_name, row)) for row in rest)
    if not first or not all(map(_could_be_name, first)) or 2 * others >= len(rest):
        return ""
    return (
        f"no header: the first row is {cells}; if it is one, name its columns with "
        "--source and --target."
    )


def _holds_one(cells: Sequence[str], names: Collection[str]) -> bool:
    """Numbers are not names: they count columns."""
    wanted = {name.casefold() for name in names if not name.isdigit()}
    return any(cell.strip().casefold() in wanted for cell in cells)


def _could_be_name(cell: str) -> bool:
    return not _too_long(cell) and WORD.fullmatch(cell.strip()) is not None


def _too_long(cell: str) -> bool:
    return len(cell) > LONGEST or "\n" in cell or "\r" in cell
