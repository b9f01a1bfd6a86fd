"""What `audit` finds, against files in which the faults are known."""

import gzip
import json
import tracemalloc
import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.data import duplicates
from regard.data.audit import audit
from regard.data.characters import KINDS, MOJIBAKE, odd
from regard.data.duplicates import Prints, even_out, loosen
from regard.data.encoding import inspect
from regard.data.overlap import Overlap
from regard.data.pairs import Pair
from regard.data.splits import default_shares, split
from regard.data.summary import Lengths, summarize
from regard.errors import DataError

relaxed = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
few_texts = st.text("aAáb .!", min_size=1, max_size=3).filter(str.strip)
few_pairs = st.lists(st.tuples(few_texts, few_texts), min_size=1, max_size=30)

ALL_FINE = [(f"source number {n}", f"target {n}") for n in range(400)]


def table(path, rows):
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def by_name(result):
    return {finding.name: finding for finding in result.findings}


def lines(finding):
    return [int(place.rpartition(":")[2]) for place in finding.where]


def test_a_clean_file_has_neither_problems_nor_notes(tmp_path):
    result = audit([table(tmp_path / "fine.tsv", ALL_FINE)])
    assert result.passed and result.rows == 400
    assert {finding.level for finding in result.findings} == {"ok"}


# Leaks and duplicates


@relaxed
@given(train=few_pairs, validation=few_pairs, test=few_pairs)
def test_every_leak_between_files_is_found(tmp_path, train, validation, test):
    paths = [
        table(tmp_path / f"{name}.tsv", [("source", "target"), *rows])
        for name, rows in (("train", train), ("validation", validation), ("test", test))
    ]
    found = by_name(audit(paths[:1], validation=paths[1:2], test=paths[2:]))
    sources, tested = {s for s, _ in train}, {s for s, _ in test}
    held_out = {s for s, _ in [*validation, *test]}
    near = {loosen(even_out(s)) for s in sources - held_out}
    for name, rows in (("validation", validation), ("test", test)):
        exact = [n for n, (source, _) in enumerate(rows, start=2) if source in sources]
        assert found[f"{name} sources in training"].count == len(exact)
        assert lines(found[f"{name} sources in training"]) == exact[:3]
        assert found[f"{name} sources in training"].level == ("note" if exact else "ok")
        same = sum(row in train for row in rows)
        assert found[f"{name} pairs in training"].count == same
        kept = [s for s, _ in rows if name == "test" or s not in tested]
        alike = sum(loosen(even_out(s)) in near for s in kept)
        nearly = found[f"{name} sources nearly in training"]
        assert nearly.count == alike
        assert nearly.level == ("problem" if alike else "ok")  # of 30 rows, one is over 2 %
    shared = {s for s, _ in validation}
    assert found["test sources in validation"].count == sum(s in shared for s, _ in test)


@relaxed
@given(rows=few_pairs)
def test_duplicates_inside_a_file_are_those_that_a_set_finds(tmp_path, rows):
    found = by_name(audit([table(tmp_path / "rows.tsv", [("source", "target"), *rows])]))
    assert found["duplicate rows"].count == len(rows) - len(set(rows))
    targets = Counter(source for source, _ in set(rows))
    assert found["several targets"].count == sum(n > 1 for n in targets.values())
    spellings = Counter(even_out(source) for source in targets)
    assert found["nearly equal sources"].count == sum(n > 1 for n in spellings.values())


def test_near_duplicates_that_training_keeps_are_a_problem_from_two_percent_on(tmp_path):
    train = table(tmp_path / "train.tsv", [(source.upper(), t) for source, t in ALL_FINE[:200]])
    for near, level in ((1, "note"), (2, "problem")):
        rows = [*ALL_FINE[200 - near : 298 - near], *[(f"new {n}", "x") for n in range(2)]]
        result = audit([train], test=[table(tmp_path / "test.tsv", rows)])
        finding = by_name(result)["test sources nearly in training"]
        assert (finding.count, finding.level) == (near, level)
        assert result.passed == (level == "note")


