"""Text to tokens on disk, once: `tokenize`. Stopped at any moment, it goes on where it was.

Shards end where pieces of the text do. After each, `tokens.json` says how many pieces are done;
the next call skips those.
"""

import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path

import filelock
import numpy as np
from numpy.typing import NDArray

from regard.data.pieces import Piece
from regard.data.texts import Texts
from regard.data.tokens import MANIFEST, Manifest, Shard, Tokens, read_manifest, shard_path
from regard.errors import RunError
from regard.files import PATIENCE, make_folder, remove, write_bytes, write_json
from regard.names import STOP, UNKNOWN
from regard.text.tokenizer import Tokenizer

__all__ = ["Tokens", "cache_home", "tokenize"]

FORMAT = 1
SHARD = 2**22  # tokens, at most: some MB, which are in memory until they are written
BATCH = 2**19  # characters that are handed to the tokenizer at once, if not a single piece is more
MOST = 2**14  # pieces at once


def cache_home() -> Path:
    """Where what can be made again is kept: $REGARD_CACHE, or `regard` in the user's cache."""
    if own := os.environ.get("REGARD_CACHE"):
        return Path(own).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(caches) if os.path.isabs(caches) else Path.home() / ".cache") / "regard"


def _nobody(done: int, whole: int) -> None:
    pass


def tokenize(
    texts: Texts, tokenizer: Tokenizer, home: Path, heard: Callable[[int, int], object] = _nobody
) -> Tokens:
    """All tokens of a text, from a folder below `home` where they are there already.

    `heard(done, whole)` is told how many characters are done. A second process that wants the
    same waits for the first.
    """
    folder = home / "tokens" / _name(texts, tokenizer)
    make_folder(folder)
    with _held(folder):
        manifest = _begun(folder) or Manifest(
            dtype="<u2" if tokenizer.size <= 2**16 else "<u4", vocabulary=tokenizer.size
        )
        if not manifest.done:
            _go_on(folder, manifest, texts, tokenizer, heard)
        return Tokens(folder, manifest)


def _name(texts: Texts, tokenizer: Tokenizer) -> str:
    which = [FORMAT, texts.sha256, texts.first, texts.last, tokenizer.as_json()]
    return sha256(json.dumps(which, sort_keys=True).encode()).hexdigest()[:32]


def _begun(folder: Path) -> Manifest | None:
    """What an earlier call has left. What is damaged is removed, and made again."""
    for part in folder.glob(".*.part"):
        remove(part)
    try:
        return read_manifest(folder)
    except RunError as error:
        warnings.warn(f"{error} The text is turned into tokens once more.", stacklevel=3)
        remove(folder / MANIFEST)
        return None


def _go_on(
    folder: Path,
    manifest: Manifest,
    texts: Texts,
    tokenizer: Tokenizer,
    heard: Callable[[int, int], object],
) -> None:
    """Fill shards with what is not yet in one. The manifest counts along."""
    shard = bytearray() if manifest.shards else bytearray(_packed([STOP], manifest).tobytes())
    for batch in _batches(islice(texts, manifest.pieces, None)):
        ids = _ids(batch, tokenizer, manifest)
        if len(shard) + ids.nbytes > SHARD * ids.itemsize:
            _write(folder, manifest, shard)
        shard += ids.tobytes()
        _count(manifest, batch, ids)
        heard(manifest.characters, texts.characters)
    manifest.done = True
    _write(folder, manifest, shard)


def _batches(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    batch: list[Piece] = []
    size = 0
    for piece in pieces:
        batch.append(piece)
        size += len(piece.text)
        if size >= BATCH or len(batch) == MOST:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _ids(
    batch: list[Piece], tokenizer: Tokenizer, manifest: Manifest
) -> NDArray[np.unsignedinteger]:
    found: list[int] = []
    texts = [piece.text for piece in batch]
    for piece, ids in zip(batch, tokenizer.ids_of(texts), strict=True):
        found += ids
        if piece.ends:
            found.append(STOP)
    return _packed(found, manifest)


def _packed(ids: list[int], manifest: Manifest) -> NDArray[np.unsignedinteger]:
    return np.array(ids, dtype=manifest.dtype)


def _count(manifest: Manifest, batch: list[Piece], ids: NDArray[np.unsignedinteger]) -> None:
    manifest.pieces += len(batch)
    manifest.characters += sum(len(piece.text) for piece in batch)
    manifest.bytes += sum(len(piece.text.encode("utf-8")) for piece in batch)
    manifest.documents += sum(piece.ends for piece in batch)
    manifest.unknown += int(np.count_nonzero(ids == UNKNOWN))


def _write(folder: Path, manifest: Manifest, shard: bytearray) -> None:
    """The shard first: should we be stopped before the manifest, nobody looks at it."""
    tokens = len(shard) // np.dtype(manifest.dtype).itemsize
    digest = write_bytes(shard_path(folder, len(manifest.shards)), bytes(shard))
    manifest.shards.append(Shard(tokens=tokens, sha256=digest))
    manifest.tokens += tokens
    write_json(folder / MANIFEST, manifest.model_dump())
    shard.clear()


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Be the only one who works in a folder."""
    lock = filelock.FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=PATIENCE)
    except filelock.Timeout:
        waiting = f"{folder}: another process is making tokens of the same text: waiting for it."
        warnings.warn(waiting, stacklevel=4)
        lock.acquire()
    except OSError as error:
        raise RunError(f"{folder}: can not be written: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()
