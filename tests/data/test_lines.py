import gzip
import lzma
import os
import queue
import re
import sys
import threading
import tracemalloc
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data import lines
from regard.data.lines import read_lines, read_raw_lines
from regard.errors import DataError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKS = [gzip.compress, lzma.compress, zstd.compress]
relaxed = settings(deadline=None, max_examples=150)
# All that some function somewhere takes for a line end, and characters of 1 to 4 bytes.
ODD = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\ufeff"]
odd_text = st.lists(st.sampled_from([*ODD, "a", "é", "日", "🙂", " "]), max_size=30).map("".join)


def written(folder: Path, content: bytes, name: str = "some.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def problem(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        list(read_lines(path))
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


def raw_reference(text: str) -> list[str]:
    return [line for line in re.split("(?<=\n)|(?<=\r)(?!\n)", text) if line]


def reference(text: str) -> list[tuple[int, str]]:
    parts = re.split("\r\n|\r|\n", text.removeprefix("\ufeff"))
    return list(enumerate(parts[:-1] if parts[-1] == "" else parts, start=1))


@relaxed
@given(text=odd_text, chunk=st.integers(1, 9), pack=st.sampled_from([bytes, *PACKS]))
def test_lines_end_at_the_three_line_ends_and_nowhere_else(tmp_path_factory, text, chunk, pack):
    path = written(tmp_path_factory.getbasetemp(), pack(text.encode()))
    with mock.patch.object(lines, "CHUNK", chunk):
        assert list(read_lines(path)) == reference(text)
        raw = list(enumerate(raw_reference(text.removeprefix("\ufeff")), start=1))
        assert list(read_raw_lines(path)) == raw


@relaxed
@given(
    content=st.lists(st.sampled_from([b"\xff", b"a", b"\n", b"\r", b"\xc3", b"\xa9"])).map(b"".join)
)
def test_any_bytes_are_either_read_right_or_refused_at_the_first_wrong_one(
    tmp_path_factory, content
):
    path = written(tmp_path_factory.getbasetemp(), content)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start]
        number = len(re.findall(rb"\r\n|\r|\n", before)) + 1
        message = problem(path)
        assert f"{path}:{number}: not UTF-8: byte 0x{content[error.start]:02x} " in message
        assert f"at offset {error.start} of the text" in message
    else:
        assert list(read_lines(path)) == reference(text)


def test_only_the_first_byte_order_mark_is_dropped(tmp_path):
    assert list(read_lines(written(tmp_path, b"\xef\xbb\xbf"))) == []
    text = "\ufeff\ufeffa\n\ufeffb".encode()
    assert list(read_lines(written(tmp_path, text))) == [(1, "\ufeffa"), (2, "\ufeffb")]


def test_offsets_count_the_byte_order_mark(tmp_path):
    assert "some.txt:2: not UTF-8: byte 0xff at offset 5 " in problem(
        written(tmp_path, b"\xef\xbb\xbfa\n\xff")
    )


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("name", ["x.txt", "x.gz", "x.xz", "x.zst"])
def test_packed_files_are_known_by_how_they_begin_whatever_their_name(tmp_path, pack, name):
    path = written(tmp_path, pack("é\nb".encode()), name)
    assert list(read_lines(path)) == [(1, "é"), (2, "b")]


@pytest.mark.parametrize("pack", PACKS)
def test_a_packed_file_that_was_cut_off_is_refused_at_every_length(tmp_path, pack):
    whole = pack(b"some lines\n" * 50)
    for length in range(8, len(whole)):
        message = problem(written(tmp_path, whole[:length], "x.gz"))
        assert "the packed file is broken" in message and "Fetch it again" in message


def test_a_packed_file_with_a_flipped_byte_is_refused(tmp_path):
    whole = bytearray(gzip.compress(os.urandom(200).hex().encode()))
    whole[-6] ^= 1  # in the checksum
    assert "the packed file is broken (CRC check failed" in problem(written(tmp_path, bytes(whole)))


def test_a_zstd_file_with_a_flipped_byte_is_refused(tmp_path):
    whole = bytearray(zstd.compress(b"some lines\n" * 50))
    whole[5] ^= 255
    message = problem(written(tmp_path, bytes(whole)))
    assert "the packed file is broken (Unable to decompress Zstandard data" in message


@pytest.mark.parametrize("content", [b"", b"plain text\n"])
@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_plain_file_with_a_packed_name_is_refused(tmp_path, content, suffix):
    message = problem(written(tmp_path, content, "x" + suffix))
    assert f"the name ends in {suffix}, but the file does not begin like one" in message


