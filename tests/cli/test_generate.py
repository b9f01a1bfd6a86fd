"""`regard generate`, as a person types it."""

import json

import pytest
from click.testing import CliRunner

from regard.cli.main import regard
from regard.run import train

TEXT = (
    "".join(f"the {a} and the {b} ran.\n" for a in ("cat", "dog", "cow") for b in ("hen", "fox"))
    * 30
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    home = tmp_path_factory.mktemp("generate")
    path = home / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    small = {"width": 16, "heads": 2, "layers": 1, "max_length": 16}
    steps = {"steps": 10, "batch_tokens": 64}
    found = train("gpt", path, out=home / "run", model=small, train=steps, order=3)
    return str(found.folder)


def said(*words, **more):
    return CliRunner().invoke(regard, list(words), **more)


def test_it_writes_on_and_the_same_seed_writes_the_same(run):
    texts = [said("generate", run, "the c", "--max-length", "30").stdout for _ in range(2)]
    assert texts[0] == texts[1] and len(texts[0]) == 31
    assert said("generate", run, input="the c").exit_code == 0


def test_several_texts_and_json(run):
    found = said("generate", run, "the", "--n", "3", "--max-length", "5", "--json")
    lines = [json.loads(line) for line in found.stdout.splitlines()]
    assert len(lines) == 3 and all(line["input"] == "the" for line in lines)
    assert len({line["output"] for line in lines}) > 1
    assert "[3]" in said("generate", run, "the", "--n", "3", "--max-length", "5").stdout


def test_a_trace_shows_each_filter(run):
    found = said("generate", run, "the", "--max-length", "3", "--top-k", "2", "--trace").stdout
    assert found.count("after temperature 0.8") == 3 and found.count("after top-k 2") == 3
    assert " out" in found, "what a filter removes is told"
    traced = said("generate", run, "the", "--max-length", "3", "--trace", "--json").stdout
    assert len(json.loads(traced)["steps"]) == 3


def test_the_trace_is_of_the_text_that_is_written_and_says_what_was_out_of_sight(run):
    words = ("generate", run, "the cow and the cat ran.", "--max-length", "12")
    written = said(*words).stdout.removesuffix("\n")
    traced = said(*words, "--trace", "--json")
    pieces = [step["piece"] for step in json.loads(traced.stdout)["steps"]]
    assert "".join(pieces).replace("␣", " ").replace("\\n", "\n") == written
    assert "the beginning has 24 tokens, and the model 16 in sight" in traced.stderr
    assert "after 1 written ones it forgets the older half" in traced.stderr
    short = said("generate", run, "the cow", "--max-length", "10", "--trace")
    assert "in sight" not in short.stderr
    longer = said("generate", run, "the cow", "--max-length", "11", "--trace")
    assert "after 10 written ones it forgets" in longer.stderr


def test_a_prompt_that_is_not_read_as_it_stands_is_told(run):
    found = said("generate", run, "the QUEEN and the cow, once", "--max-length", "2")
    assert "never met in training, so read as unknown: 'Q' 'U' 'E' 'N' ','" in found.stderr
    assert "the beginning has 27 tokens, and the model 16 in sight: only the last" in found.stderr
    assert "warning" not in said("generate", run, "the cow", "--max-length", "2").stderr


def test_what_is_beyond_the_context_is_refused_where_that_is_asked_for(run):
    refused = said("generate", run, "the cow", "--max-length", "11", "--beyond", "refuse")
    assert refused.exit_code != 0 and "--beyond slide" in str(refused.exception)
    assert said("generate", run, "the cow", "--max-length", "10", "--beyond", "refuse").stdout


def test_what_can_not_be_written_is_told(run, tmp_path):
    refused = said("generate", run, "the", "--max-length", "0")
    assert "max_length" in str(refused.exception or refused.stderr)
    missing = said("generate", str(tmp_path / "nothing"), "the")
    assert missing.exit_code != 0


def test_a_language_model_can_be_evaluated_looked_at_and_shown(run):
    scores = json.loads(said("evaluate", run, "--json").stdout)["scores"]
    assert {"loss", "perplexity", "bits_per_byte", "token_accuracy"} <= scores.keys()
    assert said("look", run, "the cat").exit_code == 0
    assert "characters for training" in said("info", run).stdout
    assert said("predict", run, "the cat").exit_code == 0


def test_in_a_chat_it_writes_the_next_line(run):
    found = said("chat", run, "--json", input="the cat\nthe dog\n")
    answers = [json.loads(line) for line in found.stdout.splitlines()]
    assert len(answers) == 2 and not any("\n" in answer["output"] for answer in answers)
    assert answers[1]["input"].startswith("the cat\n"), "what was said before goes along"
