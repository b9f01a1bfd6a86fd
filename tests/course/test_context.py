"""The course, section 1, fixed vs contextual: "date" has one embedding but three vectors."""

from random import Random

import numpy as np
import pytest
import torch

from regard.course import context
from regard.course.context import SHOWN, WORD, Said
from regard.course.masked import MaskedWords


def test_date_has_one_embedding_and_vectors_that_follow_its_meaning(lesson_of):
    assert lesson_of("context").ok


def test_the_three_embeddings_are_one_and_the_three_vectors_differ(lesson_of):
    fixed, own = (ax.images[0] for ax in lesson_of("context").drawings[0].figure.axes[:2])
    np.testing.assert_allclose(fixed.get_array(), np.ones((3, 3)), atol=1e-6)
    others = np.asarray(own.get_array())[~np.eye(3, dtype=bool)]
    assert others.max() < 0.9


def test_the_nearest_words_share_the_meaning(lesson_of):
    (table,) = lesson_of("context").tables
    right = 0
    for (_, words), said in zip(table.rows, SHOWN, strict=True):
        nouns = [one.split()[0] for one in words.split(", ")]
        right += sum(noun in context.MEANINGS[said.meaning][0] for noun in nouns)
    assert right >= 7  # of nine


def test_training_is_what_tells_the_meanings_apart(values_of):
    values = values_of("context")
    before = values["untrained: nearest date means the same, percent"]
    assert values["trained: nearest date means the same, percent"] > before + 15
    untrained = values["untrained: cosine, same meaning"]
    assert abs(untrained - values["untrained: cosine, different meanings"]) < 0.05


def test_what_is_measured_was_not_trained_on():
    known, dates, others = context.sentences(Random(0))
    texts = [said.text for said in (*known, *dates, *others)]
    assert len(texts) == len(set(texts)) == context.SENTENCES
    assert tuple(dates[:3]) == SHOWN
    assert {said.noun for said in dates} == {WORD} and WORD not in {said.noun for said in others}
    assert all(said.noun in said.text.split() for said in (*known, *dates, *others))


def test_the_place_of_the_word_gives_no_meaning_away():
    _, dates, _ = context.sentences(Random(0))
    places = {meaning: set() for meaning in context.MEANINGS}
    for said in dates:
        places[said.meaning].add(said.text.split().index(WORD))
    common = set.intersection(*places.values())
    assert len(common) >= 3


def test_only_pairs_of_different_patterns_are_compared():
    said = [
        Said("x", "day", WORD, "day 1"),
        Said("y", "day", WORD, "day 1"),
        Said("z", "day", WORD, "day 2"),
        Said("u", "fruit", WORD, "fruit 1"),
    ]
    vectors = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    found = context.compare(said, vectors)
    assert found.within == pytest.approx(0.6)  # 0 and 1 are equal, but of one pattern
    assert found.between == pytest.approx((0 + 0 + 0.8) / 3)
    assert found.nearest == pytest.approx(50)  # right for 0 and 1; 2 and 3 find each other


def test_vectors_are_taken_at_the_word():
    torch.manual_seed(0)
    network = MaskedWords([said.text for said in SHOWN], width=16).eval()
    with torch.no_grad():
        alone = network(network.source([SHOWN[1].text]))[0]
    place = 1 + SHOWN[1].text.split().index(WORD)  # [CLS] stands in front
    torch.testing.assert_close(context.vectors(network, SHOWN)[1], alone[place])
    row = network.encoder.embed.table.weight[network.ids[WORD]].detach()
    torch.testing.assert_close(context.embeddings(network, SHOWN), row.expand(3, -1))
