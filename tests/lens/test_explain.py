"""Which words mattered: each measure against a plain computation of it."""

import json
import math
import random
import re
from dataclasses import replace
from html.parser import HTMLParser
from unittest import mock

import pytest
import torch
from click.testing import CliRunner

from regard.build import new_training
from regard.cli.explained_page import page
from regard.cli.explaining import LETTERS, _in_word, told
from regard.cli.predict import predict
from regard.errors import ConfigError
from regard.lens.explain import explain
from regard.lens.terminal import draw
from regard.models.encoder import Source
from regard.names import START, STOP, UNKNOWN
from regard.nn.embeddings import TokenEmbedding
from regard.run import finish, train
from regard.tasks.label_places import places_of_grams
from regard.tasks.recipe import check_recipe

SHAPES = {
    "transformer": {"width": 16, "heads": 2, "layers": 2, "max_length": 24},
    "first": {"width": 16, "heads": 2, "layers": 2, "max_length": 24, "pooling": "first"},
    "causal": {"width": 16, "heads": 2, "layers": 1, "max_length": 24, "causal": True,
               "pooling": "last"},
    "rnn": {"kind": "rnn", "width": 16, "max_length": 24},
    "mean": {"kind": "mean", "width": 16, "max_length": 24},
    "pairs": {"kind": "mean", "width": 16, "max_length": 24, "pairs": 500},
    "bag": {"kind": "bag"},
    "letters": {"kind": "bag", "letters": 4},
}  # fmt: skip
BAGS = ("bag", "letters")
TWO = {"width": 16, "heads": 2, "layers": 1, "max_length": 24, "segments": 2}
TEXT = "it was a great film"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    home, dice = tmp_path_factory.mktemp("explain"), random.Random(0)
    words = {"good": ["great", "fine"], "bad": ["awful", "sad"]}
    rows = [
        f"it was a {dice.choice(words[label])} film {i},so it was <b>,{label}\n"
        for i in range(60)
        for label in words
    ]
    table = home / "table.csv"
    table.write_text("text,other,label\n" + "".join(rows))
    found, more = {}, {"several": {"separator": ";"}, "two": {"other": "other"}}
    for name, model in {**SHAPES, "several": SHAPES["mean"], "two": TWO}.items():
        data = {"path": str(table), "text": "text", "label": "label", **more.get(name, {})}
        tree = {"task": "classify", "data": data, "model": model,
                "train": {"steps": 0 if name in BAGS else 60, "rate": 0.02}}  # fmt: skip
        tree |= {} if name in BAGS else {"tokens": {"kind": "word"}}
        training = new_training(check_recipe(tree, "here"), home / name)
        for _ in training.run():
            pass
        found[name] = finish(training)
    return found


NETWORKS = [name for name in SHAPES if name not in BAGS]


@pytest.mark.parametrize("name", [*NETWORKS, "several", "two"])
def test_leave_one_out_is_what_is_lost_without_a_token(runs, name, monkeypatch):
    run = runs[name]
    monkeypatch.setattr("regard.lens.explain.TOKENS_AT_ONCE", 15)  # two texts of seven tokens
    telling = "awful" if name == "two" else "great"  # two texts without either are "good"
    text = "it was a awful film\tso it was <b>" if name == "two" else TEXT
    found = explain(run.task, run.network, text, "leave-one-out")
    ids, segments, _ = run.task.encode(text)
    label = run.task.labels.index(found.label)
    assert (segments is not None) == (name == "two")

    def chance(gone=None):
        kept = [t for t in range(len(ids)) if t != gone]
        parts = None if segments is None else torch.tensor([[segments[t] for t in kept]])
        with torch.no_grad():
            source = Source(torch.tensor([[ids[t] for t in kept]]), None, parts)
            logits = run.network(source) / run.task.temperature
        return float((logits.sigmoid() if name == "several" else logits.softmax(-1))[0, label])

    assert chance() == pytest.approx(found.probability), "the probability that predict tells"
    expected = [chance() - chance(t) for t, i in enumerate(ids) if i not in (START, STOP)]
    values = [value for _, value in found.pieces]
    assert values == pytest.approx(expected, abs=1e-6)
    assert max(found.pieces, key=lambda piece: piece[1])[0] == telling


