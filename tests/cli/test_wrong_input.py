"""Every mistake a newcomer can make is answered by one helpful message: exit code 2, no traceback,
nothing lost and nothing left behind."""

import gzip
import json
import os
import shutil
import sys

import pytest

from regard.cli.main import main
from regard.files import FORMAT, locked

WORDS = [f"{a}{b}{c}" for a in "abcdef" for b in "abcde" for c in "xyz"]
GOOD = "".join(f"{word}\t{word[::-1]}\n" for word in WORDS)
QUICK = ["--set", "train.steps=3", "--set", "model.width=16"]


@pytest.fixture
def regard(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder: regard("train", ...) -> (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["regard", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
            sys.exit(0)
        out, err = capsys.readouterr()
        return int(stopped.value.code or 0), out, err

    return run


def files(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


BAD_FILES = {
    "empty file": (b"", ["pairs.tsv", "empty"]),
    "blank lines": (b"\n\n  \n", ["pairs.tsv", "blank"]),
    "one column": (b"alpha\nbeta\n", ["pairs.tsv", "tab"]),
    "ragged rows": (b"a\tb\nc\td\te\nf\tg\n", ["pairs.tsv:2", "3 columns", "data check"]),
    "empty target": (b"a\tb\nc\t\nf\tg\n", ["pairs.tsv:2", "target is empty", "bad_rows=skip"]),
    "commas in a .tsv": (b"a,b\nc,d\ne,f\n", ["pairs.tsv", "comma", ".csv"]),
    "Latin-1": ("a\tb\nné\tx\n".encode("latin-1"), ["pairs.tsv:2", "0xe9", "iconv"]),
    "UTF-16": ("a\tb\n".encode("utf-16"), ["pairs.tsv:1", "UTF-16", "iconv"]),
    "binary data": (bytes(range(256)) * 8, ["pairs.tsv", "NUL"]),
    "a ZIP archive": (b"PK\x03\x04" + bytes(60), ["pairs.tsv", "ZIP"]),
    "one example": (b"only\tone\n", ["1 example", "more data"]),
    "all rows equal": (b"a\tb\n" * 50, ["50 examples", "one and the same input"]),
    "all too long": (
        "".join(f"{i:04}{'x' * 34}\ty\n" for i in range(60)).encode(),
        ["max_length", "longer"],
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_named_with_what_to_do(regard, tmp_path, name):
    content, expected = BAD_FILES[name]
    (tmp_path / "pairs.tsv").write_bytes(content)
    before = files(tmp_path)
    extra = ["--set", "model.max_length=32"] if name == "all too long" else []
    code, out, err = regard("train", "transduce", "pairs.tsv", *QUICK, *extra)
    assert_helpful(code, out, err, expected)
    assert files(tmp_path) == before and not (tmp_path / "runs").exists()


def assert_helpful(code, out, err, expected):
    assert code == 2, err
    said = [line for line in err.splitlines() if line.startswith("regard: ")]
    assert len(said) == 1 and "Traceback" not in err and not out, err
    for words in expected:
        assert words in err, f"{words!r} is not in {err!r}"


OTHER_FILES = {
    "a truncated gz": ("pairs.tsv.gz", gzip.compress(GOOD.encode())[:-20], ["broken", "again"]),
    "gz by name only": ("pairs.tsv.gz", GOOD.encode(), ["does not begin like one", "Rename"]),
    "an unclosed quote": ("p.csv", b'a,b\n"c,d\ne,f\n', ["p.csv:2", "quot"]),
    "bad JSON": ("p.jsonl", b'{"a": "x", "b": "y"}\n{"a": \n', ["p.jsonl:2", "JSON"]),
    "a key twice": ("p.jsonl", b'{"a": "x", "a": "z", "b": "y"}\n', ["p.jsonl", '"a"', "twice"]),
    "a JSON array": ("p.json", b'[{"a": "x", "b": "y"}]\n', ["p.json", "jq"]),
    "objects for text": ("p.jsonl", b'{"a": "x", "b": {"c": 1}}\n' * 3, ["p.jsonl", "jq"]),
    "three texts": (
        "p.csv",
        b"left,middle,right\n" + b"some words,other words,more words here\n" * 9,
        ["left", "middle", "right", "--source", "--target"],
    ),
}


@pytest.mark.parametrize("name", OTHER_FILES)
def test_other_formats_name_their_mistakes_too(regard, tmp_path, name):
    path, content, expected = OTHER_FILES[name]
    (tmp_path / path).write_bytes(content)
    code, out, err = regard("train", "translate", path, *QUICK)
    assert_helpful(code, out, err, expected)
    assert [str(name) for name in files(tmp_path)] == [path]


COMMANDS = {
    "missing file": (["train", "translate", "none.tsv"], ["none.tsv", "no such file"]),
    "a folder": (["train", "translate", "."], ["folder"]),
    "no data": (["train", "translate"], ["regard train translate pairs.tsv"]),
    "data first": (["train", "good.tsv"], ["good.tsv", "regard train transduce good.tsv"]),
    "a page without an explanation": (
        ["predict", "run", "a text", "--html", "x.html"],
        ["--explain"],
    ),
    "a recipe for data": (["train", "translate", "mine.toml"], ["regard train mine.toml"]),
    "unknown task": (["train", "transalte", "good.tsv"], ['Did you mean "translate"?']),
    "unknown recipe": (["train", "demmo"], ['Did you mean "demo"?']),
    "missing recipe": (["train", "mine.toml"], ["mine.toml", "no such recipe"]),
    "unknown setting": (
        ["train", "translate", "good.tsv", "--set", "model.widht=8"],
        ["model.widht", 'Did you mean "width"?'],
    ),
    "unknown kind of network": (
        ["train", "translate", "good.tsv", "--set", "model.kind=gpt"],
        ["model.kind", 'no kind "gpt"', "rnn, transformer"],
    ),
    "a setting of the other kind": (
        ["train", "translate", "good.tsv", "--set", "model.kind=rnn", "--set", "model.heads=2"],
        ['"model.heads" goes with model.kind = "transformer"'],
    ),
    "wrong type": (
        ["train", "translate", "good.tsv", "--set", "model.width=wide"],
        ["model.width", "wide", "expected a number"],
    ),
    "shares": (
        ["train", "translate", "good.tsv", "--set", "data.split=60,20,20"],
        ["data.split", "as in [90, 5, 5]", "'60,20,20'"],
    ),
    "a section": (["train", "translate", "good.tsv", "--set", "train=3"], ["train", "3"]),
    "a section for all models": (
        ["compare", "head.csv", "--set", "model=rnn"],
        ['"model" is a section, not a value', "model.KEY=VALUE"],
    ),
    "a number in quotes": (
        ["train", "translate", "good.tsv", "--set", 'model.width="64"'],
        ["model.width", "expected a number", "'64'"],
    ),
    "too large": (
        ["train", "translate", "good.tsv", "--set", "model.width=1000000000"],
        ["memory", "model.width"],
    ),
    "tested on itself": (
        ["train", "translate", "good.tsv", "--set", "data.test=good.tsv"],
        ["nothing is left on the"],
    ),
    "passes and steps": (
        ["train", "translate", "good.tsv", "--set", "train.steps=5", "--set", "train.passes=1"],
        ["passes", "budget"],
    ),
    "a seed too large": (
        ["train", "translate", "good.tsv", "--set", "seed=4294967296"],
        ["seed", "4294967296"],
    ),
    "a rate too large": (
        ["train", "translate", "good.tsv", "--set", "train.rate=1e300"],
        ["train.rate", "1000"],
    ),
    "no real device": (["train", "translate", "good.tsv", "--set", "device=meta"], ["meta"]),
    "an endless budget": (
        ["train", "translate", "good.tsv", "--budget", "9" * 400 + "h"],
        ["is not a time"],
    ),
    "two lines in one": (
        ["train", "translate", "good.tsv", "--set", "model.width=16\nseed=3"],
        ["model.width", "expected a number"],
    ),
    "a loop of links": (["train", "translate", "loop"], ["loop"]),
    "the same file twice": (["train", "translate", "a.de", "a.de"], ["the same file twice"]),
    "a folder of runs": (["predict", ".", "x"], ["run.json", "missing"]),
    "a stranger's folder to the demo": (
        ["demo", "--out", "taken"],
        ["taken", "not a run", "--out"],
    ),
    "a stranger's folder to resume": (["resume", "taken"], ["taken/run.json: missing"]),
    "a recipe without .toml": (["init", "translate", "--out", "mine"], [".toml"]),
    "a setting without its section": (
        ["train", "translate", "good.tsv", "--set", "width=64"],
        ['Did you mean "model.width"?'],
    ),
    "no value": (["train", "translate", "good.tsv", "--set", "model.width"], ["KEY=VALUE"]),
    "a budget of nothing": (["train", "translate", "good.tsv", "--budget", "soon"], ["5m"]),
    "unknown column": (
        ["train", "translate", "head.csv", "--source", "englsh"],
        ['Did you mean "english"?'],
    ),
    "no GPU": (
        ["train", "translate", "good.tsv", "--set", "device=cuda:7"],
        ["cuda:7", "auto or cpu"],
    ),
    "three files": (["train", "translate", "good.tsv", "good.tsv", "good.tsv"], ["two"]),
    "tables for texts": (["train", "translate", "good.tsv", "head.csv"], ["one text a line"]),
    "unequal files": (["train", "translate", "a.de", "a.en"], ["a.de has 2 lines", "a.en has 3"]),
    "out exists": (["train", "translate", "good.tsv", "--out", "taken"], ["taken", "--out"]),
    "no run": (["predict", "runs/none", "x"], ["runs/none", "no such run"]),
    "not a run": (["predict", "taken", "x"], ["run.json", "run folder"]),
    "unknown command": (["trian", "x"], ['Did you mean "train"?']),
    "unknown option": (["train", "translate", "good.tsv", "--budgte", "5m"], ["--budget"]),
    "recipe there already": (["init", "translate", "--out", "mine.toml"], ["exists already"]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_command_says_what_to_type_instead(regard, tmp_path, name):
    words, expected = COMMANDS[name]
    (tmp_path / "good.tsv").write_text(GOOD)
    rows = "".join(f"{w},{w[::-1]}\n" for w in WORDS[:60])
    (tmp_path / "head.csv").write_text("english,spanish\n" + rows)
    (tmp_path / "taken").mkdir()
    (tmp_path / "loop").symlink_to("pool")
    (tmp_path / "pool").symlink_to("loop")
    (tmp_path / "a.de").write_text("eins\nzwei\n")
    (tmp_path / "a.en").write_text("one\ntwo\nthree\n")
    if name == "recipe there already":
        (tmp_path / "mine.toml").write_text("# mine")
    before = files(tmp_path)
    code, out, err = regard(*words)
    assert code == 2 and "Traceback" not in err and not out, err
    for text in expected:
        assert text in err, f"{text!r} is not in {err!r}"
    assert files(tmp_path) == before and not (tmp_path / "runs").exists()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A finished run, to be broken in many ways."""
    from regard.run import train

    home = tmp_path_factory.mktemp("trained")
    (home / "good.tsv").write_text(GOOD)
    sections = {"train": {"steps": 3}, "model": {"width": 16}}
    return train("transduce", home / "good.tsv", out=home / "run", **sections).folder


def edited(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def replaced(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


LETTERS = {"kind": "character", "lowercase": False, "pieces": ["a", "b"]}
BROKEN = {
    "newer": (lambda run: edited(run / "run.json", format=FORMAT + 1), ["newer", "upgrade"]),
    "older": (lambda run: edited(run / "run.json", format=1), ["older"]),
    "foreign": (lambda run: (run / "run.json").write_text('{"name": "x"}'), ["another program"]),
    "torn run.json": (lambda run: (run / "run.json").write_text("{"), ["run.json", "damaged"]),
    "no weights": (
        lambda run: (run / "model.safetensors").unlink(),
        ["model.safetensors: missing", "Copy"],
    ),
    "torn weights": (
        lambda run: (run / "model.safetensors").write_bytes(b"abc"),
        ["model.safetensors"],
    ),
    "another tokenizer": (
        lambda run: edited(run / "tokenizer.json", target=LETTERS),
        ["tokenizer.json", "another run"],
    ),
    "another shape": (
        lambda run: replaced(run / "recipe.toml", "heads = 2", "heads = 4"),
        ["recipe.toml", "[model]"],
    ),
    "data no table": (lambda run: edited(run / "run.json", data=5), ["not as Regard writes it"]),
    "no tokenizer": (lambda run: (run / "tokenizer.json").unlink(), ["tokenizer.json", "missing"]),
    "edited recipe": (
        lambda run: (run / "recipe.toml").write_text("task = 'transduce'\nmodle = 1"),
        ["recipe.toml", "model"],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_run_says_what_is_wrong_with_it(regard, tmp_path, trained, name):
    run = shutil.copytree(trained, tmp_path / "run")
    spoil, expected = BROKEN[name]
    spoil(run)
    before = files(run)
    assert_helpful(*regard("predict", "run", "abc"), expected)
    assert files(run) == before


def test_a_run_that_another_process_writes_is_left_alone(regard, tmp_path, trained):
    run = shutil.copytree(trained, tmp_path / "run")
    with locked(run):
        assert_helpful(*regard("resume", "run"), ["another process"])


def test_data_that_changed_under_a_run_is_refused(regard, tmp_path, trained):
    (trained.parent / "good.tsv").write_text(GOOD + "new\twen\n")
    try:
        assert_helpful(*regard("evaluate", trained), ["the data changed"])
    finally:
        (trained.parent / "good.tsv").write_text(GOOD)


def test_a_full_disk_ends_in_a_sentence_and_keeps_what_was_there(
    regard, tmp_path, trained, monkeypatch
):
    (tmp_path / "good.tsv").write_text(GOOD)

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    code, out, err = regard("train", "transduce", "good.tsv", *QUICK)
    assert_helpful(code, out, err, ["No space left on device", "make room"])
    assert not (tmp_path / "runs" / "transduce").exists()
    assert (tmp_path / "good.tsv").read_text() == GOOD


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_results_that_can_not_be_written_end_in_a_sentence(tmp_path, trained):
    import subprocess

    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "regard", "predict", str(trained), "abc"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2 and "No space left" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_says_so(regard, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(GOOD)
    path.chmod(0)
    assert_helpful(*regard("train", "translate", "pairs.tsv"), ["permission"])


def test_an_input_that_is_too_long_is_told_with_its_three_numbers(regard, trained):
    code, out, err = regard("predict", trained, "abc", "x" * 500, "cba")
    assert code == 2 and out.count("\n") == 3, "every input is answered by a line"
    assert "input 2" in err and "500 tokens" in err and "at most" in err


def test_a_letter_never_met_is_told(regard, trained):
    code, out, err = regard("predict", trained, "aQx", "--json")
    assert code == 0 and json.loads(out)["unknown"] == ["Q"]
    assert "never met in training" in err and "'Q'" in err


def test_a_megabyte_in_one_line_is_left_out_not_cut(regard, tmp_path):
    (tmp_path / "pairs.tsv").write_text(GOOD + "x" * 10**6 + "\tlong\n")
    code, out, err = regard("train", "transduce", "pairs.tsv", *QUICK)
    assert code == 0, err
    facts = json.loads((tmp_path / "runs" / "transduce" / "run.json").read_text())
    assert facts["data"]["left_out_of_training"] == 1, "its hash puts it on the training side"
    assert "1 of " in err and "never cut" in err


def test_who_stops_reading_is_no_failure_and_loses_no_training(tmp_path):
    import subprocess

    (tmp_path / "good.tsv").write_text(GOOD)
    command = [sys.executable, "-m", "regard", "train", "transduce", "good.tsv", "--json"]
    sets = ["--set", "train.steps=400", "--set", "train.validate_every=400"]
    with subprocess.Popen(
        [*command, *sets], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as training:
        training.stdout.readline()
        training.stdout.close()
        err = training.stderr.read()
    assert training.returncode == 130 and "resume" in err and "Traceback" not in err, err
    assert any((tmp_path / "runs" / "transduce" / "checkpoints").iterdir())


def test_closed_streams_and_small_alphabets_do_no_harm(tmp_path, trained):
    import subprocess

    command = f"{sys.executable} -m regard"
    for words in (f"predict {trained} abc >&-", f"info {trained} >&-", f"predict {trained} <&-"):
        done = subprocess.run(
            f"{command} {words}", shell=True, capture_output=True, text=True, cwd=tmp_path
        )
        assert "Traceback" not in done.stderr and done.returncode in (0, 2), done.stderr
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    shown = subprocess.run(
        f"{command} look {trained} abc", shell=True, capture_output=True, text=True, env=env
    )
    assert shown.returncode == 0 and "Traceback" not in shown.stderr, shown.stderr


def test_a_fault_of_our_own_is_a_sentence_too(regard, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("regard.data.audit.audit", broken)
    (tmp_path / "good.tsv").write_text(GOOD)
    code, _, err = regard("data", "check", "good.tsv")
    assert code == 2 and "a fault inside Regard: ZeroDivisionError: oops" in err
    assert "Traceback" not in err and "regard doctor" in err


def test_a_stopped_run_can_be_finished_with_what_it_has(regard, tmp_path):
    from regard.build import new_training
    from regard.tasks.recipe import make_recipe

    (tmp_path / "good.tsv").write_text(GOOD)
    sets = ["train.steps=40", "train.validate_every=4", "model.width=16"]
    training = new_training(make_recipe("transduce", ["good.tsv"], sets)[0], tmp_path / "run")
    for _ in training.run(lambda: training.progress.step >= 6):
        pass
    code, out, err = regard("resume", "run", "--finish", "--json")
    assert code == 0 and json.loads(out)["steps"] == 6, err
    assert regard("predict", "run", "abc")[0] == 0
