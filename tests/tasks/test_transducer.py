"""A trained network as a predictor: what it answers, in which order, and what it refuses."""

import re

import pytest
import torch
from torch import nn

import regard.tasks.transducer
from regard.config import DecodeSettings
from regard.decode.search import decode_several
from regard.errors import TextError
from regard.models.encoder import Source
from regard.models.weights import read_weights
from regard.names import FIRST_PIECE, PAD, STOP, Prediction
from regard.tasks.speaking import say
from regard.tasks.transducer import Transducer, device_of
from regard.text.symbols import Symbols

LETTERS = Symbols("character", list("abcdefgh"))
LIKELY = 0.9  # of the letter that is read; the others share the rest


class Echo(nn.Module):
    """Writes what it reads, and notes the batches it was given."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(6.0).reshape(2, 3))
        self.batches, self.modes = [], []

    def start(self, source):
        self.modes.append(self.training)
        rows = [[i for i in row if i != PAD] for row in source.ids.tolist()]
        lengths = source.lengths.tolist() if source.lengths is not None else []
        assert lengths == [len(row) for row in rows] or len({len(row) for row in rows}) == 1
        self.batches.append([LETTERS.decode(row) for row in rows])
        return [(row, 0) for row in rows]

    def step(self, state, tokens):
        probabilities = torch.full((len(state), LETTERS.size), 1e-9, dtype=torch.float64)
        probabilities[:, FIRST_PIECE:] = (1 - LIKELY) / 8
        for place, (row, done) in enumerate(state):
            probabilities[place, row[done] if done < len(row) else STOP] = LIKELY
        return probabilities.log(), [(row, done + 1) for row, done in state]

    def reorder(self, state, rows):
        return [state[row] for row in rows.tolist()]


def transducer(longest=20, source=LETTERS, **settings):
    return Transducer(Echo(), source, LETTERS, DecodeSettings(**settings), longest)


def outputs(predictions):
    return [prediction.output for prediction in predictions]


def drawn(*batches, **settings):
    """What is answered to batches of inputs, one after the other."""
    sampling = transducer(temperature=3.0, max_length=8, **settings)
    return [output for batch in batches for output in outputs(sampling.predict(batch))]


WORDS = ["dcb", "a", "", "hgfedcba", "bb", ""]


def test_answers_come_in_the_order_of_the_inputs_and_nothing_gets_an_empty_one():
    found = transducer().predict(WORDS)
    assert [prediction.input for prediction in found] == outputs(found) == WORDS
    assert [prediction.score is None for prediction in found] == [not word for word in WORDS]
    words = transducer(source=Symbols("word", ["a"]))
    assert words.predict(["\t \n"]) == [Prediction("\t \n", "")]
    assert transducer().predict([]) == []


def test_a_score_is_the_log_probability_of_the_letters_and_of_stopping():
    [found] = transducer().predict(["abc"])
    expected = 4 * torch.tensor(LIKELY, dtype=torch.float64).log().item()
    assert found.score == pytest.approx(expected, abs=1e-9)
    assert (found.others, found.unknown, found.problem) == ((), (), "")


def test_short_inputs_are_read_with_short_ones_and_a_batch_keeps_to_its_tokens(monkeypatch):
    monkeypatch.setattr(regard.tasks.transducer, "TOKENS_AT_ONCE", 6)
    echo = transducer()
    words = ["abc", "a", "bc", "fed", "b", "hgfedcba", "cd"]
    assert outputs(echo.predict(words)) == words
    assert echo.network.batches == [["a", "b", "bc"], ["cd", "abc"], ["fed"], ["hgfedcba"]]


def test_a_batch_of_eight_thousand_tokens_is_read_at_once():
    for words, batches in [(["abcdefgh"] * 1000, 1), (["abc"] * 2667, 2)]:  # 8001 in the second
        echo = transducer(max_length=1)
        echo.predict(words)
        assert len(echo.network.batches) == batches


def test_the_best_output_comes_first_and_the_others_behind_it():
    [found] = transducer(beam=4, n=3, length_penalty=0.0).predict(["abc"])
    assert found.output == "abc"
    assert [other.input for other in found.others] == ["abc", "abc"]
    assert found.score > found.others[0].score >= found.others[1].score
    assert len({found.output, *outputs(found.others)}) == 3


def test_every_input_ever_answered_draws_from_a_stream_of_its_own():
    assert drawn(["abcd"] * 4) == drawn(["abcd"], ["abcd"] * 2, ["abcd"])
    assert len(set(drawn(["abcd"] * 4))) > 1
    assert drawn(["ab", "abcd", "abc"]) == drawn(["ab"], ["abcd"], ["abc"])
    assert drawn(["ab", "abcd"], seed=1) != drawn(["ab", "abcd"], seed=2)


def test_the_first_input_draws_as_it_would_without_a_predictor():
    settings = DecodeSettings(temperature=3.0, max_length=8)
    rows = Source.of([LETTERS.ids("abcd"), LETTERS.ids("efgh")], torch.device("cpu"))
    alone = [found[0] for found in decode_several(Echo(), rows, 2, settings)]
    assert drawn(["abcd", "efgh"]) == [LETTERS.decode(found.tokens) for found in alone]


def test_an_input_without_tokens_takes_a_stream_too():
    assert drawn(["", "abcd"])[1] == drawn(["gh"], ["abcd"])[1] == drawn([""], ["abcd"])[1]
    assert drawn(["", "abcd"])[1] != drawn(["abcd"])[0]


def test_parts_never_met_are_named_and_only_where_there_are_any():
    found = transducer().predict(["abc", "axbyx"])
    assert [prediction.unknown for prediction in found] == [(), ("x", "y")]


def test_an_input_of_the_longest_length_is_taken_and_one_token_more_is_refused():
    echo = transducer(longest=5)
    assert outputs(echo.predict(["abcde"])) == ["abcde"]
    told = "the input 'abcdef'... has 6 tokens, but this model was trained for at most 5: split it"
    with pytest.raises(TextError, match=re.escape(told)):
        echo.predict(["ab", "abcdef"])
    with pytest.raises(TextError, match=f"the input '{'ab' * 20}'... has 60 tokens"):
        echo.predict(["ab" * 30])


def test_half_a_character_is_refused_whatever_the_tokenizer_makes_of_it():
    class Careless:
        def ids(self, text):
            return [FIRST_PIECE] * len(text)

    with pytest.raises(TextError, match="position 1 of the text holds '\\\\udc80'"):
        transducer(source=Careless()).predict(["a\udc80"])


def test_a_network_in_training_answers_as_one_that_is_not():
    echo = transducer()
    echo.network.train()
    echo.predict(["ab"])
    assert echo.network.modes == [False]


def test_what_is_saved_is_the_networks_weights(tmp_path):
    echo = transducer()
    echo.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]
    [(name, weight)] = read_weights(tmp_path / "model.safetensors").items()
    assert name == "weight" and torch.equal(weight, echo.network.weight)


def test_a_network_is_where_its_weights_are_and_tells_its_kind():
    assert device_of(nn.Linear(2, 3, device="meta")) == torch.device("meta")
    assert device_of(nn.Linear(2, 3)) == torch.device("cpu")
    assert Transducer.name == "network"


@pytest.mark.parametrize("settings", [{}, {"beam": 3}, {"temperature": 2.0, "max_length": 5}])
def test_an_answer_is_told_piece_by_piece_and_is_the_one_that_predict_gives(settings):
    pieces: list[str] = []
    said = say(transducer(**settings), "hgfedcba", pieces.append)
    [wanted] = transducer(**settings).predict(["hgfedcba"])
    assert "".join(pieces) == wanted.output == LETTERS.decode(said.tokens)
    assert said.score == pytest.approx(wanted.score, abs=1e-9)
    assert len(pieces) == len(wanted.output) and all(pieces)


class InTwos(Symbols):
    """As bytes are: a letter is whole when its second half is there."""

    def decode(self, ids):
        text = super().decode(ids)
        return text[: len(text) // 2 * 2] + "\ufffd" * (len(text) % 2)


@pytest.mark.parametrize(("text", "told"), [("abcd", ["ab", "cd"]), ("abc", ["ab", "\ufffd"])])
def test_half_a_character_is_told_when_it_is_whole_or_nothing_follows(text, told):
    pieces: list[str] = []
    target = InTwos("character", list("abcdefgh"))
    say(Transducer(Echo(), LETTERS, target, DecodeSettings(), 20), text, pieces.append)
    assert [piece for piece in pieces if piece] == told


def test_nothing_can_not_be_answered():
    with pytest.raises(TextError, match="nothing was said: the text is empty"):
        say(transducer(), "", len)
