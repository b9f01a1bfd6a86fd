"""What the language-model task promises about its text, its windows, its scores and its writing."""

import json

import numpy as np
import pytest
import torch

from regard.build import begin, draft, new_training, resume_training
from regard.errors import ConfigError, DataError, TextError
from regard.models.decoder import Decoder
from regard.names import STOP
from regard.run import Run, compare, finish
from regard.shapes import DecoderSettings
from regard.tasks.continuing import Continuation
from regard.tasks.memorised import contained, memorised
from regard.tasks.recipe import make_recipe
from regard.tasks.text_scores import Context, guess, texts_in
from regard.tasks.windows import Shuffled, Streams, Window
from regard.zoo.presets import PRESETS

LINE = "the cat sat on the mat and the dog ran after the cat.\n"
ANIMALS = [a + b + c for a in "bcdf" for b in "aeiou" for c in "gnpt"]
BOTH = zip(ANIMALS, [*ANIMALS[3:], *ANIMALS[:3]], strict=True)
TEXT = "".join(LINE.replace("cat", a).replace("dog", b) for a, b in BOTH) * 3
KINDS = ("transformer", "rnn")


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def recipe(text, language_recipe):
    """The same as language_recipe on a text of its own, for twice as many steps."""

    def make(kind="transformer", model=None, **more):
        data = {"path": str(text), **more.pop("data", {})}
        train = {"steps": 12, **more.pop("train", {})}
        return language_recipe(kind, model, data=data, train=train, **more)

    return make


@pytest.fixture
def trained(recipe, tmp_path):
    def train(*given, name="run", **more):
        training = new_training(recipe(*given, **more), tmp_path / name)
        for _ in training.run():
            pass
        return finish(training)

    return train


# Windows


