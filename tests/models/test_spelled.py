"""Vectors for how words are spelled: rare and unknown words resemble what is spelled alike."""

import pytest
import torch
from pydantic import ValidationError

from regard.data.labels import Labelled
from regard.label_shapes import MeanSettings, ReadingRnnSettings, ReadingStackSettings
from regard.lens.explain import explain
from regard.models.classifier import Classifier, without
from regard.names import START, STOP, UNKNOWN
from regard.nn.embeddings import SpellingTable
from regard.tasks.classify import Classify
from regard.tasks.judging import Encoded, source_of
from regard.tasks.label_recipe import ClassifyRecipe
from regard.text.spelling import parts_of

V, ROWS = 50, 300
CPU = torch.device("cpu")
KINDS = {"mean": MeanSettings, "rnn": ReadingRnnSettings, "transformer": ReadingStackSettings}
TEXTS = [
    Encoded(
        [START, 7, UNKNOWN, STOP], None, [(), parts_of("cat", ROWS), parts_of("dogs", ROWS), ()]
    ),
    Encoded([START, 9, STOP], None, [(), parts_of("a", ROWS), ()]),
]


def test_vectors_of_runs_are_summed_and_keep_the_length_of_one():
    torch.manual_seed(0)
    table = SpellingTable(ROWS, 5).double()
    found = table(source_of(TEXTS, CPU).spelling)
    for row, text in zip(found, TEXTS, strict=True):
        for vector, parts in zip(row, text.spelling, strict=False):
            expected = table.table.weight[list(parts)].sum(dim=0) / max(1, len(parts)) ** 0.5
            torch.testing.assert_close(vector, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS.values())
def test_unknown_words_are_told_apart_by_their_letters_and_padding_has_none(kind):
    torch.manual_seed(0)
    network = Classifier(kind(width=8, spelling=ROWS), V, 3).double().eval()
    together = network(source_of(TEXTS, CPU))
    for text, found in zip(TEXTS, together, strict=True):
        torch.testing.assert_close(found, network(source_of([text], CPU))[0], rtol=0, atol=1e-12)
    other = TEXTS[0]._replace(spelling=[(), parts_of("cat", ROWS), parts_of("cows", ROWS), ()])
    assert (network(source_of([other], CPU))[0] - together[0]).abs().max() > 1e-4


def test_words_that_are_skipped_take_their_letters_along():
    source = source_of(TEXTS, CPU)
    gone = torch.tensor([[False, True, False, False], [False, True, False, False]])
    left = without(source, gone)
    assert left.ids.tolist() == [[START, UNKNOWN, STOP], [START, STOP, 0]]
    assert left.spelling[0, 1].tolist()[: len(TEXTS[0].spelling[2])] == list(TEXTS[0].spelling[2])
    assert not left.spelling[1].any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_classifier_reads_the_letters_of_words_that_it_never_met(kind):
    torch.manual_seed(0)
    tree = {"data": {"path": "a.csv"}, "train": {"steps": 1}}
    tokens = {"kind": "wordpunct", "lowercase": True}
    model = {"kind": kind, "width": 8, "spelling": 90}
    recipe = ClassifyRecipe(**tree, tokens=tokens, model=model)
    train = [Labelled("it was fine", "good"), Labelled("it was poor", "bad")] * 10
    task = Classify.fit(recipe, train)
    found = task.encode("It WAS poorly")
    assert found.ids[-2] == UNKNOWN
    assert found.spelling == [(), *(parts_of(word, 90) for word in ("it", "was", "poorly")), ()]
    assert task.prepare(train)[1].spelling == task.encode("it was poor").spelling
    network = task.network()
    task.loss(network.train(), task.prepare(train)).total.backward()
    (table,) = (m for m in network.modules() if isinstance(m, SpellingTable))
    assert table.table.weight.grad.any()
    for how in ("leave-one-out", "gradient"):
        assert [piece for piece, _ in explain(task, network, "It WAS poorly", how).pieces][:2] == [
            "it",
            "was",
        ]


def test_a_network_that_a_gpt_could_begin_has_no_letters():
    with pytest.raises(ValidationError, match="spelling = 9 with causal = true: a GPT knows no"):
        ReadingStackSettings(causal=True, pooling="last", spelling=9)
