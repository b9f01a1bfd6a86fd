"""What a run remembers: how far it is, how well it did, and every random state."""

import json
import platform
import random
from importlib import metadata

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import RunError
from regard.train import divergence
from regard.train.state import (
    Progress,
    environment,
    random_tensors,
    restore_random,
    seed_everything,
)


@pytest.fixture(autouse=True)
def put_back():
    """Leave the random states of the test process as they were."""
    python, numpy = random.getstate(), np.random.get_state(legacy=True)
    with torch.random.fork_rng(devices=[]):
        yield
    random.setstate(python)
    np.random.set_state(numpy)


def draw():
    """A number of each kind from each library; a second normal number may wait in a cache."""
    return [
        random.random(),
        random.gauss(0, 1),
        *np.random.normal(size=3),
        np.random.randint(10**9),
        *torch.randn(3).tolist(),
        *torch.rand(2).tolist(),
    ]


# Progress


def test_a_run_begins_with_nothing_done_and_nothing_known():
    begun = Progress().as_json()
    assert [value for value in begun.values() if value not in (0, None, {})] == []
    assert begun["best"] is None and begun["mean_loss"] is None  # unlike 0, the best there could be
    assert Progress().validation is not Progress().validation


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.floats(0, 9), st.integers(1, 99)), min_size=1, max_size=8))
def test_steps_and_tokens_add_up_and_the_mean_forgets_a_tenth_each_time(seen):
    progress = Progress(step=5, tokens=7)
    for loss, tokens in seen:
        progress.saw(loss, tokens)
    assert progress.step == 5 + len(seen)
    assert progress.tokens == 7 + sum(tokens for _, tokens in seen)
    later = sum(0.1 * 0.9**age * loss for age, (loss, _) in enumerate(seen[:0:-1]))
    assert progress.mean_loss == pytest.approx(0.9 ** (len(seen) - 1) * seen[0][0] + later)


def test_only_a_lower_loss_is_better_and_validations_without_one_are_counted():
    progress, told = Progress(), []
    for step, loss in [(10, 3.0), (20, 3.5), (30, 3.0), (40, 2.0), (50, 2.5)]:
        progress.step = step
        told.append(progress.validated({"loss": loss, "per": 50.0}))
        if step == 30:
            assert (progress.best, progress.best_step, progress.without_better) == (3.0, 10, 2)
    assert told == [True, False, False, True, False]
    assert (progress.best, progress.best_step, progress.without_better) == (2.0, 40, 1)
    assert progress.validation == {"loss": 2.5, "per": 50.0}


def test_a_best_loss_of_zero_is_known():
    progress = Progress(best=0.0, best_step=3)
    assert not progress.validated({"loss": 1.0})
    assert progress.best_step == 3


def test_progress_goes_through_json_unchanged():
    progress = Progress(step=3, seconds=1.5)
    progress.saw(2.0, 11)
    progress.validated({"loss": 1.0})
    assert Progress.from_json(json.loads(json.dumps(progress.as_json()))) == progress


def test_progress_that_says_too_little_is_refused_with_what_is_missing():
    state = Progress().as_json()
    del state["tokens"], state["best"]
    with pytest.raises(RunError, match="says nothing about best, tokens: it comes from an older"):
        Progress.from_json(state)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from([0.5, 4.0, 9.0, 30.0]), min_size=1, max_size=40))
def test_signs_of_divergence_are_carried_from_step_to_step(losses):
    progress, start, bad, calm = Progress(), None, 0, 0
    for step, loss in enumerate(losses, start=1):
        progress.saw(loss, 1)
        start = divergence.start_loss(start, step, loss)
        bad = divergence.bad_steps(bad, loss, start)
        calm = calm if bad else step
        assert (progress.start_loss, progress.bad_steps, progress.calm_step) == (start, bad, calm)


# Randomness


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_what_was_put_back_draws_what_would_have_been_drawn(before, seed):
    seed_everything(seed)
    for _ in range(before):
        draw()
    states = random_tensors()
    expected = [draw() for _ in range(3)]
    restore_random(states)
    assert [draw() for _ in range(3)] == expected


@pytest.mark.parametrize("odd", [False, True], ids=["no normal number waits", "one waits"])
def test_a_normal_number_that_waits_is_part_of_the_state(odd):
    seed_everything(4)
    if odd:
        random.gauss(0, 1), np.random.normal()
    states = random_tensors()
    expected = [random.gauss(0, 1), random.gauss(0, 1), *np.random.normal(size=4)]
    seed_everything(5)
    random.gauss(0, 1), np.random.normal()  # must not be left over
    restore_random(states)
    assert [random.gauss(0, 1), random.gauss(0, 1), *np.random.normal(size=4)] == expected
    assert len(states["python_gauss"]) == odd


def test_to_look_at_the_random_states_does_not_change_them():
    first, second = random_tensors(), random_tensors()
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_states_are_tensors_that_a_file_keeps_exactly(tmp_path):
    from safetensors.torch import load_file, save_file

    seed_everything(6)
    draw()
    states = random_tensors()
    assert {state.dtype for state in states.values()} == {torch.uint8, torch.int64, torch.float64}
    save_file(states, tmp_path / "random.safetensors")
    expected = draw()
    restore_random(load_file(tmp_path / "random.safetensors"))
    assert draw() == expected


def test_the_state_of_every_gpu_is_kept_and_goes_back_to_its_own(monkeypatch):
    kept = [torch.tensor([n, 7]) for n in range(12)]
    given_back = {}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: kept)
    monkeypatch.setattr(
        torch.cuda, "set_rng_state", lambda state, number: given_back.update({number: state})
    )
    states = random_tensors()
    restore_random(states)
    assert [given_back[n].tolist() for n in range(12)] == [state.tolist() for state in kept]
    assert len(given_back) == 12

    given_back.clear()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    restore_random(states)  # on a machine without them
    assert given_back == {}
    assert not [name for name in random_tensors() if name.startswith("cuda")]


def test_equal_seeds_make_every_library_draw_the_same():
    seed_everything(1)
    first = draw()
    draw()
    seed_everything(1)
    again = draw()
    seed_everything(2)
    other = draw()
    assert again == first
    assert not set(other) & set(first)


def test_the_environment_names_what_exact_resume_depends_on():
    found = environment(torch.device("cpu"))
    assert found == {
        "regard": metadata.version("regard"),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "scikit-learn": metadata.version("scikit-learn"),
        "machine": platform.machine(),
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "device": "cpu",
        "threads": torch.get_num_threads(),
    }
    assert json.loads(json.dumps(found)) == found
    assert type(found["torch"]) is str
    assert environment(torch.device("cuda", 1))["device"] == "cuda"
