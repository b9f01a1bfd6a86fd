"""What classifiers do with words: some are lost while they train, and pairs of them count."""

import pytest
import torch
from pydantic import ValidationError

from regard.label_shapes import MeanSettings, ReadingRnnSettings, ReadingStackSettings
from regard.models.classifier import Classifier, Skipping, WordDropout, without
from regard.models.encoder import Source
from regard.names import FIRST_PIECE, PAD, START, STOP, UNKNOWN
from regard.nn.embeddings import PairTable
from regard.shapes import DecoderSettings

V = 50
ROWS = [[START, *range(FIRST_PIECE, V), STOP], [START, 7, 9, STOP]]


def test_a_share_of_the_words_is_lost_and_nothing_else():
    torch.manual_seed(0)
    ids = torch.randint(0, V, (100, 90))
    found = WordDropout(0.3)(Source(ids)).ids
    lost, words = found != ids, ids >= FIRST_PIECE
    assert (found[lost] == UNKNOWN).all()
    assert not lost[~words].any(), "padding and marks stay what they are"
    assert abs(float(lost[words].float().mean()) - 0.3) < 0.02
    assert PAD < FIRST_PIECE


def test_a_share_of_the_words_is_skipped_and_the_others_keep_their_order():
    torch.manual_seed(0)
    rows = [[START, *torch.randint(FIRST_PIECE, V, (n,)).tolist(), STOP] for n in (900, 700, 800)]
    found = Skipping(0.3)(Source.of(rows))
    for row, ids, length in zip(rows, found.ids.tolist(), found.lengths.tolist(), strict=True):
        assert (ids[0], ids[length - 1]) == (START, STOP), "marks are never skipped"
        assert set(ids[length:]) <= {PAD}
        assert abs(length / len(row) - 0.7) < 0.05
        left = iter(row)
        assert all(token in left for token in ids[:length]), "in the order that they had"
    assert found.ids.size(1) == max(found.lengths)


def test_what_is_skipped_in_runs_leaves_most_neighbours_together():
    torch.manual_seed(0)
    rows = [[START, *range(FIRST_PIECE, FIRST_PIECE + 3000), STOP] for _ in range(3)]
    found, begins = Skipping(0.4, 12)(Source.of(rows)), set()
    for ids, length in zip(found.ids.tolist(), found.lengths.tolist(), strict=True):
        assert abs(length / 3002 - 0.6) < 0.08 and (ids[0], ids[length - 1]) == (START, STOP)
        steps = [b - a for a, b in zip(ids[1 : length - 2], ids[2 : length - 1], strict=True)]
        gaps = [step - 1 for step in steps if step > 1]
        assert gaps and all(gap % 12 == 0 for gap in gaps), "whole runs are gone"
        assert len(gaps) < len(steps) / 12
        cut = next(a for a, b in zip(ids[1:], ids[2:], strict=False) if b != a + 1)
        begins.add(cut % 12)
    assert len(begins) > 1, "runs begin elsewhere in each text"


def test_what_is_left_of_a_text_keeps_its_segments():
    ids = torch.tensor([[START, 7, STOP, 9, 8, STOP], [START, 6, STOP, 5, STOP, PAD]])
    segments = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0]])
    gone = torch.tensor([[0, 1, 0, 1, 0, 0], [0, 0, 0, 1, 0, 0]]).bool()
    found = without(Source(ids, torch.tensor([6, 5]), segments), gone)
    assert found.ids.tolist() == [[START, STOP, 8, STOP], [START, 6, STOP, STOP]]
    assert found.segments.tolist() == [[0, 0, 1, 1], [0, 0, 0, 1]]
    assert found.lengths.tolist() == [4, 4]


@pytest.mark.parametrize("share", ["word_dropout", "skipping"])
@pytest.mark.parametrize("kind", [MeanSettings, ReadingRnnSettings, ReadingStackSettings])
def test_words_are_lost_while_training_only(kind, share):
    torch.manual_seed(0)
    network = Classifier(kind(width=8, **{share: 0.5}), V, 3)
    plain = Classifier(kind(width=8), V, 3)
    plain.load_state_dict(network.state_dict())
    source = Source.of(ROWS)
    assert torch.equal(network.eval()(source), plain.eval()(source))
    assert not torch.equal(network.train()(source), plain.train()(source))


@pytest.mark.parametrize("kind", [MeanSettings, ReadingRnnSettings, ReadingStackSettings])
def test_pairs_tell_the_order_of_words_and_padding_makes_none(kind):
    torch.manual_seed(0)
    network = Classifier(kind(width=8, pairs=100), V, 3).double().eval()
    (table,) = (m for m in network.modules() if isinstance(m, PairTable))
    torch.nn.init.normal_(table.vectors)
    together = network(Source.of(ROWS))
    for row, found in zip(ROWS, together, strict=True):
        torch.testing.assert_close(found, network(Source.of([row]))[0], rtol=0, atol=1e-12)
    turned = network(Source.of([[START, 9, 7, STOP]]))[0]
    assert (turned - together[1]).abs().max() > 1e-3


def test_a_network_that_a_gpt_could_begin_has_no_pairs():
    with pytest.raises(ValidationError, match="pairs = 100 with causal = true: a GPT knows no"):
        ReadingStackSettings(causal=True, pooling="last", pairs=100)


@pytest.mark.parametrize("tied", [True, False])
def test_the_shape_of_any_gpt_is_one_to_begin_with(tied):
    shape = DecoderSettings(width=8, norm_epsilon=1e-3, tied=tied).model_dump()
    begun = ReadingStackSettings(**{**shape, "causal": True, "pooling": "last"})
    assert begun.norm_epsilon == 1e-3
    tables = [n for n, p in Classifier(begun, V, 3).named_parameters() if len(p) == V]
    assert tables == ["body.stack.embed.table.weight"], "it scores no tokens"
    with pytest.raises(ValidationError, match="tied"):
        ReadingStackSettings(tied=tied)