def test_a_source_that_is_left_out_of_training_may_still_be_nearly_there(tmp_path):
    train = table(tmp_path / "train.tsv", [*ALL_FINE, ("Go on.", "x"), ("go on", "y")])
    result = audit([train], test=[table(tmp_path / "test.tsv", [("Go on.", "z"), ("other", "z")])])
    found = by_name(result)
    assert found["test sources in training"].level == "note"
    assert lines(found["test sources nearly in training"]) == [1] and not result.passed


@pytest.mark.parametrize("held_out", [(), ("validation",), ("test",), ("validation", "test")])
@pytest.mark.parametrize("number", [50, 150, 2000])
def test_rows_are_counted_on_the_sides_where_training_puts_them(tmp_path, number, held_out):
    from regard.tasks.pair_data import PairData, read_splits

    rows = [(f"source {n}", f"target {n % 7}") for n in range(number)]
    files = {"train": [*rows, *rows[:9]]}
    files |= {name: [*rows[place + 1 :: 5], (name, "x")] for place, name in enumerate(held_out)}
    files |= {name: [*some, rows[0]] for name, some in files.items()}  # in all of them
    paths = {name: table(tmp_path / f"{name}.tsv", some) for name, some in files.items()}
    overlap = Overlap([paths.get(name) for name in ("train", "validation", "test")])
    for file, name in enumerate(("train", "validation", "test")):
        for line, row in enumerate(files.get(name, ()), start=1):
            overlap.add(file, line, Pair(*row))
    given = {name: str(paths[name]) for name in held_out}
    shares = default_shares(len(files["train"]))
    data = PairData(path=str(paths["train"]), split=shares, **given)
    sides = read_splits(data, key=lambda pair: pair.source)
    counts = [len(sides.train), len(sides.validation), len(sides.test), sides.overlapping]
    assert np.bincount(overlap.sides, minlength=4).tolist() == counts


def test_a_side_for_which_other_files_leave_nothing_is_a_problem(tmp_path):
    train, test = (table(tmp_path / name, ALL_FINE) for name in ("train.tsv", "test.tsv"))
    result = audit([train], test=[test])
    assert not result.passed
    note = by_name(result)["too few different texts"].note
    assert note == "different sources, and none is left for training: training refuses"


def test_a_test_file_also_leaks_into_the_rows_that_training_would_validate_on(tmp_path):
    train = table(tmp_path / "train.tsv", ALL_FINE)
    found = by_name(audit([train], test=[table(tmp_path / "test.tsv", ALL_FINE[::2])]))
    assert found["test sources in training"].count == 200
    assert "training leaves out its own 200 with these" in found["test sources in training"].note
    assert found["test pairs in training"].note.startswith("100.0 % of the test rows")


@pytest.mark.parametrize("number", [45, 300, 1200])
def test_sources_that_nearly_cross_sides_are_those_of_the_split_that_training_makes(
    tmp_path, number
):
    ways = ("A number {}.", "a number {}!")
    rows = [(way.format(n), "x") for n in range(number) for way in ways]
    found = by_name(audit([table(tmp_path / "near.tsv", rows)]))
    sides = split([source for source, _ in rows], key=str, shares=default_shares(len(rows)))
    known = {loosen(even_out(source)) for source in sides.train}
    expected = sum(loosen(even_out(s)) in known for s in [*sides.validation, *sides.test])
    assert found["held-out sources nearly in training"].count == expected > 8
    assert found["held-out sources nearly in training"].level == "problem"


def test_targets_shared_by_sides_are_counted_but_labels_are_not(tmp_path):
    shared = [(f"source {n}", f"target number {n % 100}") for n in range(400)]
    found = by_name(audit([table(tmp_path / "shared.tsv", shared)]))
    sides = split(shared, key=lambda row: row[0], shares=default_shares(len(shared)))
    known = {target for _, target in sides.train}
    expected = sum(target in known for _, target in [*sides.validation, *sides.test])
    assert found["held-out targets in training"].count == expected > 0
    labels = [(source, f"label {n % 4}") for n, (source, _) in enumerate(shared)]
    assert "held-out targets in training" not in by_name(audit([table(tmp_path / "l.tsv", labels)]))