@pytest.mark.parametrize("name", NETWORKS)
def test_gradient_times_input_agrees_with_finite_differences(runs, name):
    run = runs[name]
    network = run.task.network().double()
    network.load_state_dict(run.network.state_dict())
    network.eval()
    found = explain(run.task, network, TEXT, "gradient")
    ids = run.task.encode(TEXT).ids
    label = run.task.labels.index(found.label)
    embed = next(m for m in network.modules() if isinstance(m, TokenEmbedding))
    real, step = embed.forward, 1e-6
    values = []
    for place in range(len(ids)):
        scores = []
        for sign in (1, -1):

            def shifted(given, spelling, place=place, sign=sign):
                vectors = real(given, spelling).clone()
                vectors[0, place] *= 1 + sign * step
                return vectors

            embed.forward = shifted
            with torch.no_grad():
                scores.append(float(network(Source.of([ids]))[0, label]))
        values.append((scores[0] - scores[1]) / (2 * step))
    embed.forward = real
    assert [v for _, v in found.pieces] == pytest.approx(values[1:-1], abs=1e-5)


def test_gradients_go_back_without_cudnn_which_refuses_to_where_nothing_trains(runs):
    run, seen = runs["rnn"], []
    hook = run.network.register_forward_hook(lambda *_: seen.append(torch.backends.cudnn.enabled))
    before = torch.backends.cudnn.enabled
    explain(run.task, run.network, TEXT, "gradient")
    hook.remove()
    assert seen[-1] is False and torch.backends.cudnn.enabled == before


@pytest.mark.parametrize("name", ["transformer", "first", "causal"])
def test_rollout_is_the_product_of_what_each_layer_saw(runs, name):
    run = runs[name]
    found = explain(run.task, run.network, TEXT, "rollout")
    picture = run.look(TEXT)
    flow = torch.eye(len(picture.maps[0].columns), dtype=torch.float64)
    for one in picture.maps:
        mean = torch.from_numpy(one.weights).double().mean(0)
        flow = (0.5 * mean + 0.5 * torch.eye(len(mean), dtype=torch.float64)) @ flow
    stands = {"mean": flow.mean(0), "first": flow[0], "last": flow[-1]}  # for the whole text
    expected = stands[run.recipe.model.pooling].tolist()[1:-1]
    assert [v for _, v in found.pieces] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", BAGS)
def test_the_weights_of_a_bag_add_up_to_its_score(runs, name):
    run = runs[name]
    found = explain(run.task, run.network, TEXT)
    bag, label = run.task.bag(run.network), run.task.labels.index(found.label)
    total = sum(value for _, value in found.pieces) + bag.intercept[label]
    assert found.how == "weights" and total == pytest.approx(bag.scores([TEXT])[0, label])


LINEAR = {"bag": "gram", "letters": "gram", "mean": "token", "pairs": "token"}


@pytest.mark.parametrize("name", LINEAR)
def test_a_linear_model_is_drawn_by_what_each_piece_adds_and_never_called_attention(runs, name):
    run, what = runs[name], LINEAR[name]
    picture = run.look(TEXT)
    (found,) = picture.maps
    told = run.explain(TEXT, None if what == "gram" else "gradient")  # exact, for what is linear
    assert found.labels == (f"what each {what} adds to the label",)
    asked = run.influence(TEXT).only(name="influence")
    assert (asked.maps[0].weights == found.weights).all(), "regard look --attention influence"
    assert found.rows == (f"for:{told.label}", f"against:{told.label}")
    drawn = dict(zip(found.columns, found.mean[0] - found.mean[1], strict=True))
    values = {piece: value for piece, value in told.pieces if piece in drawn}
    strongest = max(values, key=lambda piece: abs(values[piece]))
    scale = drawn[strongest] / values[strongest]
    assert scale > 0
    for piece, value in values.items():
        assert drawn[piece] == pytest.approx(scale * value, abs=1e-6)
    if what == "gram":
        assert scale == pytest.approx(1 / sum(abs(value) for _, value in told.pieces))
    assert found.peak == found.mean.max() < 1, "the colours end at the largest"
    text = draw(picture, width=80, colour=False)
    assert f"{what} adds" in text and "look" not in text
    assert "█" in text, "the largest has the strongest shade"


