"""A corpus: what is read, what is left out, and that its parts give back every character."""

import gzip
import lzma
import os
import tracemalloc
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data import pieces
from regard.data.corpus import MANY, Corpus
from regard.data.pieces import PIECE, Piece, in_pieces, pieces_of_file
from regard.errors import ConfigError, DataError
from regard.progress import listening

relaxed = settings(deadline=None, max_examples=60)
# Blanks and line ends of all kinds, and characters of 1 to 4 bytes.
ODD = ["\n", "\n\n", "\r", "\r\n", "\f", "\x85", "\u2028", "\ufeff", " ", "a", "é", "日", "🙂"]
odd_text = st.lists(st.sampled_from(ODD), max_size=30).map("".join)


def made(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def read(folder: Path, files: dict[str, str | bytes], **options) -> Corpus:
    """The corpus of a folder with these files."""
    return Corpus.read([made(folder, files)], **options)


def documents(texts) -> list[str]:
    """The pieces put together again."""
    found = [""]
    for text, ends in texts:
        assert 0 < len(text) <= pieces.PIECE
        found[-1] += text
        if ends:
            found.append("")
    assert found.pop() == ""
    return found


def plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def blocks(text: str) -> list[str]:
    found: list[list[str]] = [[]]
    for line in plain(text).split("\n"):
        if line.strip():
            found[-1].append(line)
        else:
            found.append([])
    return ["\n".join(lines) for lines in found if lines]


REFERENCES = {
    "file": lambda text: [plain(text)] if text.strip() and plain(text).strip() else [],
    "line": lambda text: [line for line in plain(text).split("\n") if line.strip()],
    "paragraph": blocks,
}


def problem(*paths: Path, **options) -> str:
    with pytest.raises(DataError) as caught:
        Corpus.read(paths, **options)
    return str(caught.value)


# Files and folders


def test_a_folder_is_read_in_order_without_what_is_hidden_or_no_text(tmp_path):
    files = {
        "b.txt": "b",
        "a/z.md": "az",
        "a/sub/x": "asx",
        "a.b/c": "abc",
        ".hidden/x.txt": "no",
        "a/.x.txt": "no",
        "picture.png": b"\x89PNG\0\0",
        "latin.txt": "Käse".encode("latin-1"),
        "utf16.txt": "Käse".encode("utf-16"),
        "empty.txt": "",
        "empty.csv": "",
        "blank.txt": " \n\n",
    }
    corpus = read(tmp_path, files)
    assert documents(corpus.all()) == ["asx", "az", "abc", "b"]
    assert (corpus.documents, corpus.characters, corpus.empty, corpus.skipped) == (4, 9, 3, 3)
    names = [f"{tmp_path.name}/{name}" for name in ("latin.txt", "picture.png", "utf16.txt")]
    assert corpus.notes == (f"3 files are not UTF-8 text and left out: {', '.join(names)}.",)


def test_of_many_files_that_are_no_text_the_first_are_named(tmp_path):
    (note,) = read(tmp_path, {"a": "a"} | {f"{n}.bin": b"\0" for n in range(5)}).notes
    assert note.startswith("5 files are ") and note.endswith("/2.bin and 2 more.")
    (note,) = read(tmp_path / "one", {"a": "a", "b.bin": b"\0"}).notes
    assert note.startswith("1 file is ")


def test_a_file_that_turns_out_to_be_no_text_late_leaves_no_trace(tmp_path):
    good = read(tmp_path / "good", {"a": "one\n\ntwo", "c": "three"}, documents="line")
    bad = b"\n".join([b"x" * 1000] * 500) + b"\xff"
    some = {"a": "one\n\ntwo", "b": bad, "c": "three", "d.csv": b"a,\xff\nb,c\n"}
    corpus = read(tmp_path / "bad", some, documents="line")
    assert corpus.skipped == 2
    assert documents(corpus.all()) == documents(good.all()) == ["one", "two", "three"]
    for name in ("characters", "bytes", "documents", "empty", "sha256"):
        assert getattr(corpus, name) == getattr(good, name)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"a\nb\0c\n", ":2: a NUL byte at offset 3"),
        ("a\nKäse".encode("latin-1"), ":2: not UTF-8: byte 0xe4 .* iconv"),
        ("Käse".encode("utf-16"), ":1: not UTF-8: .* UTF-16"),
        (b"abc\xe4", ":1: not UTF-8"),
    ],
)
def test_a_file_given_by_name_must_be_text(tmp_path, content, what):
    folder = made(tmp_path, {"x.txt": content})
    with pytest.raises(DataError, match=f"^{folder / 'x.txt'}{what}"):
        Corpus.read([folder / "x.txt"])