@pytest.mark.parametrize("number", [1, 2, 5, 12, 19, 40, 200])
def test_too_few_sources_are_a_problem_whenever_training_refuses_to_divide_them(tmp_path, number):
    rows = ALL_FINE[:number]
    found = by_name(audit([table(tmp_path / "few.tsv", [("source", "target"), *rows])]))
    try:
        split(rows, key=lambda row: row[0], shares=default_shares(number))
        refused = False
    except DataError:
        refused = True
    assert (found["too few different texts"].level == "problem") == (refused or number < 20)


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        ([("same", "row")] * 500, "all rows are equal"),
        ([("same", f"target {n}") for n in range(500)], "training refuses"),
        ([(f"source {n}", "same") for n in range(500)], "any model scores 100 %"),
    ],
)
def test_rows_without_variety_are_a_problem(tmp_path, rows, note):
    result = audit([table(tmp_path / "same.tsv", rows)])
    finding = by_name(result)["too few different texts"]
    assert not result.passed and note in finding.note


@relaxed
@given(st.lists(st.tuples(few_texts, few_texts, st.booleans()), max_size=40))
def test_questions_about_hashes_have_the_answers_of_plain_python(rows):
    texts, finer, here = zip(*rows, strict=True) if rows else ((), (), ())
    prints, fine = Prints(), Prints()
    for text, kind in zip(texts, finer, strict=True):
        prints.add(text)
        fine.add(kind)
    hashes, mask = prints.hashes(), np.array(here, dtype=bool)
    assert duplicates.distinct(hashes) == len(set(texts))
    again = [i for i, text in enumerate(texts) if text in texts[:i]]
    assert duplicates.repeats(hashes).tolist() == again
    kinds = {text: {k for t, k in zip(texts, finer, strict=True) if t == text} for text in texts}
    several = [i for i, t in enumerate(texts) if len(kinds[t]) > 1 and t not in texts[:i]]
    assert duplicates.varied(hashes, fine.hashes()).tolist() == several
    there = {text for text, inside in zip(texts, here, strict=True) if not inside}
    crossed = [i for i, text in enumerate(texts) if here[i] and text in there]
    assert duplicates.crossing(hashes, mask, ~mask).tolist() == crossed


# Files and rows


def test_bad_rows_are_counted_by_kind_with_the_first_three_lines(tmp_path):
    rows = [*ALL_FINE[:50], ("one",), ("a", "b", "c"), ("", "x"), ("x", " "), ("a",), ("b",)]
    result = audit([table(tmp_path / "bad.tsv", rows)])
    found = by_name(result)
    assert not result.passed and result.rows == 50
    assert found["wrong number of columns"].count == 4
    assert lines(found["wrong number of columns"]) == [51, 52, 55]
    assert found["empty source or target"].count == 2
    for name in ("wrong number of columns", "empty source or target"):
        assert "--set data.bad_rows=skip" in found[name].note


def test_broken_json_and_broken_quotes_are_found(tmp_path):
    good = [json.dumps({"source": s, "target": t}) for s, t in ALL_FINE]
    (tmp_path / "a.jsonl").write_text("\n".join([*good, "{oops", '{"source": {}, "target": "x"}']))
    found = by_name(audit([tmp_path / "a.jsonl"]))
    assert lines(found["not JSON"]) == [401] and lines(found["neither text nor texts"]) == [402]
    cells = "".join(f"{s},{t}\n" for s, t in ALL_FINE)
    (tmp_path / "a.csv").write_text("source,target\n" + cells + '"never closed,x\ny,z\n')
    assert lines(by_name(audit([tmp_path / "a.csv"]))["wrong quotes"]) == [402]


def test_a_row_with_several_targets_is_one_row(tmp_path):
    rows = [{"source": [s, "more"], "target": [t, f"{t} again"]} for s, t in ALL_FINE]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    result = audit([tmp_path / "a.jsonl"])
    assert result.passed and result.rows == 400
    assert by_name(result)["several targets"].count == 400


