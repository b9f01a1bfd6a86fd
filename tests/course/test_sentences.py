"""The course, section 1, sentence embeddings: mean, max, CLS, and similarity between sentences."""

from random import Random

import numpy as np
import pytest
import torch

from regard.course import sentences
from regard.course.masked import CLS, HIDDEN, MASK, MaskedWords, hide, spare
from regard.course.sentences import Said

SAID = [
    Said("the cold rain comes near the coast", "weather"),
    Said("we like the wind and the wet fog", "weather"),
    Said("in the oven a warm pie bakes", "food"),
    Said("a cold rain fades and the wet fog blows too", "weather"),
]


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return MaskedWords([said.text for said in SAID], width=16).eval()


def test_sentences_of_one_topic_are_more_alike_by_mean_max_and_cls(lesson_of):
    assert lesson_of("sentences").ok


def test_the_squares_of_the_heat_map_are_the_most_alike(lesson_of):
    alike = np.asarray(lesson_of("sentences").drawings[0].figure.axes[0].images[0].get_array())
    assert alike.shape == (12, 12)
    np.testing.assert_allclose(alike, alike.T, atol=1e-5)
    topic = np.arange(12) // 3
    same = topic[:, None] == topic
    assert alike[same].mean() > alike[~same].mean() + 0.3


def test_no_sentence_is_both_learned_from_and_compared():
    known, held_out = sentences.sentences(Random(0))
    texts = [said.text for said in (*known, *held_out)]
    assert len(texts) == len(set(texts)) == sentences.SENTENCES
    assert {said.topic for said in held_out} == set(sentences.TOPICS)


def test_no_word_belongs_to_two_topics_or_to_a_pattern():
    words = [set(" ".join(slots.values()).split()) for slots in sentences.TOPICS.values()]
    words.append({word for pattern in sentences.PATTERNS for word in pattern.split()})
    assert sum(map(len, words)) == len(set().union(*words))


@pytest.mark.parametrize("way", ["mean", "maximum", "[CLS]"])
def test_pooling_is_over_the_words_alone_whatever_the_padding(network, way):
    pooled = sentences.embed(network, SAID, way)
    for said, found in zip(SAID, pooled, strict=True):
        with torch.no_grad():
            vectors = network(network.source([said.text]))[0].numpy()
        first, words = vectors[0], vectors[1:]
        wanted = {"mean": words.mean(axis=0), "maximum": words.max(axis=0), "[CLS]": first}[way]
        np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_pairs_are_compared_as_a_loop_would():
    torch.manual_seed(1)
    vectors = torch.randn(4, 5)
    unit = vectors.numpy() / np.linalg.norm(vectors.numpy(), axis=1, keepdims=True)
    alike = unit @ unit.T
    within = [alike[0, 1], alike[1, 0]]  # 0 and 3, 1 and 3 share words of their topic
    between = [alike[i, 2] for i in (0, 1, 3)] * 2
    found = sentences.compare(SAID, vectors)
    assert found.within == pytest.approx(np.mean(within), abs=1e-6)
    assert found.between == pytest.approx(np.mean(between), abs=1e-6)
    right = [a > b for a in within for b in between]
    assert found.right == pytest.approx(100 * np.mean(right))


def test_only_words_are_hidden_and_never_the_common_ones(network):
    texts = [said.text for said in SAID]
    spared = spare(network, texts, common=0.6)
    assert [network.words[i] for i in spared.nonzero()[:, 0]][MASK + 1 :] == ["the"]
    ids = network.source(texts).ids.repeat(200, 1)
    hidden, given = hide(ids, spared, torch.Generator().manual_seed(0))
    assert not hidden[spared[ids]].any()
    assert torch.equal(given[~hidden], ids[~hidden])
    assert float(hidden[~spared[ids]].double().mean()) == pytest.approx(HIDDEN, abs=0.02)
    shown = given[hidden]
    assert float((shown == MASK).double().mean()) == pytest.approx(0.5, abs=0.05)
    assert not (shown == CLS).any()
