"""A chapter as a web page of its own, and the index of all. Offline: pictures are inside."""

import base64
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from regard.course.contents import CHAPTERS, SECTIONS
from regard.course.draw import png
from regard.course.lesson import Chapter, Drawing, Lesson, Table
from regard.lens.page import safe_page

STYLES = ("attention.css", "report.css", "course.css")


def example_of(name: str) -> str:
    """The code of a chapter in a few lines; a test runs it."""
    return files("regard.course").joinpath("examples", f"{name}.py").read_text(encoding="utf-8")


def chapter_page(name: str, chapter: Chapter, lesson: Lesson) -> str:
    names = list(CHAPTERS)
    place = names.index(name)
    tree = {
        "before": _link(names[place - 1] if place else None),
        "after": _link(names[place + 1] if place + 1 < len(names) else None),
        **_told(name, chapter, lesson),
    }
    return safe_page("course", tree, styles=STYLES)


def index_page(results: Mapping[str, tuple[Chapter, Lesson]]) -> str:
    """All chapters that ran, with all their pictures."""
    sections = [
        {"title": title, "chapters": [_entry(name, *results[name]) for name in chapters]}
        for title, section in SECTIONS.items()
        if (chapters := [name for name in section if name in results])
    ]
    return safe_page("contents", {"sections": sections}, styles=STYLES)


def _entry(name: str, chapter: Chapter, lesson: Lesson) -> dict[str, Any]:
    right = sum(number.ok for number in lesson.numbers)
    return {
        "link": f"{name}.html",
        "title": chapter.TITLE,
        "idea": CHAPTERS[name],
        "numbers": f"{right} of {len(lesson.numbers)} numbers as expected",
        "ok": lesson.ok,
        "pictures": [_picture(drawing) for drawing in lesson.drawings],
    }


def _told(name: str, chapter: Chapter, lesson: Lesson) -> dict[str, Any]:
    return {
        "title": chapter.TITLE,
        "idea": paragraphs(chapter.IDEA),
        "code": example_of(name),
        "numbers": [number_row(number.as_json()) for number in lesson.numbers],
        "drawings": [_picture(drawing) for drawing in lesson.drawings],
        "tables": [_table(table) for table in lesson.tables],
        "says": lesson.says,
        "next": list(chapter.TRY),
        "questions": [list(pair) for pair in chapter.QUESTIONS],
        "command": f"regard course {name}",
    }


def number_row(number: Mapping[str, Any]) -> dict[str, Any]:
    """A number as people read it: what came out, what was expected, whether they agree."""
    expected = number["expected"]
    wanted = expected if isinstance(expected, str) else "" if expected is None else shown(expected)
    value = shown(number["value"])
    return {"name": number["name"], "value": value, "expected": wanted, "ok": number["ok"]}


def shown(value: float) -> str:
    """
    >>> shown(187500.0), shown(0.84147), shown(-2.84), shown(3e-17), shown(0.0)
    ('187,500', '0.8415', '-2.84', '3.0e-17', '0')
    """
    if value == int(value):
        return f"{int(value):,}"
    if abs(value) < 5e-4:
        return f"{value:.1e}"
    return f"{value:,.4f}".rstrip("0").rstrip(".")


def paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.strip().split("\n\n")]


def _picture(drawing: Drawing) -> dict[str, str]:
    data = base64.b64encode(png(drawing.figure)).decode()
    return {"data": f"data:image/png;base64,{data}", "caption": drawing.caption}


def _table(table: Table) -> dict[str, Any]:
    return {"title": table.title, "head": list(table.head), "rows": [list(r) for r in table.rows]}


def _link(name: str | None) -> dict[str, str] | None:
    return None if name is None else {"link": f"{name}.html", "idea": CHAPTERS[name]}
