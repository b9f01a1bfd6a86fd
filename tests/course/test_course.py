"""The course as a whole: every chapter is complete, its page too, and `regard course` runs it.

What a chapter's lesson says is tested in the file that has its name. Here its lesson is only made
where that is quick.
"""

import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from regard.cli import course as command
from regard.course import contents
from regard.course.contents import CHAPTERS, SECTIONS, require_chapter
from regard.course.draw import label, lines, panels, png
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.page import chapter_page, example_of, index_page, paragraphs, shown
from regard.errors import ConfigError

ROOM = Path(contents.__file__).parent
WRITTEN = [name for name in CHAPTERS if find_spec(f"regard.course.{name}")]
QUICK = ("embeddings", "kernel", "similarity", "search", "norms", "positions", "recurrent")
EXAMPLES = sorted((ROOM / "examples").glob("*.py"))


def chapter(name):
    return import_module(f"regard.course.{name}")


def a_lesson(*, ok=True, text="what they say"):
    """A lesson that takes no time."""
    figure, (ax,) = panels()
    lines(ax, [1, 2, 3], {"one": [1, 2, 3], "two": [3, 2, 1]})
    label(ax, "a title", "steps", "loss")
    numbers = [Number.equal("six", 6.0, 6.0 if ok else 7.0), Number.measured("a time", 0.25)]
    table = Table("a table", ("left", "right"), [("one", text)])
    return Lesson(numbers, [Drawing(figure, f"a caption: {text}")], [text], [table])


def course(*args):
    return CliRunner().invoke(command.course, [str(arg) for arg in args])


# The chapters


def test_every_chapter_has_one_name_and_one_section():
    assert len(CHAPTERS) == sum(len(section) for section in SECTIONS.values()) == 24


@pytest.mark.parametrize("name", WRITTEN)
def test_a_chapter_has_a_title_an_idea_things_to_try_and_two_questions(name):
    module = chapter(name)
    assert module.TITLE.strip() and len(paragraphs(module.IDEA)) >= 2
    assert len(module.TRY) >= 1 and all(text.strip() for text in module.TRY)
    assert len(module.QUESTIONS) >= 2
    for question, answer in module.QUESTIONS:
        assert question.strip().endswith("?"), question
        assert answer.strip().endswith((".", ")")), answer
    assert module.lesson.__defaults__ == (0,)  # lesson(seed=0)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_chapter_draws_and_says_what_it_draws(name):
    """Every Drawing in its source has a caption: a text, or a name that one was given to."""
    tree = ast.parse((ROOM / f"{name}.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    drawings = [call for call in calls if getattr(call.func, "id", "") == "Drawing"]
    assert drawings
    for call in drawings:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        assert len(given) == 2, f"{name}.py:{call.lineno}"
        assert ast.unparse(given[1]).strip("'\" "), f"{name}.py:{call.lineno}"


@pytest.mark.parametrize("name", QUICK)
def test_a_quick_lesson_is_as_expected_and_complete(lesson_of, name):
    lesson = lesson_of(name)
    assert lesson.ok and lesson.numbers and lesson.says
    names = [number.name for number in lesson.numbers]
    assert len(names) == len(set(names))
    for drawing in lesson.drawings:
        assert len(drawing.caption) > 40 and drawing.caption.endswith(".")
        assert png(drawing.figure).startswith(b"\x89PNG")
    for table in lesson.tables:
        assert all(len(row) == len(table.head) for row in table.rows)
        assert all(isinstance(cell, str) for row in table.rows for cell in row)


def test_an_equal_lesson_draws_equal_bytes():
    one, other = (chapter("similarity").lesson(1).drawings for _ in range(2))
    assert [png(drawing.figure) for drawing in one] == [png(d.figure) for d in other]


# The examples


@pytest.mark.parametrize("name", WRITTEN)
def test_a_chapter_has_an_example_of_a_few_lines(name):
    code = example_of(name)
    assert 4 <= len([line for line in code.splitlines() if line.strip()]) <= 24
    assert "print(" in code and "#" in code


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_belongs_to_a_chapter_and_runs(path):
    assert path.stem in CHAPTERS
    said = io.StringIO()
    with torch.random.fork_rng(devices=[]), contextlib.redirect_stdout(said):
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {})
    assert said.getvalue().strip()


# The page


def data_of(page):
    found = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.S)
    return json.loads(found[1])