def test_what_is_missing_broken_or_endless_is_named(tmp_path):
    made(tmp_path, {"a.txt": "a", "sub/b.gz": gzip.compress(b"x" * 9999)[:-9]})
    assert "no such file" in problem(tmp_path / "none.txt")
    assert "b.gz: the packed file is broken" in problem(tmp_path)  # also in a folder
    os.mkfifo(tmp_path / "pipe")
    assert "pipe: a pipe or a device" in problem(tmp_path / "pipe")
    made(tmp_path, {"sub/b.gz": gzip.compress(b"x")})
    assert Corpus.read([tmp_path]).documents == 2  # in a folder a pipe is no file
    os.symlink("nowhere", tmp_path / "link")
    assert "link: no such file" in problem(tmp_path)


def test_a_folder_that_can_not_be_listed_is_named(tmp_path):
    made(tmp_path, {"a/b.txt": "b"})
    with mock.patch("os.scandir", side_effect=PermissionError(13, "Permission denied", "a")):
        assert problem(tmp_path) == "a: can not be listed: Permission denied."


def test_no_text_is_an_error_that_says_where(tmp_path):
    assert problem().startswith("no files given: no text in it. ")
    made(tmp_path, {"a/x": "", "a/b": b"\0"})
    assert problem(tmp_path / "a").startswith(f"{tmp_path / 'a'}: no text in it (1 files are not")


def test_a_file_is_read_once_however_often_it_is_named(tmp_path):
    made(tmp_path, {"a.txt": "a", "b.txt": "b"})
    corpus = Corpus.read([tmp_path / "b.txt", tmp_path, tmp_path / "b.txt"])
    assert documents(corpus.all()) == ["b", "a"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_packed_files_and_line_ends_of_all_kinds_are_the_same_text(tmp_path, pack):
    one = read(tmp_path / "one", {"x": pack("\ufeffa\r\nb\rc\u2028\nd\x85".encode())})
    other = read(tmp_path / "other", {"x": "a\nb\nc\u2028\nd\x85"})
    assert documents(one.all()) == ["a\nb\nc\u2028\nd\x85"]
    assert one.sha256 == other.sha256 and one.bytes == other.bytes == 12


def test_the_hash_knows_where_documents_end(tmp_path):
    made(tmp_path, {"x": "ab\nc", "y": "a\nbc", "z": "abc"})
    assert len({Corpus.read([tmp_path / n], documents="line").sha256 for n in "xyz"}) == 3


# Tables


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("t.csv", 'id,body,stars\n1,"a, b\r\nc",3\n2,,4\n3,d e,5\n', ["a, b\nc", "d e"]),
        ("t.tsv", "id\ttext\n1\ta b\n2\tc d\n", ["a b", "c d"]),
        (
            "t.tsv",
            "7\tone two\n8\tthree four\n9\tfive six\n",
            ["one two", "three four", "five six"],
        ),
        (
            "t.jsonl",
            '{"n": 1, "content": "a\\rb"}\n{"n": 2, "content": ["c", "d"]}\n',
            ["a\nb", "c d"],
        ),
        ("t.csv", 'text\n"a, b"\nc\n', ["a, b", "c"]),
        ("t.csv", "Go home.\nStay here.\n", ["Go home.", "Stay here."]),
        ("t.jsonl", '{"text": "a"}\n{"text": "b"}\n', ["a", "b"]),
        ("t.json", '\ufeff{"text": "a"}\n{"text": "b"}\n', ["a", "b"]),
        ("t.json", '{\n"text": "a"\n}\n', ['{\n"text": "a"\n}\n']),
        ("t.json", '[{"text": "a"}]', ['[{"text": "a"}]']),
    ],
)
def test_the_rows_of_a_table_are_documents(tmp_path, name, content, found):
    for files in ({name: content}, {f"{name}.gz": gzip.compress(content.encode())}):
        folder = made(tmp_path / next(iter(files)), files)
        assert documents(Corpus.read([folder / next(iter(files))]).all()) == found
        assert documents(Corpus.read([folder], documents="paragraph").all())[-1:] == [
            found[-1].rstrip("\n")
        ]


