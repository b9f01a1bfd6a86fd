"""`regard check` on language models."""

from random import Random

import pytest

from regard.check.resuming import resume
from regard.tasks.language_model import LanguageModel


@pytest.fixture
def made(language_recipe):
    """A function that gives a task, and its new network."""

    def make(*given, **more):
        recipe = language_recipe(*given, **more)
        task = LanguageModel.fit(recipe, LanguageModel.read(recipe).train)
        return task, task.network()

    return make


@pytest.mark.parametrize("kind", ["transformer", "rnn"])
def test_a_model_with_more_in_sight_than_is_made_up_is_proved_to_resume(made, kind):
    task, network = made(kind, model={"max_length": 256, "dropout": 0.2})
    assert resume(task, network, 1, Random(0)).passed


def test_made_up_documents_are_several_windows_so_that_a_state_is_carried(made):
    task, _ = made("rnn", model={"max_length": 256})
    batches = task.batches(task.invent(Random(0), 12))
    assert batches.steps_per_pass > 1 and not batches.of(1)[0].fresh
