"""What a column of texts looks like, as far as the choice of settings depends on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Side:
    """What one column looks like."""

    characters: float  # in the median text: one long text among many short ones changes nothing
    words: float
    vocabulary: int  # different words
    alphabet: frozenset[str]

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Side":
        words = [text.split() for text in texts]
        return cls(
            median(map(len, texts)),
            median(map(len, words)),
            len({word for text in words for word in text}),
            frozenset().union(*map(set, texts)) - {" "},
        )

    @property
    def symbols(self) -> bool:
        """A sequence of signs, such as phonemes: few different ones, short, many to a text."""
        return self.vocabulary <= 200 and self.words >= 2 and self.characters < 4 * self.words

    @property
    def short(self) -> bool:
        """A word, a name, a date: something spelled rather than said."""
        return self.words < 2.5 and self.characters < 40 and not self.unspaced

    @property
    def unspaced(self) -> bool:
        """Sentences of a script without blanks: most of its signs are beyond any alphabet."""
        return 2 * sum(letter > "\u2e80" for letter in self.alphabet) > len(self.alphabet)

    @property
    def latin(self) -> bool:
        """Mostly the letters and digits that ROUGE counts."""
        letters = [letter for letter in self.alphabet if letter.isalnum()]
        return 2 * sum(letter.isascii() for letter in letters) > len(letters)

    @property
    def kind(self) -> str:
        return "word" if self.symbols else "character" if self.short else "bytes"
