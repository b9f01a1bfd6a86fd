"""Texts that were trained on are known again, whole or in parts; others are not."""

import pytest

from regard.data import seen
from regard.data.seen import Seen
from regard.errors import RunError


def sentences(first, last):
    return "".join(
        f"The {n}th sentence is about {n * n} sheep and their number.\n" for n in range(first, last)
    )


def whole(*texts):
    return [(text, True) for text in texts]


@pytest.fixture
def known():
    return Seen.of(whole(sentences(0, 100), "A short one.", "Another."))


def test_equal_documents_are_seen_and_short_ones_by_being_equal(known):
    assert known.count(whole(sentences(0, 100), "A short one.", "A shorter one.", "")) == 2


def test_a_document_is_seen_where_half_of_it_is(known):
    assert known.count(whole(sentences(40, 60))) == 1, "a part"
    assert known.count(whole("Before it. " + sentences(90, 110) + " Behind it.")) == 1
    assert known.count(whole(sentences(95, 115))) == 0, "a quarter"
    assert known.count(whole(sentences(200, 300))) == 0


def test_pieces_of_a_document_make_one(known):
    parts = [(sentences(0, 30), False), (sentences(30, 60), False), (sentences(200, 210), True)]
    assert known.count(parts) == 1
    assert Seen.of([(sentences(0, 50), False), (sentences(50, 100), True)]).count(
        whole(sentences(0, 100))
    )


def test_of_many_some_are_kept_that_are_found_again(monkeypatch):
    monkeypatch.setattr(seen, "MOST", 50)
    few = Seen.of(whole(sentences(0, 400)))
    assert len(few.hashes) <= 50 and few.every > 1
    assert few.count(whole(sentences(100, 300))) == 1 and not few.count(whole(sentences(500, 900)))
    many = [f"document {n}" for n in range(4000)]
    found = Seen.of(whole(*many)).count(whole(*many, *(f"other {n}" for n in range(4000))))
    assert found == pytest.approx(4000, rel=0.5), "an estimate"


def test_what_is_saved_is_loaded_and_what_is_missing_is_not_known(known, tmp_path):
    assert Seen.load(tmp_path) is None
    known.save(tmp_path / "folder")
    again = Seen.load(tmp_path / "folder")
    assert again.hashes == known.hashes and again.every == known.every
    (tmp_path / "folder" / seen.FILE).write_bytes(b"damaged")
    with pytest.raises(RunError, match="Copy it again"):
        Seen.load(tmp_path / "folder")