@pytest.mark.parametrize("count", [17, 33, 50, 100, 643])
@pytest.mark.parametrize("rows", [1, 3])
def test_a_pass_shows_every_window_once_and_the_next_cuts_elsewhere(count, rows):
    tokens = np.arange(count)
    batches = Shuffled(tokens, 16, 16 * rows, seed=3)
    for number in range(2):
        steps = range(number * batches.steps_per_pass, (number + 1) * batches.steps_per_pass)
        windows = [window for step in steps for window in batches.of(step)]
        starts = sorted(int(window.ids[0]) for window in windows)
        assert len(windows) == batches.examples == max(1, (count - 16) // 16)
        assert all(len(window.ids) == 17 for window in windows)
        assert all(b - a == 16 for a, b in zip(starts, starts[1:], strict=False))


@pytest.mark.parametrize("count", [17, 40, 100, 643])
@pytest.mark.parametrize("rows", [1, 3, 50])
def test_streams_read_on_where_they_stopped(count, rows):
    batches = Streams(np.arange(count), 16, 16 * rows, seed=1)
    before = batches.of(0)
    assert all(window.fresh for window in before)
    for step in range(1, batches.steps_per_pass):
        now = batches.of(step)
        for old, new in zip(before, now, strict=True):
            assert new.ids[0] == old.ids[-1] and new.stream == old.stream and not new.fresh
        before = now
    assert all(window.fresh for window in batches.of(batches.steps_per_pass))


def test_a_text_that_is_shorter_than_a_window_is_refused(recipe, text, tmp_path):
    text.write_text("a short text, not enough")
    with pytest.raises(DataError, match=r"a window takes 17: give more text, or --set model.max_l"):
        new_training(recipe(data={"split": [50, 25, 25]}), tmp_path / "run")


# Networks


def test_a_recurrent_network_in_parts_equals_one_long_pass(recipe, tmp_path):
    training = new_training(recipe("rnn"), tmp_path / "run")
    task, network = training.task, training.network.double()
    batches = task.batches(training.validation)
    streams = [batches.of(step) for step in range(batches.steps_per_pass)]
    in_parts = [task.loss(network, windows).total for windows in streams]
    whole = [
        np.concatenate([*(windows[row].ids[:-1] for windows in streams), streams[-1][row].ids[-1:]])
        for row in range(len(streams[0]))
    ]
    task.carry_on({})
    long = task.loss(network, [streams[0][0]._replace(ids=ids, stream=None) for ids in whole])
    assert long.tokens == sum(len(w.ids) - 1 for windows in streams for w in windows)
    torch.testing.assert_close(sum(in_parts), long.total, rtol=0, atol=1e-9)


@pytest.mark.parametrize("stop", [1, 3, 7, 11])
@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_training_equals_one_never_stopped(recipe, tmp_path, kind, stop):
    settings = {"train": {"steps": 12, "batch_tokens": 64, "validate_every": 6, "accumulate": 2}}
    whole = new_training(recipe(kind, **settings), tmp_path / "whole")
    for _ in whole.run():
        pass
    parts = new_training(recipe(kind, **settings), tmp_path / "parts")
    for _ in parts.run(lambda: parts.progress.step == stop):
        pass
    again = resume_training(tmp_path / "parts")
    for _ in again.run():
        pass
    for name, weight in whole.network.state_dict().items():
        assert torch.equal(weight, again.network.state_dict()[name]), name
    assert whole.task.carried().keys() == again.task.carried().keys()


@pytest.mark.parametrize("across", [False, True])
def test_a_document_is_not_seen_from_the_next_one_unless_asked(recipe, tmp_path, across):
    training = new_training(recipe(data={"documents": "line", "across": across}), tmp_path / "run")
    task, network = training.task, training.network.double().eval()
    first, second = (task.tokenizer.ids(text) for text in ("the cat", "the dog"))
    other = task.tokenizer.ids("and fox")
    rows = [[STOP, *one, STOP, *second] for one in (first, other)]
    ids = torch.tensor(rows)
    logits = network(ids, texts=None if across else texts_in(ids))
    same = torch.equal(logits[0, len(first) + 1 :], logits[1, len(first) + 1 :])
    assert same is not across


@pytest.mark.parametrize("across", [False, True])
def test_two_documents_in_a_window_are_learned_and_judged_as_if_each_stood_alone(
    recipe, tmp_path, across
):
    """With rotary positions, for which the place in the window does not matter."""
    shape, data = {"positions": "rotary"}, {"documents": "line", "across": across}
    training = new_training(recipe(model=shape, data=data), tmp_path / "run")
    task, network = training.task, training.network.double().eval()
    texts = [[STOP, *task.tokenizer.ids(text), STOP] for text in ("the cat", "a dog")]
    both = np.array([*texts[0], *texts[1][1:]])
    alone = [np.array(text) for text in texts]

    def learned(row):
        return task.loss(network, [Window(row)]).total.item()

    def judged(row):
        return guess(network, row, task.context()).losses.sum()

    for found in (learned, judged):
        apart = abs(found(both) - sum(found(row) for row in alone))
        assert (apart < 1e-9) is not across, found.__name__


# Scores


@pytest.mark.parametrize("stride", [1, 5, 16])
@pytest.mark.parametrize("count", [2, 10, 17, 18, 33, 50])
def test_every_token_is_judged_once_with_the_context_that_is_stated(
    recipe, tmp_path, stride, count
):
    task = new_training(recipe(), tmp_path / "run").task
    network = task.network().double()
    row = np.random.default_rng(0).integers(4, task.tokenizer.size, size=count)
    found = guess(network, row, Context(16, stride, across=True))
    starts = [0, *range(stride, max(stride, count - 1 - 16 + stride), stride)]
    expected, done = [], 0
    for start in starts:
        ids = torch.from_numpy(row[start : start + 17])[None]
        logs = network(ids[:, :-1]).log_softmax(-1)[0]
        losses = -logs.gather(1, ids[0, 1:, None])[:, 0]
        expected += losses[done - start :].tolist()
        done = start + ids.size(1) - 1
    assert len(expected) == count - 1
    np.testing.assert_allclose(found.losses, expected, rtol=0, atol=1e-9)


def test_a_recurrent_network_is_judged_reading_on(recipe, tmp_path):
    task = new_training(recipe("rnn"), tmp_path / "run").task
    network = task.network().double()
    row = np.random.default_rng(0).integers(4, task.tokenizer.size, size=100)
    found = guess(network, row, Context(16, None, across=True))
    ids = torch.from_numpy(row)[None]
    logs = network(ids[:, :-1]).log_softmax(-1)[0]
    expected = -logs.gather(1, ids[0, 1:, None])[:, 0]
    np.testing.assert_allclose(found.losses, expected.detach().numpy(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_finished_run_is_scored_beside_the_ngram_model(trained, kind):
    run = trained(kind)
    test = run.facts["test"]
    assert {"loss", "perplexity", "bits_per_byte", "token_accuracy", "memorised"} <= set(
        test["scores"]
    )
    assert test["unit"] == "tokens" and test["baseline"]["name"] == "3-gram, Kneser-Ney"
    loss, bits = (test["scores"][name]["value"] for name in ("loss", "bits_per_byte"))
    size = len(TEXT) - round(len(TEXT) * 0.9)
    assert bits == pytest.approx(loss * test["examples"] / np.log(2) / size, rel=1e-3)
    again = Run.load(run.folder).evaluate()
    assert again["scores"]["loss"] == test["scores"]["loss"]
    assert "characters for training" in (run.folder / "README.md").read_text()


def test_two_models_with_other_tokens_are_compared_by_bits_per_byte(trained):
    letters = trained(name="letters")
    pieces = trained(name="pieces", tokens={"kind": "bytes", "size": 300})
    found = compare(letters, pieces)["scores"]
    assert set(found) == {"bits_per_byte"}
    assert compare(letters, letters)["scores"]["loss"]["difference"] == 0


def test_what_was_never_met_is_counted(trained, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("the cat sat on THE MAT\n" * 5)
    found = trained().evaluate(other)
    assert found["unknown_tokens"] == 5 * len("THEMAT")


@pytest.mark.parametrize("part", [[6, 7], [5, 6, 7, 8], [8], [5]])
def test_a_part_of_the_training_text_is_found(part, monkeypatch):
    monkeypatch.setattr("regard.tasks.memorised.AT_ONCE", 2)
    row = np.array([9, 9, 5, 6, 7, 8])
    asked = [np.array(one) for one in (part, [*part, 3], [3, *part], [9, 9])]
    assert contained(row, asked) == [True, False, False, True]
    assert contained(row, []) == []


# Writing


class Reciter:
    """Goes on with what it was asked as its text does, or, of every third beginning, does not."""

    room, largest = 64, 0

    def __init__(self, row):
        self.row, self.started = row, 0

    def start(self, beginnings):
        self.largest = max(self.largest, len(beginnings))
        numbers = range(self.started, self.started + len(beginnings))
        self.started += len(beginnings)
        places = [_place_of(self.row, one) + len(one) for one in beginnings]
        return [(place, number % 3 == 0) for place, number in zip(places, numbers, strict=True)]

    def step(self, state, tokens):
        scores = torch.full((len(state), 100), -1e9)
        for number, (place, wrong) in enumerate(state):
            scores[number, 99 if wrong else self.row[place]] = 0
        return scores, [(place + 1, wrong) for place, wrong in state]

    def reorder(self, state, rows):
        return [state[row] for row in rows.tolist()]


def _place_of(row, wanted):
    windows = np.lib.stride_tricks.sliding_window_view(row, len(wanted))
    return int(np.flatnonzero((windows == wanted).all(axis=1))[0])


def test_who_recites_is_found_out_some_texts_at_a_time(monkeypatch):
    monkeypatch.setattr("regard.tasks.memorised.IN_SIGHT", 640)
    row = np.random.default_rng(0).integers(4, 99, 2000)
    reciter = Reciter(row)
    found = memorised(reciter, row, row[:1900])
    assert found.value == pytest.approx(66, abs=1) and reciter.largest == 10
    assert found.signature.startswith("memorised|prompt:50-tokens")
    assert memorised(Reciter(row), row[::-1], row[:1900]).value == 0
    assert memorised(Reciter(row), row, row[:40]) is None


@pytest.mark.parametrize("positions", ["rotary", "learned", "sinusoidal", "alibi"])
def test_beyond_its_context_it_writes_what_a_fresh_look_at_the_newer_half_would(
    recipe, tmp_path, positions
):
    model = {"positions": positions, "max_length": 8}
    task = new_training(recipe(model=model), tmp_path / "run").task
    network = task.network().double().eval()
    assert isinstance(network, Decoder)
    stepper, dice = Continuation(network), np.random.default_rng(0)
    written = dice.integers(4, task.tokenizer.size, size=30).tolist()
    with torch.no_grad():
        going = stepper.start([written[:3]])
        seen = written[:3]
        for place in range(3, 30):
            tokens = torch.tensor([written[place - 1] if place > 3 else 1])
            log_probs, going = stepper.step(going, tokens)
            if place > 3:
                seen = [*seen, written[place - 1]]
                seen = seen if len(seen) <= 8 else seen[-5:]
            expected = network(torch.tensor([seen]))[:, -1].log_softmax(-1)
            torch.testing.assert_close(log_probs, expected, rtol=0, atol=1e-9)


def test_memory_for_a_text_is_taken_once(recipe, tmp_path):
    network = new_training(recipe(), tmp_path / "run").task.network().eval()
    stepper = Continuation(network)
    with torch.no_grad():
        going = stepper.start([[5, 6, 7]])
        places = [past._keys.data_ptr() for past in going.state.past]
        for _ in range(10):
            _, going = stepper.step(going, torch.tensor([5]))
    assert [past._keys.data_ptr() for past in going.state.past] == places
    assert going.state.past[0].length == 12


def test_a_model_of_one_text_does_not_end_by_itself(trained):
    run = trained(decode={"max_length": 40, "temperature": 2.0})
    assert all(len(run.predict(["the"], seed=seed)[0]) == 40 for seed in range(5))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("decoding", [{"temperature": 0.0}, {"temperature": 1.0}, {"beam": 3}])
def test_a_streamed_text_is_the_whole_text(trained, kind, decoding):
    run = trained(kind)
    pieces = list(run.stream("the cat", **decoding))
    assert len(pieces) > 1 and "".join(pieces) == run.predict(["the cat"], **decoding)[0]


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("kind", ["character", "bytes"])
def test_a_text_ends_before_what_it_should_stop_at(trained, kind, length):
    run = trained(decode={"max_length": 60, "temperature": 1.0}, tokens={"kind": kind, "size": 300})
    (whole,) = run.predict(["the cat"])
    stop = whole[7 : 7 + length]
    pieces = list(run.stream("the cat", stop=[stop, "never met"]))
    assert "".join(pieces) == whole[: whole.index(stop)]
    assert run.predict(["the cat"], stop=[stop]) == ["".join(pieces)]


def test_prompts_are_answered_alike_alone_and_together(trained):
    run = trained()
    prompts = ["the cat", "a", "the dog ran", "cow", "mat and"]
    together = run.predict(prompts, temperature=0.0)
    assert together == [run.predict([one], temperature=0.0)[0] for one in prompts]


def test_an_empty_prompt_begins_a_document_or_a_line(trained, text):
    assert trained(name="one").predict([""])[0]
    lines = trained(name="many", data={"documents": "line"})
    assert any(lines.predict([""], seed=seed)[0] for seed in range(4))
    text.write_text(TEXT.replace("\n", " "))
    with pytest.raises(TextError, match="give the beginning of a text"):
        trained(name="flat").predict([""])


def test_a_prompt_beyond_the_context_slides_or_is_refused_as_set(trained):
    run = trained()
    long = "the cat sat on the mat and the dog ran"
    assert len(run.predict([long], max_length=30)[0]) == 30
    with pytest.raises(TextError, match=r"beginning of 38 tokens and 30 more are too long"):
        run.predict([long], max_length=30, beyond="refuse")


def test_a_trace_shows_the_chances_before_and_after_each_filter(trained):
    steps = trained().trace("the c", others=2, temperature=0.5, top_k=3, max_length=4)
    assert len(steps) == 4
    for step in steps:
        names = [name for name, _ in step.filters]
        assert names == ["temperature 0.5", "top-k 3"]
        assert all(len(chances) == 3 for _, chances in step.filters)
        assert step.filters[-1][1][0] >= step.probability  # it was chosen, so it was kept


# Recipes


def test_a_preset_is_a_shape_and_what_is_set_beside_it_wins(text):
    sets = ["model.preset=nanogpt-cpu", "model.width=64", "train.steps=5"]
    found, _ = make_recipe("gpt", [text], sets)
    shape = found.model
    assert (shape.layers, shape.heads, shape.width, shape.max_length) == (4, 4, 64, 64)
    assert shape.positions == "learned" and not shape.bias
    with pytest.raises(ConfigError, match="no preset"):
        make_recipe("gpt", [text], ["model.preset=nanogtp"])


@pytest.mark.parametrize(("face", "kind"), [("gpt", "transformer"), ("lstm", "rnn")])
def test_settings_are_chosen_with_reasons(text, face, kind):
    found, reasons = make_recipe(face, [text], ["train.steps=5"])
    assert found.model.kind == kind and found.tokens.kind == "character"
    assert [what for what, _ in reasons] == ["data", "tokens", "model", "training"]


def test_of_a_long_text_a_small_share_is_held_out_unless_another_is_asked_for(text, monkeypatch):
    def parts(*sets):
        return make_recipe("gpt", [text], ["train.steps=5", *sets])[0].data.split

    assert parts() == (90, 5, 5)
    monkeypatch.setattr("regard.tasks.text_choices.HELD_OUT", len(TEXT) / 50)
    assert parts() == pytest.approx((96, 2, 2))
    assert parts("data.split=[80, 10, 10]") == (80, 10, 10)


def test_of_many_documents_one_is_held_out_at_least(tmp_path, monkeypatch):
    for number in range(60):
        (tmp_path / f"{number:02}.txt").write_text(LINE.replace("cat", f"cat {number}"))
    monkeypatch.setattr("regard.tasks.text_choices.HELD_OUT", 10)
    found, reasons = make_recipe("gpt", [tmp_path], ["train.steps=5"])
    assert found.data.split == pytest.approx((95, 2.5, 2.5))
    assert reasons[0][1].startswith("57 documents")
    with (tmp_path / "59.txt").open("a") as last:
        last.write(LINE * 3)  # longer than both parts: they must grow
    found, _ = make_recipe("gpt", [tmp_path], ["train.steps=5"])
    assert found.data.split == (90, 5, 5)


@pytest.mark.parametrize(
    "name", [n for n, p in PRESETS.items() if isinstance(p.shape, DecoderSettings)]
)
def test_a_preset_is_trained_in_its_own_shape(text, name):
    found, _ = make_recipe("gpt", [text], [f"model.preset={name}", "train.steps=5"])
    assert found.model == PRESETS[name].shape


def test_to_refuse_what_is_too_long_leaves_room_for_what_is_to_be_written(recipe, text):
    with pytest.raises(ConfigError, match="256 tokens.*64 in sight.*decode.max_length = 32"):
        make_recipe("gpt", [text], ["train.steps=5", "decode.beyond=refuse"])
    recipe("rnn", decode={"beyond": "refuse"})  # which forgets nothing all at once


def test_a_network_that_reads_from_the_end_can_not_write(recipe):
    with pytest.raises(ConfigError, match="can not read from the end"):
        recipe("rnn", model={"bidirectional": True})


def test_a_stride_beyond_the_window_would_skip_tokens(recipe):
    with pytest.raises(ConfigError, match=r"stride \(17\) must not be above"):
        recipe(stride=17)


@pytest.mark.parametrize("kind", KINDS)
def test_a_dry_run_tells_time_and_memory(recipe, tmp_path, kind):
    from regard.train.estimate import estimate_memory

    ready = draft(recipe(kind), tmp_path / "run", try_out=True)
    found = estimate_memory(ready.training, ready.splits, ready.trial, lambda: None)
    assert found.training > 0 and found.scoring > 0
    begin(ready)
    facts = json.loads((tmp_path / "run" / "run.json").read_text())
    assert facts["data"]["unit"] == "characters"
