"""`regard course`: the chapters of the course, each a small experiment with its picture."""

import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regard.cli.console import columns, command, echo_json, quick_start, say
from regard.course.contents import CHAPTERS, SECTIONS, require_chapter
from regard.errors import ConfigError
from regard.files import make_folder, write_bytes, write_text

if TYPE_CHECKING:
    from regard.course.lesson import Lesson


@click.command()
@click.argument("name", required=False)
@click.option("--all", "every", is_flag=True, help="Run all chapters and make an index page.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("course"),
    show_default=True,
    help="Folder for pages and pictures.",
)
@click.option("--seed", default=0, show_default=True, help="Of every random choice.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a chapter.")
@click.pass_context
def course(
    ctx: click.Context, name: str | None, every: bool, out: Path, seed: int, as_json: bool
) -> None:
    """Run a chapter of the course: numbers beside the expected ones, and a picture.

    Without NAME, list the chapters. Exit code 1 when a number is not as expected.

    \b
    regard course
    regard course kernel
    regard course --all --out course
    """
    if name and every:
        raise ConfigError("give a chapter or --all, not both.")
    if not name and not every:
        list_chapters(as_json=as_json)
        return
    if name:
        require_chapter(name)
    make_folder(out)
    results: dict[str, tuple[Any, Lesson]] = {}
    for chapter in CHAPTERS if every else [str(name)]:
        results[chapter] = run_chapter(chapter, out, seed, as_json=as_json, short=every)
    if every:
        from regard.course.page import index_page

        write_text(out / "index.html", index_page(results))
        say(f"\nAll chapters: {out / 'index.html'}")
    ctx.exit(0 if all(lesson.ok for _, lesson in results.values()) else 1)


def list_chapters(*, as_json: bool) -> None:
    if as_json:
        for section, chapters in SECTIONS.items():
            for name, idea in chapters.items():
                echo_json({"chapter": name, "section": section, "idea": idea})
        return
    for section, chapters in SECTIONS.items():
        click.echo(f"{section}\n" + "\n".join(f"  {name:15} {i}" for name, i in chapters.items()))
    say(f"\nRun one with:  {command('course', next(iter(CHAPTERS)))}")


def run_chapter(
    name: str, out: Path, seed: int, *, as_json: bool, short: bool
) -> tuple[Any, "Lesson"]:
    """Carry it out, write its page and pictures, tell what came out."""
    begun = time.perf_counter()
    with quick_start():
        chapter = import_module(f"regard.course.{name}")
        from regard.course.draw import png
        from regard.course.page import chapter_page
    if short:
        say(f"{name} ...")
    lesson = chapter.lesson(seed)
    paths = [out / f"{name}.html"]
    write_text(paths[0], chapter_page(name, chapter, lesson))
    for number, drawing in enumerate(lesson.drawings, start=1):
        paths.append(out / f"{name}-{number}.png")
        write_bytes(paths[-1], png(drawing.figure))
    seconds = time.perf_counter() - begun
    if as_json:
        told = [number.as_json() for number in lesson.numbers]
        pictures = [str(path) for path in paths]
        echo_json({"chapter": name, "numbers": told, "pictures": pictures, "seconds": seconds})
    elif short:
        wrong = [number.name for number in lesson.numbers if not number.ok]
        state = f"NOT as expected: {', '.join(wrong)}" if wrong else "as expected"
        say(f"  {len(lesson.numbers)} numbers {state}, {seconds:.1f} s")
    else:
        tell(chapter, lesson)
        say(f"\nThe pictures and all words: {paths[0]}  ({seconds:.1f} s)")
    return chapter, lesson


def tell(chapter: Any, lesson: "Lesson") -> None:
    """The chapter in the terminal: numbers, tables, what they say, questions."""
    from regard.cli.closing import show_hanging
    from regard.course.page import number_row, paragraphs

    click.echo(f"{chapter.TITLE}\n")
    show_hanging("", paragraphs(chapter.IDEA)[0])
    numbers = [number_row(number.as_json()) for number in lesson.numbers]
    rows = [("", "came out", "expected", "")]
    rows += [(n["name"], n["value"], n["expected"], _sign(n)) for n in numbers]
    click.echo("\n" + "\n".join(columns(rows, (1, 2))))
    for table in lesson.tables:
        click.echo(f"\n{table.title}\n" + "\n".join(columns([table.head, *table.rows])))
    for paragraph in lesson.says:
        click.echo()
        show_hanging("", paragraph)
    for question, answer in chapter.QUESTIONS:
        click.echo()
        show_hanging("? ", question)
        show_hanging("  ", answer)


def _sign(number: dict[str, Any]) -> str:
    if not number["expected"]:
        return ""
    return "yes" if number["ok"] else "NO"