def test_the_column_of_the_text_is_told_or_asked_for(tmp_path):
    made(tmp_path, {"t.csv": "title,body,id\na b,c d,1\ne f,g h,2\n"})
    path = tmp_path / "t.csv"
    assert Corpus.read([path]).notes == (f'{path}: the text is in "body"; 2 other columns unread.',)
    named = Corpus.read([path], column="title")
    assert documents(named.all()) == ["a b", "e f"] and named.notes == ()
    assert documents(Corpus.read([path], column="3").all()) == ["1", "2"]
    assert 'no column "titel". Did you mean "title"?' in problem(path, column="titel")
    made(tmp_path, {"t.csv": "title,subject,date\na b,c d,1 May\ne f,g h,2 May\n"})
    assert problem(path).startswith(
        f"{path}: which of its columns holds the text? It has title, subject, date. Say it with "
    )
    made(tmp_path, {"t.csv": "1,one two\n2,three four\n"})
    (note,) = Corpus.read([path]).notes
    assert note == f"{path}: the text is in column 2; there is no header; 1 other column unread."


def test_of_many_tables_the_first_are_told(tmp_path):
    table = "id,text\n1,a\n2,b\n"
    for tables, last in [(4, "1 other table was read"), (6, "3 other tables were read")]:
        notes = read(tmp_path, {f"{n}.csv": table for n in range(tables)}).notes
        assert len(notes) == 4 and "2.csv: the text is in" in notes[2]
        assert notes[3] == f"{last} in the same way."


def test_a_bad_row_is_named_also_in_a_folder(tmp_path):
    made(tmp_path, {"t.csv": "id,text\n1,a\n2,b,c\n"})
    assert "t.csv:3: expected 2 columns" in problem(tmp_path)


def test_a_column_without_a_table_is_an_error(tmp_path):
    made(tmp_path, {"a.txt": "a"})
    assert 'a column "text" is asked for, but none' in problem(tmp_path, column="text")


# Pieces


@relaxed
@given(
    texts=st.lists(odd_text, min_size=1, max_size=4),
    kind=st.sampled_from(["file", "line", "paragraph"]),
)
def test_the_pieces_of_documents_join_to_what_they_were(tmp_path_factory, texts, kind):
    folder = tmp_path_factory.mktemp("texts")
    wanted = [one for text in texts for one in REFERENCES[kind](text)]
    made(folder, {f"{n}.txt": text for n, text in enumerate(texts)})
    if not wanted:
        assert "no text in it" in problem(folder, documents=kind)
        return
    corpus = Corpus.read([folder], documents=kind)
    assert documents(corpus.all()) == wanted
    assert corpus.documents == corpus.all().documents == len(wanted)
    assert corpus.characters == len(corpus.all()) == len("".join(wanted))
    assert corpus.bytes == corpus.all().bytes == len("".join(wanted).encode())


@relaxed
@given(
    text=odd_text,
    kind=st.sampled_from(["file", "line", "paragraph"]),
    piece=st.integers(1, 12),
    chunk=st.integers(3, 9),
)
def test_pieces_do_not_depend_on_how_the_text_arrives(tmp_path_factory, text, kind, piece, chunk):
    folder = made(tmp_path_factory.getbasetemp(), {"x": text})
    with mock.patch.object(pieces, "PIECE", piece):
        whole = list(pieces_of_file(folder / "x", kind))
        with mock.patch.object(pieces, "CHUNK", chunk):
            assert list(pieces_of_file(folder / "x", kind)) == whole
    assert all(len(text) <= piece for text, _ in whole)
    if kind == "file":
        assert "".join(text for text, _ in whole) in (plain(text), "")


def test_a_long_document_is_cut_after_a_line_a_word_or_anywhere():
    with mock.patch.object(pieces, "PIECE", 4):
        found = [
            text for text, _ in in_pieces([("a\nb c def", False), ("ghijk", False), ("", True)])
        ]
    assert found == ["a\n", "b c ", "defg", "hijk"]