@pytest.mark.parametrize(
    ("content", "place", "cause"),
    [
        ("un café noir\n".encode("latin-1"), ":1: not UTF-8: byte 0xe9 at offset 6", "'un café n"),
        (b"a\n\x93quoted\x94", ":2: not UTF-8: byte 0x93 at offset 2", "“quoted”"),
        ("text".encode("utf-16"), ":1: not UTF-8: byte 0xff at offset 0", "-f UTF-16"),
        ("text".encode("utf-16-le"), ":1: a NUL byte at offset 1", "binary data?"),
        (b"a\nb\0c", ":2: a NUL byte at offset 3", "binary data?"),
        (b"a\n\x80\x00\x01\x02", ":2: not UTF-8: byte 0x80 at offset 2", "a binary file?"),
        (b"PK\x03\x04\x00\x00", ":1: a NUL byte at offset 4", "ZIP archive (so are .xlsx"),
        (b"%PDF-1.7\n%\xb5\xb5", ":2: not UTF-8: byte 0xb5 at offset 10", "It is a PDF"),
        (b"BZh91AY&SY\xff", ":1: not UTF-8: byte 0xff at offset 10", "packed with bzip2"),
        (b"\xed\xa0\x80", ":1: not UTF-8: byte 0xed at offset 0", "Windows-1252"),
    ],
)
def test_what_is_not_utf8_is_placed_and_explained(tmp_path, content, place, cause):
    path = written(tmp_path, content)
    message = problem(path)
    assert f"{path}{place} of the text" in message
    assert cause in message


def test_the_place_inside_a_packed_file_is_that_in_its_text(tmp_path):
    assert "x.gz:3: not UTF-8: byte 0xe9 at offset 4 " in problem(
        written(tmp_path, gzip.compress(b"a\nb\n\xe9"), "x.gz")
    )


def test_a_missing_file_is_said_to_be_missing_and_from_where(tmp_path):
    assert f"no such file in {tmp_path}. Is the path right?" in problem(tmp_path / "absent.txt")


def test_a_folder_is_said_to_be_a_folder(tmp_path):
    assert "this is a folder. Name one file inside it." in problem(tmp_path)


def test_a_file_one_may_not_read_is_said_to_be_so(tmp_path):
    path = written(tmp_path, b"secret")
    with mock.patch.object(Path, "open", side_effect=PermissionError):  # root may read everything
        assert "no permission to read it" in problem(path)


def test_a_path_through_a_file_is_our_error_too(tmp_path):
    path = written(tmp_path, b"text")
    assert "can not be read: Not a directory." in problem(path / "inner.txt")


def test_lines_before_a_wrong_byte_are_still_delivered(tmp_path):
    reader = read_lines(written(tmp_path, b"one\ntwo\n\xff"))
    assert [next(reader), next(reader)] == [(1, "one"), (2, "two")]
    with pytest.raises(DataError):
        next(reader)


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_memory_does_not_grow_with_the_file(tmp_path, end):
    path = written(tmp_path, gzip.compress((b"x" * 99 + end) * 40_000), "big.gz")  # 4 MB
    tracemalloc.start()
    try:
        assert sum(len(line) for _, line in read_lines(path)) == 99 * 40_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_500_000


def test_a_very_long_line_is_read_whole(tmp_path):
    long = "é" * 3_000_000
    assert list(read_lines(written(tmp_path, f"a\n{long}\nb".encode()))) == [
        (1, "a"),
        (2, long),
        (3, "b"),
    ]


def test_a_pipe_can_be_read(tmp_path):
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as end:
        end.write(gzip.compress(b"a\nb\n"))
    with os.fdopen(reading, "rb"):
        assert list(read_lines(Path(f"/dev/fd/{reading}"))) == [(1, "a"), (2, "b")]


def test_a_line_from_a_pipe_is_handed_on_before_the_next_one_is_written():
    reading, writing = os.pipe()
    seen: queue.SimpleQueue = queue.SimpleQueue()

    def read() -> None:
        for line in read_lines(Path(f"/dev/fd/{reading}")):
            seen.put(line)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        for number, text in enumerate(["a", "", "é", "b\vc", "x" * 200_000, "end"], start=1):
            with os.fdopen(os.dup(writing), "wb") as end:
                end.write(f"{text}\n".encode())
            assert seen.get(timeout=20) == (number, text)
    finally:
        os.close(writing)
        reader.join(timeout=20)
        os.close(reading)
    assert not reader.is_alive() and seen.empty()


def test_a_pipe_whose_lines_end_in_carriage_returns_is_one_byte_late_at_most():
    reading, writing = os.pipe()
    os.write(writing, b"one\rt")
    with os.fdopen(reading, "rb"):
        reader = read_lines(Path(f"/dev/fd/{reading}"))
        assert next(reader) == (1, "one")
        os.write(writing, b"wo\r")
        os.write(writing, b"three")
        assert next(reader) == (2, "two")
        os.close(writing)
        assert list(reader) == [(3, "three")]


def test_a_reader_that_is_not_read_to_its_end_closes_its_file(tmp_path):
    reader = read_lines(written(tmp_path, b"a\nb\n"))
    next(reader)
    reader.close()  # an open file would be a ResourceWarning, which is an error here
