"""docs/course/ says what the chapters say, shows the code that runs, and has its pictures."""

import re

import pytest

import course_docs
from regard.course.contents import CHAPTERS


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_page_shows_the_code_that_the_tests_run_and_its_pictures_are_there(name):
    text = (course_docs.DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert course_docs.code_block(name) in text
    pictures = re.findall(r"\]\((pictures/[\w-]+\.png)\)", text)
    assert pictures
    for picture in pictures:
        assert (course_docs.DOCS / picture).read_bytes().startswith(b"\x89PNG")


def test_the_index_leads_to_every_chapter():
    assert (course_docs.DOCS / "README.md").read_text(encoding="utf-8") == course_docs.index()
    for name in CHAPTERS:
        assert f"({name}.md)" in course_docs.index()


def test_a_cell_never_breaks_its_table():
    assert course_docs.table(("a", "b"), [("x|y", "1\n2")]).splitlines()[-1] == "| x\\|y | 1 2 |"