@pytest.mark.parametrize("kind", ["line", "paragraph"])
def test_a_line_longer_than_a_piece_is_one_document(tmp_path, kind):
    long = "é" * (PIECE + 7)
    corpus = read(tmp_path, {"x": f"a\n\n{long}\n\nb\n"}, documents=kind)
    found = list(corpus.all())
    assert found == [
        Piece("a", True),
        Piece("é" * PIECE, False),
        Piece("é" * 7, True),
        Piece("b", True),
    ]


def test_blanks_longer_than_a_piece_are_a_document_and_shorter_ones_are_not():
    with mock.patch.object(pieces, "PIECE", 4):
        assert list(in_pieces([("    ", True), ("     ", True)])) == [
            Piece("", True),
            Piece("    ", False),
            Piece(" ", True),
        ]


def test_reading_takes_little_memory(tmp_path):
    path = tmp_path / "large.txt"
    path.write_bytes(b"The quick brown fox jumps over it.\n" * 800_000 + b"x" * 2_000_000)
    tracemalloc.start()
    try:
        corpus = Corpus.read([path])
        assert sum(len(piece.text) for piece in corpus.all()) == corpus.characters == 30_000_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000


# Sides


@relaxed
@given(
    texts=st.lists(st.text("ab\n é", min_size=1, max_size=12), min_size=1, max_size=6),
    cuts=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    piece=st.integers(1, 9),
)
def test_sides_share_the_characters_among_them(tmp_path_factory, texts, cuts, piece):
    folder = tmp_path_factory.mktemp("texts")
    with mock.patch.object(pieces, "PIECE", piece):
        corpus = read(folder, {"x": "-", **{f"{n}": text for n, text in enumerate(texts)}})
        whole = "".join(documents(corpus.all()))
        one, two = sorted(round(cut * len(whole)) for cut in cuts)
        sides = [corpus.side(*ends) for ends in [(0, one), (one, two), (two, len(whole))]]
        found = [documents(side) for side in sides]
        assert sum(side.bytes for side in sides) == corpus.bytes
    assert ["".join(texts) for texts in found] == [whole[:one], whole[one:two], whole[two:]]
    assert [side.documents for side in sides] == [len(texts) for texts in found]
    assert [side.characters for side in sides] == [one, two - one, len(whole) - two]


def test_a_cut_document_counts_on_both_sides_and_ends_on_both(tmp_path):
    corpus = read(tmp_path, {"a": "abc", "b": "def", "c": "ghi"})
    assert list(corpus.side(0, 4)) == [Piece("abc", True), Piece("d", True)]
    assert list(corpus.side(4, 9)) == [Piece("ef", True), Piece("ghi", True)]
    assert corpus.side(0, 4).documents == corpus.side(4, 9).documents == 2
    assert list(corpus.side(4, 4)) == [] and corpus.side(4, 4).documents == 0
    assert len({corpus.side(*ends).sha256 for ends in [(0, 4), (4, 9), (0, 9), (4, 4)]}) == 4


@pytest.mark.parametrize("ends", [(-1, 1), (2, 1), (0, 4)])
def test_a_side_beyond_the_text_is_refused(tmp_path, ends):
    corpus = read(tmp_path, {"a": "abc"})
    with pytest.raises(DataError, match="they go from 0 to 3"):
        corpus.side(*ends)


def test_only_files_of_the_side_are_opened(tmp_path):
    corpus = read(tmp_path, {"a": "abc", "b": "def", "c": "ghi"})
    (tmp_path / "a").unlink()
    (tmp_path / "c").unlink()
    assert documents(corpus.side(3, 6)) == ["def"]


def test_few_documents_are_cut_where_the_shares_fall(tmp_path):
    corpus = read(tmp_path, {"a": "0123456789", "b": "9876543210"})
    sides = corpus.split((80, 15, 5))
    assert [documents(side) for side in sides] == [["0123456789", "987654"], ["321"], ["0"]]


def test_many_documents_stay_whole(tmp_path):
    lines = [str(n) * 5 for n in range(10, 10 + MANY)]  # ten characters each
    corpus = read(tmp_path, {"x": "\n".join(lines)}, documents="line")
    train, validation, test = corpus.split((88, 7, 5))  # the cuts are at 176 and 190
    assert documents(train) == lines[:18] and documents(validation) == lines[18:19]
    assert documents(test) == lines[19:] and train.overlapping == 0
    corpus = read(tmp_path, {"x": "\n".join(lines)}, documents="line")
    assert [side.documents for side in corpus.split((100, 0, 0))] == [20, 0, 0]


