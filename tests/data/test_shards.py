"""Tokens on disk: the same as in memory, whatever happens while they are made."""

import json
import threading
import time
import tracemalloc
from pathlib import Path
from unittest import mock

import filelock
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.config import TokenizerSettings
from regard.data import pieces, shards
from regard.data.corpus import Corpus
from regard.data.shards import cache_home, tokenize
from regard.errors import RunError, ShapeError
from regard.names import STOP, UNKNOWN
from regard.text import fit_tokenizer
from regard.text.symbols import Symbols

LETTERS = Symbols("character", list("abcdefghijklmnopqrstuvwxyz \n"))
relaxed = settings(deadline=None, max_examples=40)


@pytest.fixture
def small(monkeypatch):
    """Pieces of at most 8 characters, batches of about 10, shards of at most 30 tokens."""
    monkeypatch.setattr(pieces, "PIECE", 8)
    monkeypatch.setattr(shards, "BATCH", 10)
    monkeypatch.setattr(shards, "SHARD", 30)


@pytest.fixture
def texts(tmp_path, small):
    lines = ["the quick brown fox", "jumps", "over the lazy dog", "ünd", *["again and again"] * 9]
    return corpus(tmp_path / "lines.txt", "\n".join(lines), "line").all()


def corpus(path: Path, text: str, documents: str = "file") -> Corpus:
    path.write_text(text, encoding="utf-8")
    return Corpus.read([path], documents=documents)


def expected(texts, tokenizer=LETTERS) -> list[int]:
    found = [STOP]
    for text, ends in texts:
        found += tokenizer.ids(text) + [STOP] * ends
    return found


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# What is in them


def test_tokens_are_those_of_the_pieces_with_a_stop_around_each_document(texts, tmp_path):
    tokens = tokenize(texts, LETTERS, tmp_path)
    assert tokens[:].tolist() == expected(texts) and len(tokens) == len(expected(texts))
    assert (tokens.documents, tokens.bytes, tokens.unknown) == (13, texts.bytes, 1)
    assert (tokens[:] == UNKNOWN).sum() == 1 and (tokens[:] == STOP).sum() == 14
    assert len(list(tokens.folder.glob("*.bin"))) > 3
    manifest = json.loads((tokens.folder / "tokens.json").read_text())
    assert manifest["done"] and manifest["tokens"] == len(tokens)
    assert manifest["dtype"] == "<u2" and manifest["vocabulary"] == LETTERS.size
    assert all(shard["tokens"] <= 30 for shard in manifest["shards"])


@relaxed
@given(
    text=st.text("abz \n", min_size=1, max_size=60),
    first=st.floats(0, 1),
    sizes=st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(20, 40)),
)
def test_any_part_of_any_text_gives_its_tokens(tmp_path_factory, text, first, sizes):
    folder = tmp_path_factory.mktemp("x")
    piece, batch, shard = sizes
    with (
        mock.patch.object(pieces, "PIECE", piece),
        mock.patch.object(shards, "BATCH", batch),
        mock.patch.object(shards, "SHARD", shard),
    ):
        whole = corpus(folder / "x.txt", f"-{text}")
        side = whole.side(round(first * whole.characters), whole.characters)
        tokens = tokenize(side, LETTERS, folder)
        wanted = expected(side)
    ids = LETTERS.ids(f"-{text}"[side.first :])
    assert tokens[:].tolist() == wanted == ([STOP, *ids, STOP] if ids else [STOP])


def test_any_stretch_can_be_asked_for(texts, tmp_path):
    tokens, wanted = tokenize(texts, LETTERS, tmp_path), np.array(expected(texts))
    for start in range(0, len(wanted), 7):
        for stop in range(start, len(wanted) + 1, 5):
            part = tokens[start:stop]
            assert part.dtype == np.int64 and np.array_equal(part, wanted[start:stop])
    assert np.array_equal(tokens[-5:], wanted[-5:]) and len(tokens[9:3]) == 0
    assert np.array_equal(tokens[5 : len(wanted) + 9], wanted[5:])
    with pytest.raises(ShapeError, match="without a step of 2"):
        tokens[::2]


def test_a_large_vocabulary_takes_four_bytes(tmp_path, small):
    letters = [chr(0x4E00 + n) for n in range(20_000)] + [chr(0x20000 + n) for n in range(45_600)]
    tokenizer = Symbols("character", letters)
    texts = corpus(tmp_path / "x.txt", "".join(letters[-30:])).all()
    tokens = tokenize(texts, tokenizer, tmp_path)
    assert max(tokens[:]) == tokenizer.size - 1 == 65_603
    assert (tokens.folder / "00000.bin").stat().st_size == 4 * 1 + 4 * 16