def test_bytes_that_are_not_utf8_are_a_finding_and_the_rows_before_are_checked(tmp_path):
    path = tmp_path / "late.tsv"
    text = "".join(f"a source of number {n}\ta target of number {n}\n" for n in range(40_000))
    path.write_bytes(text.encode() + "café\tx\n".encode("latin-1") + b"a\tb\n" + b"\xff\tx\n")
    result = audit([path])
    finding = by_name(result)["not UTF-8"]
    assert not result.passed and result.rows == 40_000
    assert finding.count == 2 and lines(finding) == [40_001, 40_003]
    assert "byte 0xe9" in finding.note and "iconv" in finding.note


def test_a_file_whose_first_lines_are_not_text_is_a_finding_too(tmp_path):
    (tmp_path / "utf16.tsv").write_bytes("a\tb\n".encode("utf-16"))
    result = audit([tmp_path / "utf16.tsv"])
    assert not result.passed and result.rows == 0
    assert "UTF-16" in by_name(result)["not UTF-8"].note
    assert "rows that can not be used" not in by_name(result)


def test_byte_order_mark_and_mixed_line_ends_are_noted_and_do_no_harm(tmp_path):
    rows = [f"{s}\t{t}" for s, t in ALL_FINE]
    path = tmp_path / "mixed.tsv"
    parts = ["\ufeff" + "\n".join(rows[:200]), "\r\n".join(rows[200:399]), rows[399]]
    path.write_bytes("\r".join(parts).encode())
    result = audit([path])
    found = by_name(result)
    assert result.passed and result.rows == 400
    assert found["byte order mark"].level == "note"
    assert r"\n 199, \r\n 198, \r 2" in found["mixed line ends"].note
    assert found["mixed line ends"].count == 200


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"a\tb\n", r"UTF-8, \n line ends, 1 line"),
        (gzip.compress(b"a\r\nb\r\nc", mtime=0), r"UTF-8, \r\n line ends, 3 lines, gz"),
        (b"\xef\xbb\xbfa", "UTF-8 with a byte order mark, no line ends, 1 line"),
        (b"\xff\n" * 70_000, r"not UTF-8, \n line ends, 70,000 lines"),
        (b"", "UTF-8, no line ends, 0 lines"),
    ],
)
def test_an_encoding_is_said_in_a_line(tmp_path, data, line):
    (tmp_path / "some.txt").write_bytes(data)
    assert str(inspect(tmp_path / "some.txt")) == line


def test_faults_of_parallel_files_name_the_file_of_their_column(tmp_path):
    for name, texts in (("a.de", ["Satz"] * 30), ("a.en", [*map(str, range(29)), " odd"])):
        (tmp_path / name).write_text("\n".join(texts), encoding="utf-8")
    found = by_name(audit([tmp_path / "a.de", tmp_path / "a.en"]))
    assert found["blanks around texts"].where == (f"{tmp_path / 'a.en'}:30",)


def test_parallel_files_of_different_length_are_a_problem(tmp_path):
    (tmp_path / "a.de").write_text("eins\nzwei\ndrei\n")
    (tmp_path / "a.en").write_text("one\ntwo\n")
    result = audit([tmp_path / "a.de", tmp_path / "a.en"])
    assert not result.passed and "3 lines" in by_name(result)["unreadable"].note


def test_what_concerns_all_columns_is_said_where_the_pair_is_not_known(tmp_path):
    rows = [(f"first {n}", f"second {n}", f"third {n}\u200b", "") for n in range(300)]
    path = table(tmp_path / "three.tsv", [*rows, rows[7]])
    result = audit([path])
    found = by_name(result)
    assert result.passed and result.rows == 301
    assert "not checked" in found["unknown source and target"].note
    assert "--source COLUMN" in found["unknown source and target"].note
    assert found["zero-width characters"].count == 301
    assert lines(found["duplicate rows"]) == [301]
    assert found["empty cells"].count == 301
    assert "too few different texts" not in found