def test_what_is_held_out_does_not_train(tmp_path):
    lines = [f"line {n:02}" for n in range(38)] + ["line 03", "line 20"]
    corpus = read(tmp_path, {"x": "\n".join(lines)}, documents="line")
    train, validation, test = corpus.split((90, 5, 5))
    assert documents(test) == ["line 03", "line 20"] and train.overlapping == 2
    assert documents(train) == [line for line in lines[:36] if line not in documents(test)]
    assert (train.documents, train.characters) == (34, 34 * 7) and train.bytes == 34 * 7
    assert train.sha256 != corpus.side(0, 36 * 7).sha256
    assert documents(validation) == lines[36:38] and validation.overlapping == 0


def test_what_another_corpus_holds_out_does_not_train_and_cut_documents_stay(tmp_path):
    one = read(tmp_path / "one", {"a": "same", "b": "other", "c": "same", "d": "same"})
    two = read(tmp_path / "two", {"x": "same"})
    part = one.side(1, 15).without(two.all())  # ame other same sa
    assert documents(part) == ["ame", "other", "sa"] and part.overlapping == 1
    assert (part.documents, part.characters) == (3, 10)
    assert documents(part.without(two.all())) == documents(part)


@pytest.mark.parametrize(
    ("text", "shares", "what"),
    [
        ("ab", (90, 5, 5), "for the validation side: its share is 5 of 2 characters in 1 document"),
        ("\n".join("ab" * 12), (90, 5, 5), "for the train side: its 22 documents are all held out"),
        ("\n".join(["a"] * 30 + ["b" * 99]), (98, 1, 1), "for the validation side"),
    ],
)
def test_a_side_that_gets_nothing_is_an_error_that_says_what_to_do(tmp_path, text, shares, what):
    corpus = read(tmp_path, {"x": text}, documents="line")
    with pytest.raises(DataError, match=rf"nothing is left {what}.*\(data.split\)"):
        corpus.split(shares)


@pytest.mark.parametrize("shares", [(0, 50, 50), (100, -1, 1), (float("nan"), 1, 1), (50, 50)])
def test_impossible_shares_are_refused(tmp_path, shares):
    with pytest.raises(ConfigError, match="as in 90, 5, 5"):
        read(tmp_path, {"x": "abc"}).split(shares)


# Changes


def test_a_file_that_changes_between_two_readings_is_named(tmp_path):
    corpus = read(tmp_path, {"a": "abc", "b": "def"})
    os.utime(tmp_path / "b", ns=(0, 0))
    with pytest.raises(DataError, match="b: the file has changed since it was first read"):
        list(corpus.all())
    made(tmp_path, {"a": "abcd"})
    with pytest.raises(DataError, match="it had 3 bytes and has 4. Start again"):
        list(corpus.all())
    (tmp_path / "a").unlink()
    with pytest.raises(DataError, match="no such file"):
        list(corpus.all())


def test_a_text_that_changes_under_the_same_size_and_date_must_have_as_many_characters(tmp_path):
    corpus = read(tmp_path, {"a": "abcd"})
    date = (tmp_path / "a").stat().st_mtime_ns
    made(tmp_path, {"a": "éü"})
    os.utime(tmp_path / "a", ns=(date, date))
    with pytest.raises(DataError, match="a: the file has changed since it was first read. Start"):
        list(corpus.all())


def test_a_file_that_grows_while_it_is_read_is_named(tmp_path):
    for last in (3, 4, 7):
        corpus = read(tmp_path, {"a": "one\n\ntwo\n", "b": "four"}, documents="line")
        going = iter(corpus.side(0, last))
        assert next(going).text == "one"
        made(tmp_path, {"a": "one\n\ntwo\nthree\n"})
        with pytest.raises(DataError, match="a: the file has changed"):
            list(going)


def test_reading_tells_how_far_it_is_in_bytes_of_all_files(tmp_path, monkeypatch):
    monkeypatch.setattr("regard.data.gathering.TOLD", 10)
    told = []
    with listening(lambda what, done, whole: told.append((what, done, whole))):
        read(tmp_path, {"a.txt": "abcde\n\n" * 4, "b.txt": "x" * 12}, documents="paragraph")
    assert told[0] == ("Reading", 0, 40) and ("Reading", 28, 40) in told
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert len(told) > 3 and max(done for _, done, _ in told) == 40
