"""What a language model writes, what its trace says about it, and what it says about a prompt."""

import math

import pytest

from regard.tasks.language_model import LanguageModel

SHORT, LONG = "the cat", "the cat sat on the mat and the dog ran"


@pytest.mark.parametrize("kind", ["transformer", "rnn"])
@pytest.mark.parametrize("text", [SHORT, LONG])
@pytest.mark.parametrize(
    "decoding",
    [{"temperature": 1.0, "seed": 3}, {"beam": 3}, {"temperature": 1.0, "stop": ["t", "e"]}],
)
def test_a_trace_shows_the_tokens_of_the_text_also_beyond_the_context(
    language_run, kind, text, decoding
):
    run = language_run(kind)
    (answer,) = run.stream([text], max_length=30, **decoding)
    steps = run.trace(text, others=1, max_length=30, **decoding)
    pieces = "".join(step.piece for step in steps).replace("␣", " ").replace("\\n", "\n")
    stops = decoding.get("stop", ())
    assert pieces.removesuffix(pieces[-1] if stops else "") == answer.output
    assert sum(math.log(step.probability) for step in steps) == pytest.approx(
        answer.score, abs=1e-4
    )


def test_several_inputs_are_traced_as_they_are_answered_together(language_run):
    run = language_run()
    answers = [found.output for found in run.stream([SHORT, SHORT], temperature=1.5)]
    predictor = run.predictor(temperature=1.5)
    traced = [run.task.trace(predictor, SHORT, 1) for _ in answers]
    assert answers[0] != answers[1]
    for answer, steps in zip(answers, traced, strict=True):
        assert [step.piece for step in steps] == run.task.tokenizer.pieces(
            run.task.tokenizer.ids(answer)
        )


def test_a_picture_holds_all_of_a_beginning_that_fits(language_run):
    run = language_run()
    replay = run.task.replay(run.network, SHORT)
    assert "".join(replay.axes["self"][1]).startswith("the␣cat")
    assert replay.output == run.predict([SHORT], max_length=16 + 1 - len(SHORT))[0]
    assert len(run.task.replay(run.network, LONG).axes["self"][1]) == 16


def test_one_prompt_that_can_not_be_gone_on_with_does_not_end_the_others(language_run):
    run = language_run(tokens={"kind": "word", "size": 300})
    empty, good, long = run.stream(["", "the", "the cat " * 9], beyond="refuse", max_length=4)
    assert "nothing to go on with" in empty.problem and empty.output == ""
    assert good.output and not good.problem
    assert "a beginning of 18 tokens and 4 more are too long" in long.problem


@pytest.mark.parametrize("kind", ["transformer", "rnn"])
def test_a_task_knows_which_prompts_its_recipe_refuses(language_recipe, kind):
    def task(**more):
        recipe = language_recipe(kind, **more)
        return LanguageModel.fit(recipe, LanguageModel.read(recipe).train)

    assert task().fits(LONG) and task().fits("")
    assert task(decode={"beyond": "refuse", "max_length": 8}).fits(LONG) is (kind == "rnn")
    assert not task(tokens={"kind": "word", "size": 300}).fits("")