@pytest.mark.parametrize("kind", ["bytes", "bpe", "word", "wordpiece"])
def test_every_tokenizer_will_do(texts, tmp_path, kind):
    tokenizer = fit_tokenizer(TokenizerSettings(kind=kind, size=300), ["the lazy dog over again"])
    assert tokenize(texts, tokenizer, tmp_path)[:].tolist() == expected(texts, tokenizer)


def test_other_texts_and_other_tokenizers_get_folders_of_their_own(texts, tmp_path):
    other = Symbols("character", list("abc"))
    sides = [texts, Corpus.read([tmp_path / "lines.txt"]).all(), texts.without(texts)]
    folders = {tokenize(side, t, tmp_path).folder for side in sides for t in (LETTERS, other)}
    assert len(folders) == 6 and {folder.parent for folder in folders} == {tmp_path / "tokens"}
    nothing = tokenize(sides[2], LETTERS, tmp_path)
    assert nothing[:].tolist() == [STOP] and nothing.documents == nothing.bytes == 0


# Made once


def test_the_second_time_nothing_is_made(texts, tmp_path):
    tokens = tokenize(texts, LETTERS, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tokens.folder.glob("[!.]*")}
    with mock.patch.object(Symbols, "ids_of", side_effect=AssertionError):
        again = tokenize(texts, LETTERS, tmp_path)
    assert np.array_equal(again[:], tokens[:])
    assert (again.unknown, again.bytes, again.documents) == (1, tokens.bytes, 13)
    assert before == {path: path.stat().st_mtime_ns for path in tokens.folder.glob("[!.]*")}


def test_who_listens_hears_how_far_it_is(texts, tmp_path):
    heard = []
    tokenize(texts, LETTERS, tmp_path, lambda *both: heard.append(both))
    done = [characters for characters, _ in heard]
    assert done == sorted(set(done)) and heard[-1] == (len(texts), len(texts))
    tokenize(texts, LETTERS, tmp_path, lambda *both: heard.append("again"))
    assert "again" not in heard


class Stopped(Exception):
    pass


def stopping(after: int):
    """A listener that raises when it is told something for the n-th time."""
    told = []

    def heard(done, whole):
        told.append(done)
        if len(told) == after:
            raise Stopped

    return heard


def test_stopped_at_any_piece_it_goes_on_and_ends_with_the_same_files(texts, tmp_path):
    heard = []
    whole = tokenize(texts, LETTERS, tmp_path / "whole", lambda *both: heard.append(both))
    for after in range(1, len(heard) + 1):
        home = tmp_path / str(after)
        with pytest.raises(Stopped):
            tokenize(texts, LETTERS, home, stopping(after))
        listener = mock.Mock()
        tokens = tokenize(texts, LETTERS, home, listener)
        rest = [call.args for call in listener.call_args_list]
        assert contents(tokens.folder) == contents(whole.folder)
        assert rest == heard[len(heard) - len(rest) :]  # what is in a shard is not made again
        assert after < 9 or len(rest) < len(heard)


def test_stopped_again_and_again_it_still_comes_to_its_end(texts, tmp_path):
    whole = tokenize(texts, LETTERS, tmp_path / "whole")
    for _ in range(100):
        try:
            tokens = tokenize(texts, LETTERS, tmp_path / "often", stopping(6))
        except Stopped:
            continue
        break
    assert contents(tokens.folder) == contents(whole.folder)


@pytest.mark.parametrize("number", range(1, 8))
def test_a_full_disk_is_an_error_and_afterwards_it_goes_on(texts, tmp_path, number):
    whole = tokenize(texts, LETTERS, tmp_path / "whole")
    calls = []
    real = shards.os.fsync

    def full(handle):
        calls.append(handle)
        if len(calls) == number:
            raise OSError(28, "No space left on device")
        real(handle)

    with mock.patch("os.fsync", full), pytest.raises(RunError, match="No space left on device"):
        tokenize(texts, LETTERS, tmp_path / "full")
    tokens = tokenize(texts, LETTERS, tmp_path / "full")
    assert contents(tokens.folder) == contents(whole.folder)


def test_what_a_killed_process_left_is_swept_away(texts, tmp_path):
    folder = tokenize(texts, LETTERS, tmp_path).folder
    (folder / ".00000.bin.123.part").write_bytes(b"half")
    tokenize(texts, LETTERS, tmp_path)
    assert not list(folder.glob(".*.part"))


# Damage


