"""The course, section 3, masks: the "cheating" experiment. Trained without the mask, the loss is
low and the model useless, and regard.check says so."""

import math

import pytest
import torch
import torch.nn.functional as F

from regard.course import cheating, language
from regard.models.decoder import Decoder
from regard.names import START, STOP
from regard.shapes import DecoderSettings

SINGULAR = {"this", "that", "dog", "cat", "fox", "hen", "cow", "bee"}
VERBS = {"sees": "see", "likes": "like", "hears": "hear", "calls": "call"}


def test_all_numbers_of_the_cheating_experiment_are_as_expected(lesson_of):
    assert lesson_of("cheating").ok


def test_the_cheater_has_the_lower_loss_and_can_not_write(values_of):
    values = values_of("cheating")
    floor = math.log(57_600) / 8
    with_mask, without = "with the mask", "without"
    assert values[f"loss on new sentences, {without}"] < floor / 10
    assert floor - 0.05 < values[f"loss on new sentences, {with_mask}"] < floor + 0.1
    written = "share of right sentences written"
    assert values[f"{written}, {without}"] < 0.3 < 0.85 < values[f"{written}, {with_mask}"]


def test_the_check_names_the_layer_where_the_future_gets_in(lesson_of):
    lesson = lesson_of("cheating")
    verdicts = {row[0]: row[1:3] for row in lesson.tables[1].rows}
    assert verdicts["causality"] == ("holds", "FAILS")
    assert all(honest == "holds" for honest, _ in verdicts.values())
    assert any("first at blocks.0.attention" in text for text in lesson.says)


def test_the_cheater_differs_from_the_decoder_only_in_its_mask():
    """The last place sees everything in both: there they must agree, in one layer."""
    found = []
    ids = torch.tensor([[1, 5, 7, 9]])
    for kind in (Decoder, cheating.Cheater):
        torch.manual_seed(0)
        model = kind.of(DecoderSettings(width=16, heads=2, layers=1), 20).eval()
        with torch.no_grad():
            found.append(model(ids))
    torch.testing.assert_close(found[0][:, -1], found[1][:, -1])
    assert not torch.allclose(found[0][:, 0], found[1][:, 0], atol=1e-3)


def test_with_the_mask_the_loss_is_the_same_with_and_without_the_future_in_sight(values_of):
    values = values_of("cheating")
    alone = values["loss with only the past in sight, with the mask"]
    assert alone == pytest.approx(values["loss on new sentences, with the mask"], abs=1e-5)


def test_both_losses_of_a_model_that_knows_nothing_are_those_of_blind_guessing():
    class Blind(Decoder):
        def forward(self, ids, state=None, *, remember=False):
            return torch.zeros(*ids.shape, len(language.WORDS))

    model = Blind.of(DecoderSettings(width=8, heads=1, layers=1), len(language.WORDS))
    rows = language.ids_of(language.language()[:3])
    blind = math.log(len(language.WORDS))
    assert cheating.both_losses(model, rows) == pytest.approx((blind, blind))
    assert f"{blind:.2f}" == "3.50"  # as the chapter says


def test_every_sentence_agrees_in_number_and_none_is_there_twice():
    every = language.language()
    assert len(every) == len(set(every)) == 57_600
    for first, _, noun, verb, second, _, thing in every:
        assert (first in SINGULAR) == (noun in SINGULAR) == (verb in VERBS)
        assert (second in SINGULAR) == (thing in SINGULAR)
    assert {verb for *_, verb, _, _, _ in every} == {*VERBS, *VERBS.values()}


def test_the_least_loss_is_that_of_somebody_who_knows_the_language():
    """Counted word by word: how many words can follow, in the mean over all sentences."""
    every = language.language()
    total = 0.0
    for place in range(language.LENGTH):
        follow = {}
        for sentence in every:
            follow.setdefault(sentence[:place], {}).setdefault(sentence[place], []).append(1)
        for words in follow.values():
            counts = [len(found) for found in words.values()]
            total += sum(n * math.log(sum(counts) / n) for n in counts)
    assert total / len(every) / (language.LENGTH + 1) == pytest.approx(language.least_loss())


def test_ids_go_to_words_and_back():
    sentence = language.language()[1234]
    ids = language.ids_of([sentence])[0]
    assert (ids[0], ids[-1], len(ids)) == (START, STOP, 9)
    assert language.words_of(ids) == sentence
    assert language.words_of(torch.tensor([START, STOP, 7, 8])) == ()


def test_no_sentence_of_the_test_is_among_those_trained_on():
    rows, test = cheating.split(torch.Generator().manual_seed(0))
    trained = {tuple(row) for row in rows.tolist()}
    assert len(trained) == cheating.TRAINED and len(test) == cheating.TESTED
    assert not trained & {tuple(row) for row in test.tolist()}


def test_the_loss_is_a_sum_over_every_word_and_stop():
    torch.manual_seed(0)
    model = Decoder.of(DecoderSettings(width=8, heads=1, layers=1), len(language.WORDS)).eval()
    rows = language.ids_of(language.language()[:2])
    loss = language.next_word_loss(model, rows)
    scores = model(rows[:, :-1])
    one_by_one = [F.cross_entropy(scores[b, t], rows[b, t + 1]) for b in range(2) for t in range(8)]
    wanted = float(torch.stack(one_by_one).sum().detach())
    assert loss.tokens == 16 and float(loss.total.detach()) == pytest.approx(wanted)