def test_words_are_explained_before_letters_which_are_told_to_be_letters(runs):
    found = explain(runs["letters"].task, runs["letters"].network, TEXT)
    letters = [piece.startswith("letters:") for piece, _ in found.pieces]
    assert letters == sorted(letters) and {True, False} == set(letters)
    assert {"great", "letters:grea", "letters: gr"} <= {piece for piece, _ in found.pieces}
    _, *rows, last, _ = told(found)
    shown = [row.split()[0] for row in rows]
    assert "great" in shown[0] and len(shown[9:]) == 12, "of 5 words and 4 pairs, and of letters"
    assert all(name.startswith("letters:") for name in shown[9:]) and any(
        "gr" in name for name in shown[9:]
    )
    total = sum(value for piece, value in found.pieces if piece.startswith("letters:"))
    assert f"all {sum(letters)} grams of letters" in last and f"{total:+.4f}" in last
    written = page([found])
    assert ">it was</span>" in written and ">␣gr</span>" in written and last.strip(" ()") in written


class Coloured(HTMLParser):
    """A page as a browser reads it: the text, and each coloured piece with its number."""

    def __init__(self, written):
        super().__init__()
        self.text, self.pieces, self.number, self.inside = "", [], None, False
        self.feed(written)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.inside |= tag == "p" and attributes.get("class") == "text"
        self.number = attributes.get("title") if tag == "span" else self.number

    def handle_endtag(self, tag):
        self.inside &= tag != "p"
        self.number = None

    def handle_data(self, data):
        if self.inside:
            self.text += data
        if self.inside and self.number:
            self.pieces.append((data, float(self.number)))


@pytest.mark.parametrize("name", ["bag", "letters", "mean", "transformer"])
@pytest.mark.parametrize("text", ["It was\n a  great,  great film <b>!", "İt WAS a Great film. 坏"])
def test_a_page_shows_the_text_as_it_was_typed_and_its_parts_add_up(runs, name, text):
    found = runs[name].explain(text)
    seen = Coloured(page([found]))
    assert seen.text == text
    values = [value for piece, value in found.pieces if not piece.startswith(LETTERS)]
    assert sum(v for _, v in seen.pieces) == pytest.approx(sum(values), abs=1e-4 * len(values))
    assert {"great", "Great"} & {piece.strip(",") for piece, _ in seen.pieces}
    assert f"speaks for {found.label}" in page([found]) and "speaks against it" in page([found])


def test_a_word_of_a_bag_has_the_colour_of_all_grams_it_is_part_of(runs):
    found = runs["bag"].explain("was a great, great film")
    seen, values = Coloured(page([found])).pieces, dict(found.pieces)
    assert [word for word, _ in seen] == ["was", "a", "great", "great", "film"]
    great, film = values["great"] / 2, values["great film"] / 2
    assert seen[2][1] == pytest.approx(great + values["a great"] / 2, abs=1e-4)
    assert seen[3][1] == pytest.approx(great + film, abs=1e-4)
    assert seen[4][1] == pytest.approx(values["film"] + film, abs=1e-4)


def test_grams_stand_below_the_text_the_strongest_first(runs):
    found = runs["bag"].explain(TEXT)
    rows = re.findall(r"<td><span[^>]*>(.*?)</span></td><td>(.*?)</td>", page([found]))
    sizes = [abs(float(number)) for _, number in rows]
    assert sizes == sorted(sizes, reverse=True) and len(rows) == len(found.pieces)
    assert sorted(name for name, _ in rows) != [name for name, _ in rows]


def test_where_two_texts_are_judged_grams_stand_in_the_text_that_has_them():
    task = mock.Mock(pairs=True)
    task.recipe.model.lowercase = True
    grams = ["both: it", "first: rains", "second: it snows", "overlap: length", "letters:it"]
    found = places_of_grams(task, "It rains\tit snows", grams)
    assert found == [((0, 2), (9, 11)), ((3, 8),), ((9, 11), (12, 17)), (), ()]


