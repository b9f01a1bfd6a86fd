"""`regard tokenizer show` draws the pieces that the run's own tokenizer makes."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from regard.cli import tokenizer as module
from regard.cli.tokenizer import cut, painted, tokenizer
from regard.config import TokenizerSettings
from regard.errors import ConfigError, RunError, TextError
from regard.files import FORMAT
from regard.text import TOKENIZERS, fit_tokenizer, load_tokenizer

TEXTS = ["hello, world", "hello there", "the cold world", "naïve"]


def make_run(folder: Path, **kinds: str) -> Path:
    folder.mkdir()
    facts = {"format": FORMAT, "data": {}, "environment": {}}
    saved = {
        side: fit_tokenizer(TokenizerSettings(kind=kind, lowercase=True), TEXTS).as_json()
        for side, kind in kinds.items()
    }
    (folder / "run.json").write_text(json.dumps(facts))
    (folder / "tokenizer.json").write_text(json.dumps(saved))
    return folder


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path / "run", source="character", target="word")


def show(*args) -> str:
    done = CliRunner().invoke(tokenizer, ["show", *map(str, args)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("text", ["Hello, world", "héllo  wörld\t", "İstanbul 注意", ""])
def test_json_holds_what_the_tokenizer_says(tmp_path, kind, text):
    run = make_run(tmp_path / "run", source=kind)
    (line,) = show(run, text, "--json").splitlines()
    found = json.loads(line)
    data = json.loads((run / "tokenizer.json").read_text())["source"]
    ids, offsets = load_tokenizer(data).encode(text)
    assert found["text"] == text
    assert [p["id"] for p in found["pieces"]] == ids
    assert [(p["start"], p["end"]) for p in found["pieces"]] == offsets
    assert [p["text"] for p in found["pieces"]] == [text[a:b] for a, b in offsets]
    assert [p["unknown"] for p in found["pieces"]] == [i == 3 for i in ids]


def test_the_table_numbers_the_pieces_and_marks_the_unknown(run):
    text, heading, *rows, _, last = show(run, "Hi").splitlines()
    assert text == "Hi" and heading.split() == ["#", "piece", "id", "place", "typed"]
    assert [row.split()[0] for row in rows] == ["1", "2"]
    assert rows[0].split()[1] == "h" and rows[0].split()[3:] == ["0-1", "H"]
    assert "UNKNOWN" not in rows[0]
    (_, _, *rows, _, last) = show(run, "hé").splitlines()
    assert rows[1].split() == ["2", "<unknown>", "3", "1-2", "é", "UNKNOWN"]
    assert last.startswith("2 characters, 2 pieces, 1.00 characters a piece, 1 unknown")


def test_the_last_line_counts_all_texts(run):
    assert "0 characters, 0 pieces, 0 unknown" in show(run, "")
    assert "9 characters, 2 pieces, 4.50 characters a piece, 1 unknown" in show(
        run, "hello", "what", "--side", "target"
    )


def test_source_is_shown_unless_target_is_asked_for(run, tmp_path):
    assert len(json.loads(show(run, "hello", "--json"))["pieces"]) == 5
    assert len(json.loads(show(run, "hello", "--json", "--side", "target"))["pieces"]) == 1
    with pytest.raises(ConfigError, match='has no side "targt". Did you mean "target"'):
        show(run, "hello", "--side", "targt")
    one = make_run(tmp_path / "one", source="word")
    shared = json.loads(show(one, "hello", "--json", "--side", "target"))
    assert len(shared["pieces"]) == 1, "one tokenizer serves both sides"
    assert "hello" in show(make_run(tmp_path / "lm", text="word"), "hello")


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda run: (run / "run.json").unlink(), "run.json: missing"),
        (lambda run: (run / "run.json").write_text('{"format": 99}'), "run format 99"),
        (lambda run: (run / "tokenizer.json").unlink(), "tokenizer.json: missing"),
        (lambda run: (run / "tokenizer.json").write_text("{}"), "holds no tokenizer"),
        (lambda run: (run / "tokenizer.json").write_text('{"source": {"kind": "x"}}'), "'x'"),
    ],
)
def test_a_broken_run_says_which_file_is_broken(run, break_it, message):
    break_it(run)
    with pytest.raises(RunError, match=message):
        show(run, "hello")


def test_a_folder_that_is_no_run_is_a_mistake(tmp_path):
    with pytest.raises(RunError, match="nowhere: no such run"):
        show(tmp_path / "nowhere", "hello")


def test_half_characters_are_refused_in_a_sentence(run):
    with pytest.raises(TextError, match="lone surrogate"):
        show(run, "caf\udce9")


def test_control_characters_do_not_reach_the_terminal(run):
    assert "\x1b" not in show(run, "a\x1b[31mb") and "\r" not in show(run, "a\rb")


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("text", ["hello,  world ", "İi 注意 é", "", "   "])
def test_colours_leave_the_text_as_it_is(tmp_path, kind, text):
    cutter = fit_tokenizer(TokenizerSettings(kind=kind, lowercase=True), TEXTS)
    assert click.unstyle(painted(text, cut(cutter, text))) == text.replace(" ", "␣")


def test_neighbours_differ_in_colour_and_so_do_unknown_pieces():
    cutter = fit_tokenizer(TokenizerSettings(kind="character"), ["ab"])
    parts = painted("ab?", cut(cutter, "ab?")).split("\x1b[0m")[:-1]
    assert len({part[:-1] for part in parts}) == 3


def test_colours_are_for_terminals_without_no_color(run, monkeypatch):
    assert "\x1b" not in show(run, "hello")
    monkeypatch.setattr(module, "in_colour", lambda: True)
    assert "\x1b" in show(run, "hello")
    monkeypatch.undo()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert module.in_colour()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not module.in_colour()


def test_a_pipe_is_read_line_by_line_without_torch(run):
    code = (
        "import sys; from regard.cli.tokenizer import tokenizer; "
        f"tokenizer(['show', {str(run)!r}, '--json'], standalone_mode=False); "
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="hello\n\nwörld\n".encode(), capture_output=True
    )
    assert done.returncode == 0, done.stderr
    texts = [json.loads(line)["text"] for line in done.stdout.decode().splitlines()]
    assert texts == ["hello", "", "wörld"]


def test_a_terminal_with_no_text_is_a_mistake(run, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    with pytest.raises(ConfigError, match="nothing to cut"):
        list(module._lines())


def test_help_shows_examples():
    for args in (["--help"], ["show", "--help"]):
        assert "regard tokenizer show" in CliRunner().invoke(tokenizer, args).output
