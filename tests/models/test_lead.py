"""The first sentence as a summary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import RunError
from regard.models.lead import Lead, first_sentence


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One. Two.", "One."),
        ("Version 2.5 is out! Get it.", "Version 2.5 is out!"),
        ("Hello,\n\nplease call.", "Hello,"),
        ("The cat sat\non the mat. Then", "The cat sat on the mat."),
        ("no end\nat all", "no end"),
        ("猫が好き。犬も。", "猫が好き。"),
        ("  ", ""),
        ("", ""),
    ],
)
def test_it_ends_where_a_sentence_ends_or_a_paragraph(text, first):
    assert first_sentence(text) == first


@given(st.text())
def test_it_is_always_the_beginning_of_the_text(text):
    assert "".join(text.split()).startswith("".join(first_sentence(text).split()))


def test_it_is_worth_a_row_only_where_most_texts_have_a_second_sentence():
    assert not Lead.differs([("One.", ""), ("Two", ""), ("A. B.", "")])
    assert Lead.differs([("One. Two.", ""), ("One! Two", ""), ("One", "")])


def test_it_is_saved_under_its_own_name(tmp_path):
    Lead.fit([("a", "b")]).save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["lead.json"]
    assert Lead.load(tmp_path).predict(["One. Two."])[0].output == "One."
    (tmp_path / "lead.json").write_text('{"baseline": "copy the source"}')
    with pytest.raises(RunError, match="not a saved baseline"):
        Lead.load(tmp_path)
