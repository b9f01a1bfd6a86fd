"""`regard data`: what a person reads, what a script reads, and the exit codes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from regard.cli.data import data

ROOT = Path(__file__).parents[2]
ROWS = [f"source number {n}\ttarget {n}" for n in range(400)]


def run(*args, columns=80):
    runner = CliRunner(env={"COLUMNS": str(columns)})
    return runner.invoke(data, [str(arg) for arg in args], catch_exceptions=False)


def command(*args):
    """The whole way, with the exit codes for our own errors."""
    return subprocess.run(
        [sys.executable, "-m", "regard", "data", *map(str, args)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.tsv"
    path.write_text("\n".join(ROWS), encoding="utf-8")
    return path


@pytest.fixture
def bad(tmp_path):
    path = tmp_path / "bad.tsv"
    rows = [*ROWS, "no tab", "", *[f"also {n}\x1b[31m" for n in range(5)], "x\u202e\ty", *ROWS[:2]]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def test_a_good_file_ends_with_0_and_a_bad_one_with_1(good, bad):
    assert command("check", good).returncode == 0
    done = command("check", bad)
    assert done.returncode == 1 and done.stderr == ""
    assert "1 problem, 2 notes." in done.stdout


def test_mistakes_end_with_2_and_a_sentence(good, tmp_path):
    (tmp_path / "plain.txt").write_text("only\nprose\n")
    for args, message in (
        (["check", tmp_path / "none.tsv"], "no such file"),
        (["check", good, "--source", "question"], 'no column "question"'),
        (["check", tmp_path / "plain.txt"], "one column"),
        (["stats", good, "--png", tmp_path / "a.pdf"], "saved as .png"),
    ):
        done = command(*args)
        assert done.returncode == 2 and message in done.stderr
        assert "Traceback" not in done.stderr


def test_problems_come_first_with_count_lines_and_what_training_does(bad):
    shown = run("check", bad).output
    levels = re.findall(r"^(problem|note|ok) ", shown, re.MULTILINE)
    assert levels == ["problem", "note", "note", "ok"]
    assert re.search(
        r"^problem  wrong number of columns +6  line 401, 403, 404, \.\.\.$", shown, re.M
    )
    assert "--set data.bad_rows=skip" in " ".join(shown.split())
    assert "U+202E RIGHT-TO-LEFT OVERRIDE 1" in " ".join(shown.split())


@pytest.mark.parametrize("width", [20, 60, 200])
def test_nothing_in_a_file_drives_the_terminal_and_lines_fit_it(bad, width, monkeypatch):
    monkeypatch.chdir(bad.parent)  # a long path would be longer than a line
    for verb in ("check", "stats"):
        shown = run(verb, bad.name, columns=width).output
        assert all(c.isprintable() or c == "\n" for c in shown)
        assert max(map(len, shown.splitlines())) <= max(40, min(100, width))


def test_check_prints_the_promised_json(bad):
    done = run("check", bad, "--json")
    found = json.loads(done.output)
    assert done.exit_code == 1 and found["passed"] is False
    assert found["data"] == str(bad) and found["rows"] == 403
    first = found["findings"][0]
    assert first["level"] == "problem" and first["count"] == 6
    assert first["where"] == [f"{bad}:401", f"{bad}:403", f"{bad}:404"]


def test_leaks_into_other_files_name_those_files(good, tmp_path):
    test = tmp_path / "test.tsv"
    test.write_text("\n".join([*ROWS[5:7], "new\tone", ROWS[9].upper()]), encoding="utf-8")
    done = run("check", good, "--test", test)
    shown = " ".join(done.output.split())
    assert done.exit_code == 1 and re.search(r"^problem  test sources nearly", done.output, re.M)
    assert f"test sources in training 2 {test}:1, 2" in shown
    assert f"test sources nearly in training 1 {test}:4" in shown


def test_stats_of_parallel_files_and_their_picture(tmp_path):
    for name in ("a.de", "a.en"):
        (tmp_path / name).write_text("\n".join(f"{name} text {n}" for n in range(50)))
    picture = tmp_path / "lengths.png"
    done = run("stats", tmp_path / "a.de", tmp_path / "a.en", "--png", picture)
    assert done.exit_code == 0 and picture.read_bytes().startswith(b"\x89PNG")
    assert done.output.count("50 lines") == 2 and "de (source)" in done.output
    assert "en (target), characters in a text" in done.output and "█" in done.output


def test_stats_prints_the_promised_json(good):
    found = json.loads(run("stats", good, "--json").output)
    assert (found["data"], found["rows"], found["format"]) == (str(good), 400, "tsv")
    first = found["columns"][0]
    assert (first["name"], first["role"], first["distinct"]) == ("1", "source", 400)
    assert first["characters"]["longest"] == len("source number 399")
    assert first["words"]["median"] == 3


def test_classes_are_shown_with_their_shares(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("text,label\n" + "".join(f"text {n},{n % 4 == 0}\n" for n in range(200)))
    shown = run("stats", path, "--source", "text", "--target", "label").output
    assert re.search(r"^ +150  75\.0 %  False$", shown, re.MULTILINE)
    assert re.search(r"^ +50  25\.0 %  True$", shown, re.MULTILINE)
