"""`regard predict --trace` and `regard compare`, on two tiny runs of one data file."""

import json
import math

import pytest
from click.testing import CliRunner

from regard.cli.compare import compare
from regard.cli.predict import predict
from regard.run import Run, train

WORDS = [f"{a}{b}{c}" for a in "abcdef" for b in "aeiou" for c in "xyz"]
TINY = {"width": 16, "encoder_layers": 1, "decoder_layers": 1}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs, one of which has learned something, and their data."""
    home = tmp_path_factory.mktemp("home")
    data = home / "pairs.tsv"
    data.write_text("".join(f"{word}\t{word[::-1]}\n" for word in WORDS), encoding="utf-8")
    for name, steps in (("good", 500), ("bad", 2)):
        train("transduce", data, out=home / name, model=TINY, train={"steps": steps})
    return home / "good", home / "bad", data


def asked(command, *words):
    done = CliRunner().invoke(command, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("beam", [1, 4])
def test_the_steps_of_a_trace_are_those_of_the_answer(runs, beam):
    run = Run.load(runs[0])
    (answer,) = run.stream(["axe"], beam=beam)
    steps = run.trace("axe", others=3, beam=beam)
    assert sum(math.log(step.probability) for step in steps) == pytest.approx(
        answer.score, abs=1e-4
    )
    assert "".join(step.piece for step in steps) == f"{answer.output}<stop>"
    for place, step in enumerate(steps):
        assert step.before == ("<start>", *(earlier.piece for earlier in steps[:place]))
        likely = [probability for _, probability in step.others]
        assert len(likely) == 3 and likely == sorted(likely, reverse=True)
        assert step.piece not in dict(step.others) and "<unknown>" not in dict(step.others)
        assert beam > 1 or step.probability >= likely[0]


def test_a_trace_is_a_table_of_what_was_written_and_what_instead(runs):
    name, head, *lines = asked(predict, runs[0], "axe", "--trace").strip().splitlines()
    assert name == "axe" and head.split() == ["written", "so", "far", "next", "instead", "of"]
    assert lines[0].startswith("<start>") and "%" in lines[0]
    found = json.loads(asked(predict, runs[0], "axe", "--trace", "--json"))
    assert found["input"] == "axe" and found["steps"][-1]["piece"] == "<stop>"
    assert len(found["steps"]) == len(lines)


def test_an_input_that_can_not_be_traced_does_not_end_the_others(runs):
    done = CliRunner().invoke(predict, [str(runs[0]), "", "axe", "--trace", "--json"])
    assert done.exit_code == 2 and "input 1: nothing to look at" in done.stderr
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["input"] == "" and "nothing to look at" in first["problem"]
    assert second["input"] == "axe" and second["steps"]


def test_what_filters_leave_of_a_sampled_answer_is_shown(runs):
    (found,) = Run.load(runs[0]).trace("axe", temperature=2.0, top_k=2)[:1]
    names, tables = zip(*found.filters, strict=True)
    assert names == ("temperature 2", "top-k 2")
    assert all(len(table) == 1 + len(found.others) for table in tables)
    kept = [chance for chance in tables[-1] if chance]
    assert len(kept) <= 2 and sum(kept) == pytest.approx(1, abs=1e-6)


def test_a_sampled_answer_is_traced_as_it_is_answered(runs):
    words = [runs[0], "axe", "bey", "--temperature", "2", "--seed", "3"]
    answers = asked(predict, *words).splitlines()
    traced = [json.loads(line) for line in asked(predict, *words, "--trace", "--json").splitlines()]
    pieces = ["".join(step["piece"] for step in one["steps"]) for one in traced]
    assert [piece.removesuffix("<stop>") for piece in pieces] == answers


def test_a_real_difference_is_told_from_chance(runs):
    good, bad, data = runs
    found = json.loads(asked(compare, good, bad, "--data", data, "--json"))
    assert found["a"] == str(good) and found["b"] == str(bad) and found["examples"] == len(WORDS)
    assert found["in_training"]["a"] == found["in_training"]["b"] > 0
    assert found["too_long"] == {"a": 0, "b": 0} and found["skipped_rows"] == 0
    assert {"exact_match", "token_accuracy", "perplexity"} <= set(found["scores"])
    for name, score in found["scores"].items():
        assert score["significant"] and (score["a"] > score["b"]) == (name != "perplexity")
        assert score["difference"] == pytest.approx(score["a"] - score["b"])
    same = json.loads(asked(compare, good, good, "--json"))
    assert same["data"] == "test part" and not any(same["in_training"].values())
    assert not any(score["significant"] for score in same["scores"].values())


def test_a_comparison_is_a_table_with_a_verdict(runs):
    good, bad, data = runs
    told = CliRunner().invoke(compare, [str(good), str(bad), "--data", str(data)])
    assert f"{good} is better" in told.stdout and "outputs right, %" in told.stdout
    assert f"{bad} was trained on" in told.stderr
    assert "may be chance" in asked(compare, good, good)
