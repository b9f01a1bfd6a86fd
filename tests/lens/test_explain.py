"""Which words mattered: each measure against a plain computation of it."""

import json
import math
import random
from unittest import mock

import pytest
import torch
from click.testing import CliRunner

from regard.build import new_training
from regard.cli.explaining import told
from regard.cli.predict import predict
from regard.errors import ConfigError
from regard.lens.explain import explain
from regard.models.encoder import Source
from regard.run import finish, train
from regard.tasks.recipe import check_recipe

SHAPES = {
    "transformer": {"width": 16, "heads": 2, "layers": 2, "max_length": 24},
    "causal": {"width": 16, "heads": 2, "layers": 1, "max_length": 24, "causal": True,
               "pooling": "last"},
    "rnn": {"kind": "rnn", "width": 16, "max_length": 24},
    "mean": {"kind": "mean", "width": 16, "max_length": 24},
    "bag": {"kind": "bag"},
}  # fmt: skip
TEXT = "it was a great film"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    home, dice = tmp_path_factory.mktemp("explain"), random.Random(0)
    words = {"good": ["great", "fine"], "bad": ["awful", "sad"]}
    rows = [
        f"it was a {dice.choice(words[label])} film {i},{label}\n"
        for i in range(60)
        for label in words
    ]
    table = home / "table.csv"
    table.write_text("text,label\n" + "".join(rows))
    found = {}
    for name, model in {**SHAPES, "several": SHAPES["mean"]}.items():
        data = {"path": str(table), **({"separator": ";"} if name == "several" else {})}
        tree = {"task": "classify", "data": data, "model": model,
                "train": {"steps": 0 if name == "bag" else 60, "rate": 0.02}}  # fmt: skip
        tree |= {} if name == "bag" else {"tokens": {"kind": "word"}}
        training = new_training(check_recipe(tree, "here"), home / name)
        for _ in training.run():
            pass
        found[name] = finish(training)
    return found


@pytest.mark.parametrize("name", [*(name for name in SHAPES if name != "bag"), "several"])
def test_leave_one_out_is_what_is_lost_without_a_token(runs, name, monkeypatch):
    run = runs[name]
    monkeypatch.setattr("regard.lens.explain.TOKENS_AT_ONCE", 15)  # two texts of seven tokens
    found = explain(run.task, run.network, TEXT, "leave-one-out")
    ids, _ = run.task.encode(TEXT)
    label = run.task.labels.index(found.label)

    def chance(ids):
        with torch.no_grad():
            logits = run.network(Source.of([ids])) / run.task.temperature
        return float((logits.sigmoid() if name == "several" else logits.softmax(-1))[0, label])

    assert chance(ids) == pytest.approx(found.probability), "the probability that predict tells"
    expected = [chance(ids) - chance(ids[:t] + ids[t + 1 :]) for t in range(len(ids))]
    values = [value for _, value in found.pieces]
    assert values == pytest.approx(expected[1:-1], abs=1e-6)
    assert max(found.pieces, key=lambda piece: piece[1])[0] == "great"


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "bag"])
def test_gradient_times_input_agrees_with_finite_differences(runs, name):
    run = runs[name]
    network = run.task.network().double()
    network.load_state_dict(run.network.state_dict())
    network.eval()
    found = explain(run.task, network, TEXT, "gradient")
    ids, _ = run.task.encode(TEXT)
    label = run.task.labels.index(found.label)
    table = next(m for m in network.modules() if m.__class__.__name__ == "TokenEmbedding").table
    real, step = table.forward, 1e-6
    values = []
    for place in range(len(ids)):
        scores = []
        for sign in (1, -1):

            def shifted(given, place=place, sign=sign):
                vectors = real(given).clone()
                vectors[0, place] *= 1 + sign * step
                return vectors

            table.forward = shifted
            with torch.no_grad():
                scores.append(float(network(Source.of([ids]))[0, label]))
        values.append((scores[0] - scores[1]) / (2 * step))
    table.forward = real
    assert [v for _, v in found.pieces] == pytest.approx(values[1:-1], abs=1e-5)


def test_rollout_is_the_product_of_what_each_layer_saw(runs):
    run = runs["transformer"]
    found = explain(run.task, run.network, TEXT, "rollout")
    picture = run.look(TEXT)
    flow = torch.eye(len(picture.maps[0].columns), dtype=torch.float64)
    for one in picture.maps:
        mean = torch.from_numpy(one.weights).double().mean(0)
        flow = (0.5 * mean + 0.5 * torch.eye(len(mean), dtype=torch.float64)) @ flow
    expected = flow.mean(0).tolist()[1:-1]
    assert [v for _, v in found.pieces] == pytest.approx(expected, abs=1e-6)


def test_the_weights_of_a_bag_add_up_to_its_score(runs):
    run = runs["bag"]
    found = explain(run.task, run.network, TEXT)
    bag, label = run.task.bag(run.network), run.task.labels.index(found.label)
    total = sum(value for _, value in found.pieces) + bag.intercept[label]
    assert found.how == "weights" and total == pytest.approx(bag.scores([TEXT])[0, label])


def test_where_no_label_is_given_the_likeliest_is_explained(runs):
    run = runs["several"]
    chances = next(run.stream(["7"])).probabilities
    likely = max(chances, key=chances.get)
    with mock.patch("regard.tasks.judging.YES", 1.1):  # none is likely enough
        for found in (run.explain("7"), run.explain("7", "gradient")):
            assert found.judgement.output == "" and found.label == likely
            assert told(found)[0].startswith(
                f"{likely} ({100 * chances[likely]:.0f} %; given: none"
            )
        assert run.task.replay(run.network, "7").chosen == (run.task.labels.index(likely),)


def test_a_long_text_that_is_explained_is_told_to_be_cut(runs):
    done = CliRunner().invoke(predict, [str(runs["mean"].folder), "great " * 40, "--explain"])
    assert "1 texts are longer than the model takes: only their beginnings were read" in done.stderr


def test_ways_that_do_not_fit_are_refused(runs, tmp_path):
    for name, how, problem in (
        ("bag", "gradient", "explained by weights"),
        ("rnn", "weights", "explained by gradient, leave-one-out, rollout"),
        ("rnn", "rollout", "no attention"),
        ("mean", "magic", "explained by gradient"),
    ):
        with pytest.raises(ConfigError, match=problem):
            runs[name].explain(TEXT, how)
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"a{i}\tb{i}\n" for i in range(30)))
    other = train("transduce", pairs, out=tmp_path / "run", train={"steps": 2})
    with pytest.raises(ConfigError, match="only judgements of classifiers"):
        other.explain("a1")


def test_in_the_terminal_as_json_and_as_a_page(runs, tmp_path):
    folder = str(runs["mean"].folder)
    shown = CliRunner().invoke(predict, [folder, TEXT, "--explain"])
    assert shown.exit_code == 0 and "great" in shown.output and "probability falls" in shown.output
    done = CliRunner().invoke(predict, [folder, TEXT, "--explain", "gradient", "--json"])
    row = json.loads(done.stdout)
    assert row["how"] == "gradient" and row["explained"] == row["label"] == row["output"]
    assert row["input"] == TEXT and row["score"] == pytest.approx(
        math.log(row["probabilities"][row["label"]])
    )
    chance = f"{row['label']} ({100 * row['probabilities'][row['label']]:.0f} %): "
    assert shown.stdout.startswith(chance)
    page = tmp_path / "page.html"
    CliRunner().invoke(predict, [folder, "<b> great", "--explain", "--html", str(page)])
    assert "<b>" not in page.read_text() and "great" in page.read_text()
