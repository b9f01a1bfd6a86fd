"""A GRU encoder-decoder that somebody else trained, run by our modules: the weights in the package
g2p_en, which spell out words that no dictionary has. The package itself is never imported, since
it would fetch data; only its file of weights is read.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from regard.config import DecodeSettings
from regard.decode.search import decode
from regard.models.encoder import Source
from regard.models.seq2seq import Seq2Seq
from regard.names import START
from regard.shapes import Seq2SeqSettings

VOWELS = "AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split()
CONSONANTS = "B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH".split()
SOUNDS = sorted([f"{vowel}{stress}" for vowel in VOWELS for stress in "012"] + CONSONANTS + ["UW"])
OURS = [0, 2, 3, 1, *range(4, 74)]  # theirs begin with padding, unknown, start, stop
PUBLISHED = {"activationist": "AE2 K T IH0 V EY1 SH AH0 N IH0 S T"}  # in the package's own README
WORDS = [*PUBLISHED, "regard", "transformer", "zyzzyva", "attentively", "a"]


@pytest.fixture(scope="module")
def weights():
    found = importlib.util.find_spec("g2p_en")
    if found is None or found.origin is None:
        pytest.skip("not installed: pip install --no-deps -c constraints.txt g2p-en")
    with np.load(Path(found.origin).parent / "checkpoint20.npz") as file:
        return {name: file[name].astype(np.float64) for name in file.files}


class OwnOutput(nn.Module):
    """Our networks score with the table they read with; this one has a table for each."""

    def __init__(self, weights):
        super().__init__()
        self.table = nn.Embedding.from_pretrained(torch.tensor(weights["dec_emb"][OURS]))
        self.out = nn.Linear(256, 74).double()
        self.out.weight.data = torch.tensor(weights["fc_w"][OURS])
        self.out.bias.data = torch.tensor(weights["fc_b"][OURS])

    def forward(self, ids):
        return self.table(ids)

    def scores(self, x):
        return self.out(x)


@pytest.fixture(scope="module")
def network(weights):
    settings = Seq2SeqSettings(cell="gru", width=256, attention="none")
    network = Seq2Seq(settings, 29, 74).double().eval()
    network.source.table.weight.data = torch.tensor(weights["enc_emb"])
    network.target = OwnOutput(weights)
    for side, theirs in (("reader", "enc"), ("writer", "dec")):
        layers = getattr(network, side).layers
        for name in ("w_ih", "w_hh", "b_ih", "b_hh"):
            kind = "weight" if name[0] == "w" else "bias"
            getattr(layers, f"{kind}_{name[2:]}_l0").data = torch.tensor(
                weights[f"{theirs}_{name}"]
            )
    return network


def letters(word):
    return [*(ord(letter) - ord("a") + 3 for letter in word), 2]  # 2 ends a word


def by_loop(weights, word, steps):
    """Scores of the first sounds, by the equations of Cho et al. 2014, one number after the other;
    every step is fed the likeliest sound of the one before."""

    def cell(side, x, h):
        given = weights[f"{side}_w_ih"] @ x + weights[f"{side}_b_ih"]
        kept = weights[f"{side}_w_hh"] @ h + weights[f"{side}_b_hh"]
        (a, b, c), (d, e, f) = np.split(given, 3), np.split(kept, 3)
        reset, update = 1 / (1 + np.exp(-(a + d))), 1 / (1 + np.exp(-(b + e)))
        return (1 - update) * np.tanh(c + reset * f) + update * h

    h = np.zeros(256)
    for letter in letters(word):
        h = cell("enc", weights["enc_emb"][letter], h)
    sound, found = 2, []
    for _ in range(steps):
        h = cell("dec", weights["dec_emb"][sound], h)
        found.append(weights["fc_w"] @ h + weights["fc_b"])
        sound = int(found[-1].argmax())
    return np.array(found)


def test_a_word_that_no_dictionary_has_is_spoken_as_published(network):
    source = Source.of([letters(word) for word in WORDS])
    written = decode(network, source, len(WORDS), DecodeSettings(max_length=20))
    spoken = {
        word: " ".join(SOUNDS[token - 4] for token in output.tokens)
        for word, output in zip(WORDS, written, strict=True)
    }
    assert {word: spoken[word] for word in PUBLISHED} == PUBLISHED
    assert all(spoken.values())


@pytest.mark.parametrize("word", WORDS)
def test_every_score_is_that_of_the_plain_loop(network, weights, word):
    state, tokens = network.start(Source.of([letters(word)])), torch.tensor([START])
    wanted = by_loop(weights, word, 6)[:, OURS]
    for row in wanted:
        scores, state = network.step(state, tokens)
        expected = torch.tensor(row).log_softmax(dim=-1)
        torch.testing.assert_close(scores[0], expected, rtol=0, atol=1e-10)
        tokens = scores.argmax(dim=-1)
