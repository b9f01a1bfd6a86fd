"""The tokens of a text on disk, read as if they were in memory.

A folder holds shards, 00000.bin, 00001.bin, ...: token ids, little-endian, two bytes each or four.
tokens.json says what is in them.
"""

from bisect import bisect_right
from itertools import accumulate
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt

from regard.errors import RunError, ShapeError
from regard.files import file_hash, read_bytes

MANIFEST = "tokens.json"


class Shard(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    tokens: PositiveInt
    sha256: str


class Manifest(BaseModel):
    """What is in the shards so far: all numbers are sums over those that are listed."""

    model_config = ConfigDict(strict=True, extra="forbid")

    format: Literal[1] = 1
    dtype: Literal["<u2", "<u4"]
    vocabulary: PositiveInt
    """How many ids the tokenizer has."""
    done: bool = False
    """Whether this is the whole text."""
    pieces: NonNegativeInt = 0
    characters: NonNegativeInt = 0
    bytes: NonNegativeInt = 0
    """Of the text, in UTF-8."""
    documents: NonNegativeInt = 0
    unknown: NonNegativeInt = 0
    """UNKNOWN tokens."""
    tokens: NonNegativeInt = 0
    shards: list[Shard] = []


def shard_path(folder: Path, number: int) -> Path:
    return folder / f"{number:05}.bin"


def read_manifest(folder: Path) -> Manifest | None:
    """None where nothing is kept yet; a RunError where something is, and it is damaged. Of the
    shards only the sizes are looked at."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        manifest = Manifest.model_validate_json(read_bytes(path))
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: damaged or not readable.") from error
    if manifest.tokens != sum(shard.tokens for shard in manifest.shards):
        raise RunError(f"{path}: damaged: its shards do not add up to {manifest.tokens:,} tokens.")
    for number, shard in enumerate(manifest.shards):
        size = shard.tokens * np.dtype(manifest.dtype).itemsize
        _require_whole(shard_path(folder, number), size, shard.sha256)
    return manifest


def _require_whole(path: Path, wanted: int, hashed: str) -> None:
    """All of it is read: half a second for the tokens of 1 GB, and a flipped bit would be learned
    from for hours."""
    try:
        size = path.stat().st_size
        found = file_hash(path) if size == wanted else ""
    except OSError as error:
        raise RunError(f"{path}: can not be read: {error.strerror}.") from error
    if size != wanted:
        raise RunError(f"{path}: damaged: {size:,} bytes, and {wanted:,} were written.")
    if found != hashed:
        raise RunError(f"{path}: damaged: its SHA-256 is not the one in {MANIFEST}.")


class Tokens:
    """STOP, a document, STOP, a document, ..., STOP. Nothing is read before it is asked for."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.bytes = manifest.bytes
        """Of the text, in UTF-8."""
        self.documents, self.unknown = manifest.documents, manifest.unknown
        self._manifest = manifest
        self._starts = [0, *accumulate(shard.tokens for shard in manifest.shards)]
        # All of them now: what is mapped stays, even if somebody clears the cache.
        self._shards = [
            np.memmap(shard_path(folder, number), manifest.dtype, "r", shape=(shard.tokens,))
            for number, shard in enumerate(manifest.shards)
        ]

    def __len__(self) -> int:
        return self._manifest.tokens

    def __getitem__(self, part: slice, /) -> NDArray[np.int64]:
        start, stop, step = part.indices(len(self))
        if step != 1:
            raise ShapeError(f"tokens come as tokens[start:stop], without a step of {step}.")
        found: list[NDArray[np.integer]] = [np.empty(0, dtype=np.int64)]
        while start < stop:
            number = bisect_right(self._starts, start) - 1
            place = start - self._starts[number]
            found.append(self._shards[number][place : place + stop - start])
            start += len(found[-1])
        return np.concatenate(found, dtype=np.int64)