def cut_short(folder):
    path = folder / "00001.bin"
    path.write_bytes(path.read_bytes()[:-1])


def flipped(folder):
    path = folder / "00001.bin"
    data = bytearray(path.read_bytes())
    data[3] ^= 1
    path.write_bytes(data)


def gone(folder):
    (folder / "00002.bin").unlink()


def no_json(folder):
    path = folder / "tokens.json"
    path.write_bytes(path.read_bytes()[:-30])


def wrong_sum(folder):
    path = folder / "tokens.json"
    found = json.loads(path.read_text())
    path.write_text(json.dumps(found | {"tokens": 7}))


def other_keys(folder):
    (folder / "tokens.json").write_text('{"format": 1, "shards": ["../x"]}')


def folder_instead(folder):
    (folder / "tokens.json").unlink()
    (folder / "tokens.json").mkdir()


@pytest.mark.parametrize(
    ("harm", "what"),
    [
        (cut_short, "00001.bin: damaged: .* bytes"),
        (flipped, "00001.bin: damaged: its SHA-256"),
        (gone, "00002.bin: can not be read"),
        (no_json, "tokens.json: damaged"),
        (wrong_sum, "tokens.json: damaged: its shards do not add up to 7 tokens"),
        (other_keys, "tokens.json: damaged"),
        (folder_instead, "tokens.json: damaged"),
    ],
)
def test_what_is_damaged_is_named_and_made_again(texts, tmp_path, harm, what):
    folder = tokenize(texts, LETTERS, tmp_path).folder
    before = contents(folder)
    harm(folder)
    with pytest.warns(UserWarning, match=f"{what}.* once more"):
        tokens = tokenize(texts, LETTERS, tmp_path)
    assert contents(folder) == before and tokens[:].tolist() == expected(texts)


def test_a_damaged_shard_of_a_stopped_call_is_noticed_too(texts, tmp_path):
    whole = tokenize(texts, LETTERS, tmp_path / "whole")
    with pytest.raises(Stopped):
        tokenize(texts, LETTERS, tmp_path, stopping(12))
    folder = tmp_path / "tokens" / whole.folder.name
    cut_short(folder)
    with pytest.warns(UserWarning, match="00001.bin: damaged"):
        tokenize(texts, LETTERS, tmp_path)
    assert contents(folder) == contents(whole.folder)


def test_what_is_open_stays_readable_when_the_cache_is_cleared(texts, tmp_path):
    tokens = tokenize(texts, LETTERS, tmp_path)
    for path in tokens.folder.iterdir():
        path.unlink()
    assert tokens[:].tolist() == expected(texts)


# Together


def test_a_second_process_waits_and_says_so(texts, tmp_path):
    folder = tokenize(texts, LETTERS, tmp_path).folder
    begun = threading.Event()

    def hold():
        with filelock.FileLock(folder / ".lock"):
            begun.set()
            time.sleep(0.5)

    other = threading.Thread(target=hold)
    other.start()
    begun.wait()
    start = time.monotonic()
    with pytest.warns(UserWarning, match="another process is making tokens of the same text"):
        tokens = tokenize(texts, LETTERS, tmp_path)
    other.join()
    assert time.monotonic() - start > 0.4 and tokens[:].tolist() == expected(texts)


def test_a_folder_that_can_not_be_written_is_named(texts, tmp_path):
    (tmp_path / "home").write_text("a file")
    with pytest.raises(RunError, match="can not be made"):
        tokenize(texts, LETTERS, tmp_path / "home")
    denied = mock.patch.object(
        filelock.FileLock, "acquire", side_effect=PermissionError(13, "Permission denied")
    )
    with denied, pytest.raises(RunError, match="can not be written: Permission denied"):
        tokenize(texts, LETTERS, tmp_path)


def test_memory_does_not_grow_with_the_text(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "SHARD", 2**16)
    monkeypatch.setattr(pieces, "PIECE", 2**14)
    monkeypatch.setattr(shards, "BATCH", 2**13)
    texts = corpus(tmp_path / "x.txt", "the quick brown fox\n" * 100_000).all()
    tracemalloc.start()
    try:
        tokens = tokenize(texts, LETTERS, tmp_path)
        _, peak = tracemalloc.get_traced_memory()
        assert len(tokens) == 2_000_002
    finally:
        tracemalloc.stop()
    assert peak < 1_500_000


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    assert cache_home() == Path.home() / ".cache" / "regard"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert cache_home() == Path.home() / ".cache" / "regard"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_home() == tmp_path / "regard"
    monkeypatch.setenv("REGARD_CACHE", "~/mine")
    assert cache_home() == Path.home() / "mine"
