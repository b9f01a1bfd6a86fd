"""Which texts were trained on: hashes of them, kept with a run, that other texts are held against.

A document counts as seen where half of its longer sentences stand in the training text, whatever
stands around them there; a short one where it is equal to one that was trained on.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Self

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from regard.errors import RunError
from regard.files import make_folder, read_bytes, write_bytes

FILE = "seen.safetensors"
MOST = 2**18  # hashes that are kept, at most
SENTENCE = re.compile(r"[^.!?\n]{40,}")  # shorter ones are not telling
FEWEST = 3  # sentences to judge a document by

Pieces = Iterable[tuple[str, bool]]
"""Texts, each with whether a document ends after it."""


class Seen:
    """Of very many hashes only those are kept that `every` divides: which ones depends on the text
    alone, so that the same are looked for later."""

    def __init__(self, hashes: Iterable[int], every: int = 1) -> None:
        self.hashes, self.every = set(hashes), every

    @classmethod
    def of(cls, pieces: Pieces) -> Self:
        found = cls([])
        for sentences, document in hashes_of(pieces):
            whole = [] if document is None else [document]
            found.hashes.update(one for one in (*sentences, *whole) if not one % found.every)
            while len(found.hashes) > MOST:
                found.every *= 2
                found.hashes = {one for one in found.hashes if not one % found.every}
        return found

    def count(self, pieces: Pieces) -> int:
        """How many documents were seen; about as many, where not all hashes are kept."""
        total = kept = known = 0
        for sentences, document in hashes_of(pieces):
            own = [sentence for sentence in sentences if not sentence % self.every]
            kept, known = kept + len(own), known + sum(one in self.hashes for one in own)
            if document is None:
                continue
            if kept < FEWEST:  # then equal ones count, and stand for those that are not kept
                total += self.every * (document in self.hashes)
            else:
                total += 2 * known >= kept
            kept = known = 0
        return total

    def save(self, folder: Path) -> None:
        make_folder(folder)
        hashes = np.array(sorted(self.hashes), dtype=np.uint64)
        write_bytes(folder / FILE, save_arrays({"hashes": hashes, "every": np.array([self.every])}))

    @classmethod
    def load(cls, folder: Path) -> Self | None:
        """What `save` wrote; None where a run has kept nothing of the kind."""
        if not (folder / FILE).exists():
            return None
        try:
            arrays = load_arrays(read_bytes(folder / FILE))
            return cls(arrays["hashes"].tolist(), int(arrays["every"][0]))
        except (OSError, SafetensorError, LookupError, TypeError, ValueError) as error:
            raise RunError(f"{folder / FILE}: damaged: {error}\nCopy it again.") from error


def hashes_of(pieces: Pieces) -> Iterator[tuple[list[int], int | None]]:
    """Of each piece: its longer sentences; and the document, where one ends with it."""
    document = blake2b(digest_size=8)
    for text, ends in pieces:
        document.update(text.encode())
        sentences = [
            _number(blake2b(one.strip().encode(), digest_size=8).digest())
            for one in SENTENCE.findall(text)
        ]
        yield sentences, _number(document.digest()) if ends else None
        document = blake2b(digest_size=8) if ends else document


def _number(digest: bytes) -> int:
    return int.from_bytes(digest, "big")