def test_mistakes_are_errors_and_not_findings(tmp_path):
    path = table(tmp_path / "fine.tsv", ALL_FINE)
    with pytest.raises(DataError, match='there is no column "answer"'):
        audit([path], target="answer")
    with pytest.raises(DataError, match="no such file"):
        audit([path], test=[tmp_path / "none.tsv"])
    (tmp_path / "plain.txt").write_text("just\nprose\n")
    with pytest.raises(DataError, match="one column"):
        audit([tmp_path / "plain.txt"])


def test_memory_does_not_grow_with_the_texts(tmp_path):
    with (tmp_path / "long.tsv").open("w") as file:
        for n in range(700):
            file.write(f"{n} {'source ' * 1000}\t{n} {'target ' * 1000}\n")
    assert (tmp_path / "long.tsv").stat().st_size > 9_000_000
    tracemalloc.start()
    try:
        audit([tmp_path / "long.tsv"])
        assert tracemalloc.get_traced_memory()[1] < 4_500_000
    finally:
        tracemalloc.stop()


# Cells


ODD = {
    "replacement characters": ["\ufffd"],
    "wrongly decoded text": ["Ã¤", "â€™", "Â\xa0", "ðŸ˜€", "ÐŸÑ€"],
    "control characters": ["\x07", "\x1b", "\x96"],
    "direction marks": ["\u202e", "\u2066", "\u200f"],
    "zero-width characters": ["\u200b", "\ufeff", "\xad"],
    "line separators": ["\u2028", "\u2029", "\x85"],
    "odd blanks": ["\xa0", "\u3000", "\u202f"],
    "private use": ["\ue000"],
    "unassigned": ["\U000e1fff", "\uffff"],
    "HTML": ["<br />", "&amp;", "&#39;", '<a href="x">', "</P>"],
}


def test_every_kind_of_odd_character_has_an_example_here():
    assert ODD.keys() == KINDS.keys()


@pytest.mark.parametrize(("kind", "what"), [(k, w) for k, found in ODD.items() for w in found])
def test_odd_characters_are_found_with_their_line(tmp_path, kind, what):
    rows = [*ALL_FINE, (f"here {what} it is", "x"), ("fine", f"y{what}z{what}")]
    finding = by_name(audit([table(tmp_path / "odd.tsv", rows)]))[kind]
    assert finding.level == "note" and finding.count == 3 and lines(finding) == [401, 402]
    assert what.isprintable() or f"U+{ord(what[-1]):04X}" in finding.note or len(what) > 1


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_character_that_is_not_printable_is_odd_but_tabs_and_line_ends(text):
    expected = sum(not c.isprintable() and c not in "\t\n\r" for c in text)
    named = {"wrongly decoded text", "HTML", "replacement characters"}
    assert sum(kind not in named for kind, _ in odd(text)) == expected


@given(st.text("äöüßéèàçñ€“”’…–", min_size=1))
def test_utf8_read_as_windows_1252_is_recognised(text):
    garbled = text.encode("utf-8").decode("cp1252", "replace").replace("\ufffd", "")
    sure = "äöüßéèàçñ“’…–"  # others end in a byte that Windows-1252 does not have, or look right
    if any(c in sure for c in text):
        assert MOJIBAKE.search(garbled)


@pytest.mark.parametrize(
    "text",
    [
        "„Spaß“, sagte er – und ging…",
        "« Voilà… », dit-il : l’été à Paris",
        "A IRMÃ”, SÃO PAULO, “MAÇÔ",
        "Às vezes, Ângela! ¿Qué? ¡Año! «Ñandú»",
        "Привет, как дела? Łódź žluťoučký kůň",
        "a < b && c > d; R&D; AT&T; <unk> <3",
    ],
)
def test_ordinary_text_is_not_odd(text):
    assert odd(text) == []


def test_blanks_around_texts_are_counted(tmp_path):
    rows = [*ALL_FINE, (" x", "y "), ("x", "y")]
    finding = by_name(audit([table(tmp_path / "blanks.tsv", rows)]))["blanks around texts"]
    assert finding.count == 2 and lines(finding) == [401]


