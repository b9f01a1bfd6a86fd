"""From a file to a `Run` in Python, whatever the file is written in."""

import csv
import gzip
import io
import json
import lzma

import pytest

import regard

WORDS = [f"{a}{b}{c}" for a in "abcdef" for b in "aeiou" for c in "xyz"]
TINY = {"train": {"steps": 4}, "model": {"width": 16}}


def tsv():
    return "".join(f"{word}\t{word[::-1]}\n" for word in WORDS)


def as_csv():
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["id", "word", "backwards, quoted"])
    writer.writerows([i, word, f'{word[::-1]} "x",\n{word[0]}'] for i, word in enumerate(WORDS))
    return text.getvalue()


def jsonl():
    rows = ({"id": i, "prompt": w, "response": w[::-1]} for i, w in enumerate(WORDS))
    return "".join(json.dumps(row) + "\n" for row in rows)


def zst(data):
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd
    return zstd.compress(data)


FILES = {
    "pairs.tsv": (tsv, bytes),
    "pairs.tsv.gz": (tsv, gzip.compress),
    "pairs.jsonl.xz": (jsonl, lzma.compress),
    "pairs.tsv.zst": (tsv, zst),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_becomes_a_run_that_answers(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    text, pack = FILES[name]
    (tmp_path / name).write_bytes(pack(text().encode()))
    run = regard.train("transduce", name, **TINY)
    assert run.folder.name == "transduce" and len(run.predict(["abc", ""])) == 2
    assert run.evaluate()["examples"] == run.facts["data"]["test"]
    assert {"recipe.toml", "README.md", "report.html", "metrics.jsonl"} <= {
        path.name for path in run.folder.iterdir()
    }


def test_two_files_with_matching_lines_and_a_csv_to_score_on(tmp_path):
    (tmp_path / "train.de").write_text("\n".join(WORDS))
    (tmp_path / "train.en").write_text("\n".join(w[::-1] for w in WORDS) + "\n")
    sides = [tmp_path / "train.de", str(tmp_path / "train.en")]
    run = regard.train("translate", sides, out=tmp_path / "run", **TINY)
    assert run.recipe.metrics[0] == "bleu"
    (tmp_path / "more.csv").write_text("new,wen\nabx,xba\n")
    found = regard.load(run.folder).evaluate(tmp_path / "more.csv")
    assert found["examples"] == 2 and found["in_training"] <= 1
    assert {b["name"] for b in found["baselines"]} > {"copy the source"}
    assert found["baseline"] in found["baselines"]
    of_tokens = {"token_accuracy", "perplexity"}
    assert set(found["scores"]) == {"bleu", "chrf", "exact_match", *of_tokens}


def test_columns_are_named_and_line_breaks_inside_cells_are_kept(tmp_path):
    (tmp_path / "pairs.csv").write_text(as_csv(), newline="")
    columns = ("word", "backwards, quoted")
    path, out = tmp_path / "pairs.csv", tmp_path / "run"
    run = regard.train("transduce", path, columns=columns, out=out, **TINY)
    assert (run.recipe.data.source, run.recipe.data.target) == columns
    baseline = run.task.load_baselines(run.folder / "baseline")["nearest"]
    assert all(target.endswith(f'"x",\n{source[0]}') for source, target in baseline.pairs)


def test_settings_are_checked_before_anything_is_read(tmp_path):
    with pytest.raises(regard.RegardError, match='"model.widht".* Did you mean "width"'):
        regard.train("translate", tmp_path / "none.tsv", model={"widht": 3})


def test_a_run_shows_itself(tmp_path):
    (tmp_path / "pairs.tsv").write_text(tsv())
    run = regard.train("transduce", tmp_path / "pairs.tsv", out=tmp_path / "run", **TINY)
    page = run._repr_html_()
    assert "<table" in page and "<script" not in page and "parameters" in repr(run)


def test_an_input_the_model_can_not_take_does_not_end_a_stream(tmp_path):
    (tmp_path / "pairs.tsv").write_text(tsv())
    run = regard.train("transduce", tmp_path / "pairs.tsv", out=tmp_path / "run", **TINY)
    found = list(run.stream(["abx", "x" * 100, "\ud800", "", "aQx"]))
    assert [p.input for p in found] == ["abx", "x" * 100, "\ud800", "", "aQx"]
    assert "100 tokens" in found[1].problem and "surrogate" in found[2].problem
    assert not found[0].problem and found[3].output == "" and found[4].unknown == ("Q",)


def test_a_test_file_of_its_own_is_scored_and_never_trained_on(tmp_path):
    (tmp_path / "pairs.tsv").write_text(tsv())
    (tmp_path / "test.tsv").write_text("".join(f"{w}\t{w[::-1]}\n" for w in WORDS[::5]))
    data = {"path": str(tmp_path / "pairs.tsv"), "test": str(tmp_path / "test.tsv")}
    run = regard.train("transduce", data, out=tmp_path / "run", **TINY)
    assert run.facts["data"]["overlapping"] == run.facts["data"]["test"] == len(WORDS[::5])
    assert run.facts["test"]["in_training"] == 0


def test_another_file_may_call_its_columns_otherwise_and_skip_its_bad_rows(tmp_path):
    (tmp_path / "pairs.tsv").write_text("word\tbackwards\n" + tsv())
    data = {"path": str(tmp_path / "pairs.tsv"), "bad_rows": "skip"}
    run = regard.train("transduce", data, out=tmp_path / "run", **TINY)
    (tmp_path / "more.csv").write_text("id,to,from\n1,cba,abc\n2,,xyz\n")
    found = run.evaluate(tmp_path / "more.csv", columns=("from", "to"))
    assert found["examples"] == 1 and found["skipped_rows"] == 1
