from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.pairs import Pair, read_pairs
from regard.errors import DataError

side = st.text(st.characters(exclude_characters="\t\r\n\0", codec="utf-8")).filter(str.strip)


def written(folder: Path, text: str) -> Path:
    path = folder / "pairs.tsv"
    path.write_bytes(text.encode())
    return path


@settings(deadline=None, max_examples=60)
@given(st.lists(st.builds(Pair, side, side), min_size=1), st.sampled_from(["\n", "\r\n", "\r"]))
def test_written_pairs_are_read_back_exactly(tmp_path_factory, pairs, end):
    text = "".join(f"{pair.source}\t{pair.target}{end}" for pair in pairs)
    path = written(tmp_path_factory.getbasetemp(), "\ufeff" + text)
    assert list(read_pairs(path)) == pairs


def test_blank_lines_are_skipped_and_blanks_around_a_text_are_kept(tmp_path):
    path = written(tmp_path, "\n a\tb \n  \n\nc\td\n\n")
    assert list(read_pairs(path)) == [Pair(" a", "b "), Pair("c", "d")]


@pytest.mark.parametrize(
    ("line", "found", "guess"),
    [
        ("hello", "found 1 column in 'hello'.", "Put one tab between source and target."),
        ("hello,hallo", "found 1 column in", "Is the file separated by commas?"),
        ("hello;hallo", "found 1 column in", "Is the file separated by semicolons?"),
        ("hello, you    hallo, du", "found 1 column in", "turn the tab into several blanks?"),
        ("a\tb\tc", "found 3 columns in 'a\\tb\\tc'.", "cut -f 1,2"),
        ("a\tb\t", "found 3 columns in 'a\\tb\\t'.", "cut -f 1,2"),
        ("\tb", "the source is empty in '\\tb'.", "Fill it in, or remove the line."),
        ("a\t", "the target is empty in 'a\\t'.", "Fill it in, or remove the line."),
        ("a\t \u00a0", "the target is empty in", "Fill it in, or remove the line."),
        ("\t", "the source is empty in", "Fill it in, or remove the line."),
        ("x" * 500, f"in '{'x' * 57}...'.", "Put one tab"),
    ],
)
def test_a_wrong_line_is_named_shown_and_explained(tmp_path, line, found, guess):
    path = written(tmp_path, f"good\tgut\n\n{line}\n")
    with pytest.raises(DataError) as caught:
        list(read_pairs(path))
    message = str(caught.value)
    assert message.startswith(f"{path}:3: ")
    assert found in message and guess in message


@pytest.mark.parametrize(
    ("text", "why"), [("", "the file is empty"), ("\n \n", "every line is blank")]
)
def test_a_file_without_pairs_is_refused(tmp_path, text, why):
    with pytest.raises(DataError, match=rf"no pairs in it: {why}\. Expected one source<TAB>target"):
        list(read_pairs(written(tmp_path, text)))
