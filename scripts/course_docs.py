"""Write docs/course/: every chapter as a page with its pictures, all from the code that runs.

    python scripts/course_docs.py            all chapters, a few minutes
    python scripts/course_docs.py kernel     one of them

The words come from regard/course/NAME.py, the code block from regard/course/examples/NAME.py.
"""

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from regard.course.contents import CHAPTERS, SECTIONS, require_chapter
from regard.course.draw import png
from regard.course.lesson import Lesson
from regard.course.page import example_of, number_row, paragraphs

DOCS = Path(__file__).resolve().parents[1] / "docs" / "course"


def page(name: str, chapter: Any, lesson: Lesson) -> str:
    numbers = [number_row(number.as_json()) for number in lesson.numbers]
    rows = [(n["name"], n["value"], n["expected"], _sign(n)) for n in numbers]
    parts = [
        f"# {chapter.TITLE}",
        *paragraphs(chapter.IDEA),
        *(
            f"![{drawing.caption}](pictures/{name}-{number}.png)\n\n*{drawing.caption}*"
            for number, drawing in enumerate(lesson.drawings, start=1)
        ),
        "## The numbers",
        table(("", "came out", "expected", ""), rows),
        *(f"**{one.title}**\n\n{table(one.head, one.rows)}" for one in lesson.tables),
        "## What they say",
        *lesson.says,
        "## In a few lines",
        code_block(name),
        f"All of it, with the pictures: `regard course {name}`",
        "## Try next",
        "\n".join(f"- {text}" for text in chapter.TRY),
        "## Questions",
        *(f"**{question}**\n\n{answer}" for question, answer in chapter.QUESTIONS),
        "[All chapters](README.md)",
    ]
    return "\n\n".join(parts) + "\n"


def code_block(name: str) -> str:
    return f"```python\n{example_of(name)}```"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _sign(number: dict[str, Any]) -> str:
    return "" if not number["expected"] else "yes" if number["ok"] else "no"


def index() -> str:
    """The page that a newcomer begins with."""
    parts = [
        "# The course",
        "From a row of a table to the Transformer, in chapters that run: each is a small "
        "experiment whose numbers stand beside the expected ones. Pages and pictures here "
        "were made by `python scripts/course_docs.py`.",
        "```console\n$ regard course              # the chapters\n"
        "$ regard course kernel       # one of them: numbers, a page, a picture\n"
        "$ regard course --all        # all of them, and an index page\n```",
    ]
    for title, chapters in SECTIONS.items():
        parts.append(f"## {title}")
        parts.append("\n".join(f"- [{name}]({name}.md): {idea}" for name, idea in chapters.items()))
    return "\n\n".join(parts) + "\n"


def main(names: Sequence[str]) -> None:
    (DOCS / "pictures").mkdir(parents=True, exist_ok=True)
    for name in names or CHAPTERS:
        require_chapter(name)
        chapter = import_module(f"regard.course.{name}")
        lesson = chapter.lesson()
        (DOCS / f"{name}.md").write_text(page(name, chapter, lesson), encoding="utf-8")
        for number, drawing in enumerate(lesson.drawings, start=1):
            (DOCS / "pictures" / f"{name}-{number}.png").write_bytes(png(drawing.figure))
        print(name, "as expected" if lesson.ok else "NOT as expected", flush=True)
    (DOCS / "README.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