def texts_in(tree):
    if isinstance(tree, dict):
        return [text for value in tree.values() for text in texts_in(value)]
    if isinstance(tree, list):
        return [text for value in tree for text in texts_in(value)]
    return [tree] if isinstance(tree, str) else []


def addresses_in(page):
    """Every address but the name of the language of drawings, which nobody visits."""
    return set(re.findall(r"\w+://[^\s\"'`<)]*", page)) - {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_holds_every_word_of_its_chapter_and_no_address(name):
    module, lesson = chapter(name), a_lesson()
    page = chapter_page(name, module, lesson)
    texts = texts_in(data_of(page))
    words = [module.TITLE, *paragraphs(module.IDEA), *module.TRY, *lesson.says, example_of(name)]
    words += [text for pair in module.QUESTIONS for text in pair]
    words += [lesson.drawings[0].caption, "six", "a time", "0.25", "a table", "left", "one"]
    assert [text for text in words if text not in texts] == []
    assert not addresses_in(page)


def test_a_page_holds_its_pictures_and_links_only_to_its_neighbours():
    page = chapter_page("kernel", chapter("kernel"), a_lesson())
    tree = data_of(page)
    assert tree["drawings"][0]["data"].startswith("data:image/png;base64,")
    names = list(CHAPTERS)
    before, after = (names[names.index("kernel") + step] for step in (-1, 1))
    assert tree["before"]["link"] == f"{before}.html" and tree["after"]["link"] == f"{after}.html"
    links = set(re.findall(r'(?:href|src)="([^"]*)"', page))
    assert links <= {"index.html", "data:,"}  # the last is the icon of the tab: none


def test_the_first_chapter_has_none_before_it_and_the_last_none_after():
    first, last = list(CHAPTERS)[0], list(CHAPTERS)[-1]
    assert data_of(chapter_page(first, chapter(first), a_lesson()))["before"] is None
    if last in WRITTEN:
        assert data_of(chapter_page(last, chapter(last), a_lesson()))["after"] is None


def test_no_text_of_a_lesson_can_become_markup():
    hostile = "</script><script>alert(1)</script><!--"
    page = chapter_page("kernel", chapter("kernel"), a_lesson(text=hostile))
    assert hostile not in page and hostile in texts_in(data_of(page))


def test_the_index_shows_what_ran_in_the_order_of_the_course_and_what_went_wrong():
    results = {
        "kernel": (chapter("kernel"), a_lesson(ok=False)),
        "embeddings": (chapter("embeddings"), a_lesson()),
    }
    page = index_page(results)
    sections = data_of(page)["sections"]
    assert [section["title"] for section in sections] == ["Representations", "Attention"]
    (first,), (second,) = (section["chapters"] for section in sections)
    assert (first["link"], first["ok"]) == ("embeddings.html", True)
    assert len(first["pictures"]) == len(a_lesson().drawings)
    assert (second["numbers"], second["ok"]) == ("1 of 2 numbers as expected", False)
    assert not addresses_in(page)


def test_numbers_are_shown_as_people_read_them():
    assert [shown(x) for x in (5920, -0.5, 2 / 3)] == ["5,920", "-0.5", "0.6667"]


def test_a_number_is_held_against_what_it_should_be():
    assert Number.equal("x", 0.84147, 0.8415).ok and not Number.equal("x", 0.8416, 0.8415).ok
    assert Number.at_least("x", 2, 2).ok and not Number.at_least("x", 1.9, 2).ok
    assert Number.at_most("x", 2, 2).ok and not Number.at_most("x", 2.1, 2).ok
    assert not Number.equal("x", float("nan"), 0.0).ok
    assert not Number.at_most("x", float("nan"), 0.0).ok
    assert Number.measured("x", 7).as_json() == {
        "name": "x",
        "value": 7,
        "expected": None,
        "ok": True,
    }


# The command


def test_the_chapters_are_listed_without_loading_torch():
    code = "import sys\nfrom regard.cli.course import course\n"
    code += "course.main([], standalone_mode=False)\nsys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for section, chapters in SECTIONS.items():
        assert section in done.stdout
        assert all(f"  {name} " in done.stdout for name in chapters)


def test_the_list_is_also_there_as_json():
    told = [json.loads(line) for line in course("--json").stdout.splitlines()]
    assert [one["chapter"] for one in told] == list(CHAPTERS)
    assert all(one["idea"] == CHAPTERS[one["chapter"]] for one in told)


def test_a_chapter_as_json_tells_its_numbers_and_where_its_pictures_are(tmp_path):
    done = course("kernel", "--json", "--out", tmp_path / "here")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["chapter"] == "kernel"
    assert all(set(number) == {"name", "value", "expected", "ok"} for number in told["numbers"])
    first = told["numbers"][0]
    assert first["name"] == "profit expected at 65,000"
    assert first["value"] == pytest.approx(187_500) and first["expected"] == 187_500
    assert all(number["ok"] is True for number in told["numbers"])
    pictures = [Path(path) for path in told["pictures"]]
    assert [path.name for path in pictures] == ["kernel.html", "kernel-1.png", "kernel-2.png"]
    assert all(path.parent == tmp_path / "here" and path.stat().st_size for path in pictures)


def test_a_chapter_tells_its_numbers_beside_the_expected_ones(tmp_path):
    done = course("kernel", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    row = next(line for line in done.stdout.splitlines() if line.startswith("profit expected"))
    assert row.split()[-3:] == ["187,500", "187,500", "yes"]
    for question, answer in chapter("kernel").QUESTIONS:
        assert question in done.stdout and answer in done.stdout
    assert str(tmp_path / "kernel.html") in done.stderr


def test_the_seed_reaches_the_lesson(tmp_path):
    told = [
        json.loads(course("kernel", "--json", "--seed", seed, "--out", tmp_path).stdout)["numbers"]
        for seed in (0, 0, 1)
    ]
    assert told[0] == told[1] != told[2]


def test_a_number_that_is_not_as_expected_ends_with_1(tmp_path, monkeypatch):
    monkeypatch.setattr(chapter("kernel"), "lesson", lambda seed=0: a_lesson(ok=False))
    done = course("kernel", "--out", tmp_path)
    assert done.exit_code == 1
    row = next(line for line in done.stdout.splitlines() if line.startswith("six"))
    assert row.split() == ["six", "6", "7", "NO"]
    told = course("kernel", "--json", "--out", tmp_path)
    assert told.exit_code == 1 and json.loads(told.stdout)["numbers"][0]["ok"] is False


def test_all_chapters_make_an_index_and_one_wrong_number_ends_with_1(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "CHAPTERS", {"embeddings": "", "kernel": ""})
    monkeypatch.setattr(chapter("embeddings"), "lesson", lambda seed=0: a_lesson())
    monkeypatch.setattr(chapter("kernel"), "lesson", lambda seed=0: a_lesson())
    done = course("--all", "--out", tmp_path)
    assert done.exit_code == 0 and "2 numbers as expected" in done.stderr
    made = {path.name for path in tmp_path.iterdir()}
    assert {"index.html", "embeddings.html", "kernel.html", "kernel-1.png"} <= made
    monkeypatch.setattr(chapter("kernel"), "lesson", lambda seed=0: a_lesson(ok=False))
    wrong = course("--all", "--out", tmp_path)
    assert wrong.exit_code == 1 and "NOT as expected: six" in wrong.stderr


def test_an_unknown_chapter_is_an_error_that_suggests_one():
    environment = {**os.environ, "PYTHONPATH": str(ROOM.parents[1])}
    done = subprocess.run(
        [sys.executable, "-m", "regard", "course", "kernl"],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'regard: there is no chapter "kernl". Did you mean "kernel"?\n'


def test_a_chapter_and_all_of_them_can_not_be_asked_for_together():
    assert "not both" in str(course("kernel", "--all").exception)
    with pytest.raises(ConfigError, match="there is no chapter"):
        require_chapter("../kernel")
