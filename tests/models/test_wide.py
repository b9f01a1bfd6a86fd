"""A linear judge beside a network: it learns at once, keeps quiet while the network learns, and is
saved with it."""

import numpy as np
import pytest
import torch

from regard.data.labels import Labelled
from regard.errors import ConfigError
from regard.label_shapes import MeanSettings, ReadingRnnSettings, ReadingStackSettings
from regard.lens.explain import explain
from regard.models.classifier import Classifier
from regard.models.encoder import Source
from regard.models.judges import learn, strength
from regard.models.wide import JUDGE, Wide
from regard.names import START, STOP
from regard.nn.embeddings import pair_rows
from regard.tasks.classify import Classify
from regard.tasks.label_recipe import ClassifyRecipe
from regard.tasks.label_share import settle_share

V, ROWS = 30, 200
KINDS = [MeanSettings, ReadingRnnSettings, ReadingStackSettings]


def texts_of(count, seed=0):
    """Token ids, and labels that two words decide."""
    dice = np.random.default_rng(seed)
    rows = [[START, *dice.integers(6, V, dice.integers(3, 9)).tolist()] for _ in range(count)]
    labels = dice.integers(0, 2, count)
    return [[*row, 4 + int(label), STOP] for row, label in zip(rows, labels, strict=True)], labels


def plainly(row):
    """The features of a text, by a loop."""
    ids = torch.tensor(row)
    pairs = {V + int(pair_rows(a, b, ROWS)) for a, b in zip([ids[0] * 0, *ids], ids, strict=False)}
    return sorted({*row} | pairs)


def test_its_scores_are_those_of_the_bags_judge_over_the_same_features():
    texts, labels = texts_of(60)
    wide = Wide(ROWS, V, 2).double()
    wide.fit(texts, labels)
    table = np.zeros((60, V + ROWS))
    for row, text in zip(table, texts, strict=True):
        row[plainly(text)] = 1
    from scipy.sparse import csr_array

    rows = csr_array(table)
    settings = JUDGE.model_copy(update={"strength": strength(JUDGE, rows)})
    weight, bias = learn(settings, rows, labels, 2, V + ROWS)
    found = wide(Source.of(texts)).numpy()
    np.testing.assert_allclose(found, table @ weight + bias, rtol=0, atol=1e-9)
    assert (found.argmax(axis=1) == labels).all()


def test_padding_has_no_features_and_what_comes_twice_counts_once():
    wide = Wide(ROWS, V, 3).double()
    torch.nn.init.normal_(wide.weights)
    texts = [*texts_of(5)[0], [START, 7, 8, 7, 8, 7, 8, STOP]]
    together = wide(Source.of(texts))
    for text, found in zip(texts, together, strict=True):
        expected = wide.weights[plainly(text)].sum(dim=0)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
        torch.testing.assert_close(wide(Source.of([text]))[0], found, rtol=0, atol=1e-12)


@pytest.mark.parametrize("labels", [[], [1, 1, 1]])
def test_from_labels_that_are_all_alike_it_learns_nothing(labels):
    wide = Wide(ROWS, V, 2)
    wide.fit(texts_of(len(labels))[0], np.array(labels))
    assert not wide.weights.any()


@pytest.mark.parametrize("kind", KINDS)
def test_it_keeps_quiet_while_the_network_learns_and_no_step_moves_it(kind):
    torch.manual_seed(0)
    texts, labels = texts_of(20)
    network = Classifier(kind(width=8, wide=ROWS), V, 2)
    network.wide.fit(texts, labels)
    source = Source.of(texts)
    alone = network.train()(source)
    assert torch.equal(network.eval()(source), alone), "its share is not settled"
    network.wide.share.fill_(0.5)
    assert torch.equal(network.train()(source), alone)
    expected = alone + 0.5 * network.wide(source)
    torch.testing.assert_close(network.eval()(source), expected)
    network.train()(source).sum().backward()
    assert all(p.grad is None for p in network.wide.parameters())


def task_of(several=False):
    data = {"path": "a.csv", "separator": ","} if several else {"path": "a.csv"}
    tree = {"data": data, "tokens": {"kind": "word"}, "train": {"steps": 1}}
    recipe = ClassifyRecipe(**tree, model={"kind": "mean", "width": 4, "wide": 500})
    texts = {"good": "fine great lovely", "bad": "poor awful sad"}
    train = [Labelled(f"it was {word} {n}", label)
             for n in range(9) for label in texts for word in texts[label].split()]  # fmt: skip
    task = Classify.fit(recipe, train)
    network = task.network()
    task.begin(network, train)
    return task, network, train


@pytest.mark.parametrize("several", [False, True])
def test_the_share_is_what_suits_the_validation_part(several):
    torch.manual_seed(0)
    task, network, train = task_of(several)
    before = task.validate(network.eval(), train)
    settle_share(task, network, train)
    assert network.wide.share > 0, "the network has learned nothing, so that the other one counts"
    after = task.validate(network, train)
    assert after["accuracy"] == 100 > before["accuracy"]


def test_without_validation_texts_the_network_judges_alone():
    task, network, _ = task_of()
    settle_share(task, network, [])
    assert network.wide.share == 0


def test_a_judge_that_knows_better_than_both_is_not_drowned_out():
    """Labels turned round: what the linear judge learned only harms."""
    task, network, train = task_of()
    turned = [e.__class__(e.text, {"good": "bad", "bad": "good"}[e.label]) for e in train]
    settle_share(task, network.eval(), turned)
    assert network.wide.share == 0


def test_what_a_linear_judge_adds_is_left_out_by_leave_one_out_and_refused_by_gradients():
    torch.manual_seed(0)
    task, network, train = task_of()
    settle_share(task, network.eval(), train)
    found = explain(task, network, "it was lovely 3", "leave-one-out")
    assert max(found.pieces, key=lambda piece: piece[1])[0] == "lovely" and found.label == "good"
    with pytest.raises(ConfigError, match="the linear judge beside this network"):
        explain(task, network, "it was lovely 3", "gradient")
