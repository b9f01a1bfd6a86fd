"""How pieces are learned: counted here, joined by the `tokenizers` library.

Whatever is learned depends on the texts alone, never on their order, on threads or on chance: of
equally frequent pieces the alphabetically first wins, of equally frequent pairs the one with the
lowest ids. The library is imported only where it is used: tokenizers that only count do without.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from regard.errors import TextError
from regard.text.tokenizer import fold, require_utf8

BLANK = r"\s\x1c-\x1f"
"""What str.isspace() calls a blank, for a regular expression of the library."""
LONGEST_WORD = 1000
"""A longer word is cut while learning: the library's time grows with the square of its length."""
LONGEST_PIECE = 50  # in letters, or bytes; the library takes it as the first that is too long

Merges = list[tuple[str, str]]


def checked(texts: Iterable[str], lowercase: bool) -> Iterator[str]:
    """The texts as a tokenizer sees them."""
    for text in texts:
        require_utf8(text)
        yield fold(text) if lowercase else text


def letter_counts(texts: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text)
    return counts


def most_frequent(counts: Counter[str], limit: int) -> list[str]:
    """At most `limit` of the keys, sorted. Of equally frequent ones the alphabetically first stay.

    >>> most_frequent(Counter("abracadabra"), 3)
    ['a', 'b', 'r']
    """
    return sorted(sorted(counts, key=lambda key: (-counts[key], key))[:limit])


def learn_pieces(
    texts: Iterable[str], splitter: Any, alphabet: list[str], size: int, mark: str = ""
) -> tuple[list[str], Merges]:
    """Join the most frequent neighbours again and again (Sennrich et al. 2016, section 3.2).

    Ends with `size` pieces, or when no pair occurs twice. `splitter` is a pre-tokenizer of the
    library: nothing is joined across the words it makes. With a `mark`, letters that continue a
    word are pieces of their own, and carry it. Also returns what was joined, in order.
    """
    from tokenizers import Regex
    from tokenizers import Tokenizer as Library
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import Sequence, Split
    from tokenizers.trainers import BpeTrainer

    trainer = BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        # Left to the library, marked letters get their ids in random order, and ids break ties.
        special_tokens=[mark + letter for letter in alphabet] if mark else [],
        continuing_subword_prefix=mark,
        max_token_length=LONGEST_PIECE,
        show_progress=False,
    )
    library = Library(BPE())
    shorten = Split(Regex(rf"[\s\S]{{1,{LONGEST_WORD}}}"), "isolated")
    library.pre_tokenizer = Sequence([splitter, shorten])
    with no_panic("learning pieces"):
        library.train_from_iterator(texts, trainer)
    model = json.loads(library.to_str())["model"]
    pieces = sorted(model["vocab"], key=model["vocab"].__getitem__)
    return pieces, [(left, right) for left, right in model["merges"]]


def nothing_to_learn(unit: str) -> TextError:
    return TextError(
        f"no {unit} to learn a vocabulary from: every text is empty. "
        "Is the data file the right one?"
    )


@contextmanager
def no_panic(doing: str) -> Iterator[None]:
    """Turn a panic of the library into a TextError; `except Exception` would let it through."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise TextError(
            f"the tokenizers library broke down while {doing}: {error}. "
            'That is a fault of the library: try another version of it, or kind = "character".'
        ) from error
