"""Phrases in English and French, made from a few words, with the place of every word known. English
puts every adjective before its noun, French puts most of them behind."""

from dataclasses import dataclass
from itertools import product

from regard.names import SPECIALS

NOUNS = {  # English: French, is it feminine?
    "car": ("voiture", True),
    "house": ("maison", True),
    "flower": ("fleur", True),
    "dress": ("robe", True),
    "door": ("porte", True),
    "book": ("livre", False),
    "dog": ("chien", False),
    "hat": ("chapeau", False),
    "boat": ("bateau", False),
    "garden": ("jardin", False),
}
DETERMINERS = {
    "the": ("le", "la"),
    "a": ("un", "une"),
    "my": ("mon", "ma"),
    "this": ("ce", "cette"),
}
BEFORE = {"small": ("petit", "petite"), "big": ("grand", "grande"), "pretty": ("joli", "jolie")}
BEHIND = {
    "red": ("rouge", "rouge"),
    "green": ("vert", "verte"),
    "black": ("noir", "noire"),
    "white": ("blanc", "blanche"),
    "round": ("rond", "ronde"),
}
FRAMES = (  # English and French before the thing, English and French behind it
    ("", "", "", ""),
    ("here is", "voici", "", ""),
    ("I see", "je vois", "", ""),
    ("", "", "is here", "est ici"),
)
KINDS = ("changed places", "same place", "determiners", "other words")


@dataclass(frozen=True)
class Phrase:
    english: tuple[str, ...]
    french: tuple[str, ...]
    places: tuple[int, ...]
    """For every English word, where its French word stands."""
    start: int
    """Where the thing begins in English: determiner, adjective, noun."""

    def kind(self, place: int) -> str:
        if not self.start <= place < self.start + 3:
            return "other words"
        if place == self.start:
            return "determiners"
        return "changed places" if self.english[self.start + 1] in BEHIND else "same place"


def phrase(frame: tuple[str, ...], determiner: str, adjective: str, noun: str) -> Phrase:
    """A frame around one thing, as in "I see" and "the red car"."""
    english, french, english_end, french_end = (part.split() for part in frame)
    word, feminine = NOUNS[noun]
    article, form = DETERMINERS[determiner][feminine], {**BEFORE, **BEHIND}[adjective][feminine]
    behind, n = adjective in BEHIND, len(french)
    thing = (article, word, form) if behind else (article, form, word)
    places = (
        *(min(place, n - 1) for place in range(len(english))),
        *((n, n + 2, n + 1) if behind else (n, n + 1, n + 2)),
        *(n + 3 + place for place in range(len(english_end))),
    )
    start = len(english)
    return Phrase(
        (*english, determiner, adjective, noun, *english_end),
        (*french, *thing, *french_end),
        places,
        start,
    )


PHRASES = [phrase(*parts) for parts in product(FRAMES, DETERMINERS, {**BEFORE, **BEHIND}, NOUNS)]
ENGLISH = [*SPECIALS, *sorted({word for one in PHRASES for word in one.english})]
FRENCH = [*SPECIALS, *sorted({word for one in PHRASES for word in one.french})]
