"""From files to the tokens that a language model learns from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus import Corpus, Texts
from regard.data.shards import cache_home, tokenize
from regard.data.splits import Splits
from regard.names import STOP, UNKNOWN
from regard.progress import tell
from regard.tasks.text_recipe import TextData
from regard.tasks.windows import TokenRow
from regard.text.tokenizer import Tokenizer

IN_MEMORY = 5_000_000  # characters; the tokens of longer texts are kept on disk
LEARNED_FROM = 20_000_000  # characters that a tokenizer learns from, at most
SAMPLES, BEGINNING = 6, 60  # beginnings to show, and the characters of one

Documents = Texts | Sequence[str]


@dataclass(frozen=True)
class TextSplits(Splits[str]):
    """Parts of a text, each read from its files whenever it is asked for."""

    unit = "characters"
    train: Texts  # type: ignore[assignment]
    validation: Texts  # type: ignore[assignment]
    test: Texts  # type: ignore[assignment]

    @property
    def sha256(self) -> str:
        parts = (self.train, self.validation, self.test)
        return sha256(" ".join(part.sha256 for part in parts).encode()).hexdigest()


class Tokens(NamedTuple):
    """STOP, a document, STOP, a document, ..., STOP."""

    row: TokenRow
    bytes: int  # of the text, in UTF-8
    unknown: int  # tokens of it that the tokenizer has never met
    widths: NDArray[np.int64]  # (V,) bytes that each token stands for
    lossy: bool
    """Whether some of the text is lost: it can not be put together again from its tokens."""

    def sizes(self) -> NDArray[np.float64]:
        """(tokens but the first,) bytes of the text that each stands for. What is lost is shared
        out, so that all add up to the text."""
        own = self.widths[self.row[1:]].astype(float)
        if not own.sum():
            return np.full(len(own), self.bytes / max(1, len(own)))
        return own * (self.bytes / own.sum())


def read_text(data: TextData) -> TextSplits:
    return split_text(data, read_whole(data))


def read_whole(data: TextData) -> Corpus:
    return _corpus(data, data.path)


def split_text(data: TextData, whole: Corpus) -> TextSplits:
    train, validation, test = whole.split(_shares(data))
    own = {name: _corpus(data, path) for name, path in _own_files(data).items()}
    validation = own["validation"].all() if "validation" in own else validation
    test = own["test"].all() if "test" in own else test
    if own:
        train = train.without(validation, test)
    return TextSplits(
        train,
        validation,
        test,
        notes=tuple(note for one in (whole, *own.values()) for note in one.notes),
        skipped=sum(one.skipped for one in (whole, *own.values())),
        overlapping=train.overlapping,
    )


def _corpus(data: TextData, paths: str | tuple[str, ...] | None) -> Corpus:
    several = [paths] if isinstance(paths, str) else list(paths or ())
    return read_corpus(data, [Path(path) for path in several])


def read_corpus(data: TextData, paths: Sequence[Path]) -> Corpus:
    return Corpus.read(paths, column=data.column, documents=data.documents)


def _own_files(data: TextData) -> dict[str, str | tuple[str, ...]]:
    named = {"validation": data.validation, "test": data.test}
    return {name: path for name, path in named.items() if path is not None}


def _shares(data: TextData) -> tuple[float, float, float]:
    """What has a file of its own needs no share: the training part takes it."""
    _, validation, test = data.split
    validation, test = validation * (not data.validation), test * (not data.test)
    return 100 - validation - test, validation, test


def texts_to_learn_from(texts: Documents) -> Iterator[str]:
    """All of a text, or evenly spread parts of a very long one."""
    if not isinstance(texts, Texts):
        yield from texts
        return
    every = -(-len(texts) // LEARNED_FROM)
    for number, piece in enumerate(texts):
        if number % every == 0:
            yield piece.text


def beginning(texts: Texts, characters: int) -> str:
    """So many characters of a text, at most; where one document ends does not matter."""
    found = ""
    for piece in texts:
        found += piece.text
        if len(found) >= characters:
            break
    return found[:characters]


def tokens_of(texts: Documents, tokenizer: Tokenizer) -> Tokens:
    if isinstance(texts, Texts) and len(texts) > IN_MEMORY:
        kept = tokenize(
            texts, tokenizer, cache_home(), lambda done, whole: tell("Cutting", done, whole)
        )
        return Tokens(kept, kept.bytes, kept.unknown, *_kind(tokenizer, kept.unknown))
    pieces = [[STOP]]
    for text, ends in pieces_of(texts):
        pieces.append(tokenizer.ids(text))
        if ends:
            pieces.append([STOP])
    row = np.concatenate([np.array(piece, dtype=np.int64) for piece in pieces])
    unknown = int((row == UNKNOWN).sum())
    return Tokens(row, _size(texts), unknown, *_kind(tokenizer, unknown))


def _kind(tokenizer: Tokenizer, unknown: int) -> tuple[NDArray[np.int64], bool]:
    """`widths` and `lossy`. A piece of kind bytes has a letter for each byte; of words, the blanks
    between them are lost."""
    saved = tokenizer.as_json()
    kind, pieces = saved["kind"], saved["pieces"]
    widths = [len(one) if kind == "bytes" else len(one.encode()) for one in pieces]
    lossy = kind in ("word", "wordpunct", "wordpiece") or saved["lowercase"] or unknown > 0
    return np.array([0] * UNKNOWN + [1, *widths]), bool(lossy)


def pieces_of(texts: Documents) -> Iterable[tuple[str, bool]]:
    return texts if isinstance(texts, Texts) else ((text, True) for text in texts)


def _size(texts: Documents) -> int:
    if isinstance(texts, Texts):
        return texts.bytes
    return sum(len(text.encode()) for text in texts)


def beginnings(texts: Documents) -> list[str]:
    """The first words of some documents, or of some lines of a long one."""
    found: list[str] = []
    for text, _ in pieces_of(texts):
        for start in range(0, len(text), max(1, len(text) // SAMPLES)):
            line = text[start : start + 4 * BEGINNING].partition("\n")[2].strip() or text
            found.append(line[:BEGINNING].rpartition(" ")[0] or line[:BEGINNING])
        if len(found) >= SAMPLES:
            break
    return list(dict.fromkeys(found))[:SAMPLES]
