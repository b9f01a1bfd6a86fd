"""Lines of more than a megabyte: read like any other, in a few times the memory they take."""

import tracemalloc

import pytest

from regard.data.lines import LONG, read_lines
from regard.errors import DataError

TALL = "é\u2028" * LONG  # five bytes each


def test_a_long_line_is_cut_at_the_three_line_ends_and_nowhere_else(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(f"a\r\n{TALL}\rb\x85\n{TALL}".encode())
    assert [line for _, line in read_lines(path)] == ["a", TALL, "b\x85", TALL]


@pytest.mark.parametrize(
    ("wrong", "what"), [(b"\xff", "not UTF-8: byte 0xff at"), (b"\0", "a NUL byte at")]
)
def test_a_wrong_byte_far_inside_of_a_long_line_is_placed(tmp_path, wrong, what):
    path = tmp_path / "long.txt"
    before = f"a\n{TALL}".encode()
    path.write_bytes(before + wrong + b"\nb\n")
    with pytest.raises(DataError, match=f"long.txt:2: {what} offset {len(before)} "):
        list(read_lines(path))


def test_a_long_line_takes_memory_for_a_few_copies_of_itself(tmp_path):
    path, size = tmp_path / "long.txt", 8 * LONG
    path.write_bytes(b"x" * size)
    tracemalloc.start()
    try:
        assert sum(len(line) for _, line in read_lines(path)) == size
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 * size
