"""The course, section 2, character language model: N + 1 from N, temperature, teacher forcing."""

import math
from collections import Counter

import numpy as np
import pytest
import torch

from regard.course import characters
from regard.course.characters import CUT, LETTERS, WRITTEN
from regard.models.recurrent import RecurrentNetwork
from regard.shapes import RecurrentSettings


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return RecurrentNetwork(RecurrentSettings(cell="lstm", width=12), len(LETTERS)).eval()


def test_the_character_language_model_learns_and_writes(lesson_of):
    assert lesson_of("characters").ok


def test_letter_n_plus_1_is_wanted_after_n_letters(network):
    text = characters.encode("the sea")
    loss = characters.loss_of(network, text[None])
    with torch.no_grad():
        scores = network(text[None, :-1])[0].double().log_softmax(dim=-1).numpy()
    by_hand = -sum(scores[n, text[n + 1]] for n in range(6))
    assert loss.tokens == 6
    assert float(loss.total.detach()) == pytest.approx(by_hand, rel=1e-5)
    bits = characters.bits(network, text)
    assert bits == pytest.approx(by_hand / 6 / math.log(2), rel=1e-5)


def test_trained_and_unseen_text_do_not_repeat_each_other():
    known, unseen = WRITTEN[:CUT], WRITTEN[CUT:]
    assert 300 < len(unseen) < len(known)
    assert not [i for i in range(len(unseen) - 20) if unseen[i : i + 20] in known]
    assert WRITTEN[characters.SHOWN] == "the keeper took his book" and characters.SHOWN.start > CUT


def test_counted_bits_are_those_of_a_count(values_of):
    known, unseen = WRITTEN[:CUT], WRITTEN[CUT:]
    counts, total = Counter(known), len(known) + len(LETTERS)
    single = {letter: (counts[letter] + 1) / total for letter in LETTERS}
    alone = -np.mean([math.log2(single[letter]) for letter in unseen[1:]])
    found = characters.counted_bits(characters.encode(known), characters.encode(unseen))
    assert found[0] == pytest.approx(alone, abs=1e-4)
    pairs = Counter(zip(known, known[1:], strict=False))
    before = Counter(known[:-1])
    after = -np.mean(
        [
            math.log2((pairs[a, b] + single[b]) / (before[a] + 1))
            for a, b in zip(unseen, unseen[1:], strict=False)
        ]
    )
    assert found[1] == pytest.approx(after, abs=1e-4)
    assert values_of("characters")["lowest on the way, unseen text"] < after


def test_when_fed_back_each_letter_is_read_as_if_it_had_been_there(network):
    prompt = characters.encode("the sea ")[None]
    written = list(characters.follow(network, prompt, 5, characters.likeliest))
    with torch.no_grad():
        for _ in range(5):  # the same, reading everything anew for each letter
            newest = network(prompt)[:, -1].argmax(dim=-1)
            prompt = torch.cat([prompt, newest[:, None]], dim=1)
    assert torch.equal(torch.stack(written, dim=1), prompt[:, 8:])


def test_the_first_letter_is_guessed_the_same_with_and_without_a_teacher(network):
    taught, alone = characters.guessing(network, characters.encode(WRITTEN[:120]))
    assert taught[0] == alone[0] and len(taught) == len(alone) == characters.AHEAD


def test_equal_seeds_write_equal_texts_and_a_low_temperature_the_likeliest(network, monkeypatch):
    monkeypatch.setattr(characters, "LONG", 40)
    one, other = (characters.write(network, "the ", 0.7, seed=3) for _ in range(2))
    assert one == other and len(one) == characters.SAMPLES
    assert characters.write(network, "the ", 0.7, seed=4) != one
    cold = characters.write(network, "the ", 1e-7, seed=3)
    assert len(set(cold)) == 1
    assert {len(text) for text in one + cold} == {characters.LONG}


def test_colder_writes_more_real_words(values_of):
    shares = [
        values_of("characters")[f"temperature {t:g}: real words, percent"] for t in (0.3, 1, 2)
    ]
    assert shares == sorted(shares, reverse=True)
    assert characters.real_words(["the keeper, xqz. lam"]) == pytest.approx(200 / 3)


def test_reading_letter_by_letter_equals_one_call(network):
    assert characters.loop_minus_call(network, characters.encode(WRITTEN)) < 1e-5