def test_outliers_are_long_and_far_above_the_median(tmp_path):
    from regard.tasks.pair_choices import LONGEST

    rows = [*ALL_FINE, ("x" * 900, "y"), ("x" * 1001, "y"), ("x" * 5000, "y")]
    finding = by_name(audit([table(tmp_path / "long.tsv", rows)]))["outliers in length"]
    assert finding.count == 2 and lines(finding) == [403, 402]
    assert "training leaves out, never cuts, texts of more than model.max_length" in finding.note
    assert f"tokens ({LONGEST} at most where it is chosen)" in finding.note
    even = [("x" * 2000 + str(n), "y" * 2000) for n in range(30)]
    even_path = table(tmp_path / "even.tsv", even)
    assert by_name(audit([even_path]))["outliers in length"].level == "ok"


@pytest.mark.parametrize(
    ("labels", "level", "note"),
    [
        (["a"] * 200 + ["b"] * 200, "ok", ""),
        (["a"] * 391 + ["b"] * 9, "note", "97.8 % of the rows are 'a'"),
        (["a"] * 200 + ["b"] * 191 + ["c"] * 9, "note", "the rarest, 'c', 9"),
        (["a"] * 400, "note", "one class only, 'a'"),
    ],
)
def test_unbalanced_classes_are_noted(tmp_path, labels, level, note):
    rows = [(*pair, label) for pair, label in zip(ALL_FINE, labels, strict=True)]
    path = table(tmp_path / "labels.tsv", [("text", "title", "label"), *rows])
    finding = by_name(audit([path], source="text", target="title"))["unbalanced classes in label"]
    assert finding.level == level and note in finding.note


def test_the_json_of_an_audit_has_the_promised_keys(tmp_path):
    result = audit([table(tmp_path / "a.tsv", [*ALL_FINE, ("x",)])]).as_json()
    assert json.loads(json.dumps(result)) == result
    assert {"data", "rows", "passed", "findings"} <= result.keys()
    for finding in result["findings"]:
        assert {"name", "level", "count", "where", "note"} == finding.keys()
    levels = [finding["level"] for finding in result["findings"]]
    assert levels == sorted(levels, key=["problem", "note", "ok"].index)


# Measures


@given(st.lists(st.integers(0, 50), min_size=1))
def test_lengths_agree_with_numpy(lengths):
    found = Lengths()
    for line, length in enumerate(lengths, start=1):
        found.add(length, line)
    assert found.mean == pytest.approx(np.mean(lengths))
    for percent in (1, 50, 95, 100):
        assert found.percentile(percent) == np.percentile(lengths, percent, method="inverted_cdf")
    assert found.top[0] == (max(lengths), lengths.index(max(lengths)) + 1)
    assert found.longest == max(lengths) and found.above(25) == sum(n > 25 for n in lengths)


def test_a_summary_counts_rows_values_letters_and_classes(tmp_path):
    texts = ["Größe", "мир", "Größe", "a b c"]
    rows = [(texts[n % 4], f"t{n}", "yes" if n % 3 else "no") for n in range(120)]
    path = table(tmp_path / "a.tsv", [("source", "target", "label"), *rows, ("broken",)])
    found = summarize([path])
    first, second, label = found.columns
    assert (found.rows, found.bad_rows) == (120, 1)
    assert found.chosen == {0: "source", 1: "target"}
    assert (first.distinct, second.distinct, label.distinct) == (3, 120, 2)
    assert first.scripts == {"LATIN": 8, "CYRILLIC": 3}
    assert len(first.letters) == len(set("".join(texts)))
    assert label.labels == {"yes": 80, "no": 40} and second.labels is None
    assert first.words.longest == 3
    assert [str(file) for file in found.files] == [r"UTF-8, \n line ends, 122 lines"]


def test_equal_up_to_normalisation_means_what_unicode_says():
    assert even_out("Å") == even_out(unicodedata.normalize("NFD", "å"))
    assert even_out("a  b\tc ") == even_out("A B C") != even_out("abc")