def test_where_nothing_changes_the_judgement_it_is_said_and_no_bar_or_colour_is_drawn(runs):
    found = runs["mean"].explain(TEXT)
    faint = found._replace(pieces=tuple((piece, v * 1e-5) for piece, v in found.pieces))
    said = "nothing in this text changes the judgement by itself"
    assert said in told(faint)[1] and len(told(faint)) == 3
    written = page([faint])
    assert said[1:] in written and "rgb(" not in written and Coloured(written).text == TEXT
    assert not found.idle and said not in "".join(told(found))
    assert not faint._replace(how="rollout").idle, "shares are not effects"


def test_of_a_text_without_a_known_gram_it_is_said_what_then_decides(runs):
    found = runs["bag"].explain("xyzzy qwert")
    said = "no known gram is in this text"
    assert found.pieces == () and said in told(found)[1] and "labels were" in told(found)[1]
    assert said[1:] in page([found])


def test_the_page_says_which_part_of_a_long_text_was_read_and_marks_the_rest(runs, tmp_path):
    home, text = tmp_path / "page.html", "great " * 22 + "the end"
    CliRunner().invoke(predict, [str(runs["mean"].folder), text, "--explain", "--html", str(home)])
    written = home.read_text()
    assert "only the beginning was read" in written
    assert '<span class="unread"> the end</span>' in written
    assert Coloured(written).text == text
    short = page([runs["mean"].explain(TEXT)], "head")
    assert "was read" not in short and 'class="unread"' not in short


@pytest.mark.parametrize(
    ("text", "place", "shown"),
    [
        ("my parcel", (2, 5), "[pa]rcel"),
        ("my parcel", (2, 9), "parcel"),
        ("a\tb", (1, 2), "\\t"),
        ("x" * 30, (14, 16), "…xxxxxxxxxxxx[xx]xxxxxxxxxxxx…"),
    ],
)
def test_a_token_is_named_within_its_word(text, place, shown):
    assert _in_word(text, place) == shown


def test_what_the_brackets_are_is_said_where_there_are_any(runs):
    found = runs["mean"].explain(TEXT)
    assert "brackets" not in told(found)[0]
    parts = found._replace(places=tuple(((a, b - 1),) for ((a, b),) in found.places))
    assert "brackets" in told(parts)[0] and any("[grea]t" in row for row in told(parts))


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


@pytest.mark.parametrize("keep", ["head", "both", "tail"])
def test_unknown_words_are_shown_as_they_were_typed_also_where_a_text_is_cut(runs, keep):
    task = runs["two"].task
    kept = task.recipe.model_copy(update={"keep": keep})
    cut = type(task)(kept, task.tokenizer, dict.fromkeys(task.labels, 9))
    text = " ".join(f"film Zebra{i}" for i in range(30)) + "\tit Was"
    pieces, ids = cut.pieces(text), cut.encode(text).ids
    assert len(pieces) == len(ids) == 24 and pieces[-3:-1] == ["it", "Was"]
    shown = [p for p, i in zip(pieces, ids, strict=True) if i == UNKNOWN]
    first = {"head": "Zebra0", "both": "Zebra0", "tail": "Zebra20"}[keep]
    last = {"head": "Zebra8", "both": "Zebra29", "tail": "Zebra29"}[keep]
    assert (shown[0], shown[-2], shown[-1]) == (first, last, "Was")


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
    home = tmp_path / "page.html"
    folder = str(runs["two"].folder)  # it knows the word <b>
    done = CliRunner().invoke(
        predict, [folder, "it was a awful film\tso it was <b>", "--explain", "--html", str(home)]
    )
    assert "<b>" in done.stdout, "in the terminal as it is"
    written = home.read_text()
    assert ">&lt;b&gt;</span>" in written and "<b>" not in written and "awful" in written


def test_no_label_gets_into_a_page_as_a_tag(runs):
    found = runs["mean"].explain(TEXT)
    chances = {"<i>": 1.0}
    named = found._replace(
        label="<i>", judgement=replace(found.judgement, output="<u>", probabilities=chances)
    )
    written = page([named])
    assert "&lt;i&gt; (100 %; given: &lt;u&gt;)" in written and "for &lt;i&gt;" in written
    assert "<i>" not in written and "<u>" not in written
