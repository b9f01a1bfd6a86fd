"""The course, section 3, cross-attention: any source length with any target length; English rows
over French columns."""

import numpy as np
import pytest
import torch

from regard.course import cross, french


def test_all_numbers_of_cross_attention_are_as_expected(lesson_of):
    assert lesson_of("cross").ok


@pytest.mark.parametrize("row", range(len(cross.LENGTHS)))
def test_any_source_goes_with_any_target(row):
    (S, T), (found, farthest) = cross.LENGTHS[row], cross.any_lengths(torch.Generator())
    assert tuple(found[row].shape) == (T, S)
    assert farthest < 1e-6


def test_the_map_has_english_rows_over_french_columns(lesson_of):
    for ax, one in zip(lesson_of("cross").drawings[0].figure.axes, cross.SHOWN, strict=True):
        weights = np.asarray(ax.images[0].get_array())
        assert weights.shape == (len(one.english) + 1, len(one.french))
        np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)
        assert [text.get_text() for text in ax.get_yticklabels()] == [*one.english, "STOP"]
        assert [text.get_text() for text in ax.get_xticklabels()] == list(one.french)


def test_the_two_words_that_change_places_are_found_where_they_stand(lesson_of):
    ax = lesson_of("cross").drawings[0].figure.axes[0]
    weights = np.asarray(ax.images[0].get_array())
    (one, _) = cross.SHOWN
    assert one.french[-2:] == ("voiture", "rouge") and one.english[-2:] == ("red", "car")
    assert weights[3].argmax() == 4 and weights[4].argmax() == 3


WORD_FOR_WORD = {
    **{english: {french} for english, (french, _) in french.NOUNS.items()},
    **{english: set(forms) for english, forms in {**french.BEFORE, **french.BEHIND}.items()},
    **{english: set(forms) for english, forms in french.DETERMINERS.items()},
    "here": {"voici", "ici"},
    "is": {"voici", "est"},
    "I": {"je"},
    "see": {"vois"},
}


def test_the_place_of_every_word_is_that_of_its_translation():
    for one in french.PHRASES:
        assert len(one.places) == len(one.english)
        for word, place in zip(one.english, one.places, strict=True):
            assert one.french[place] in WORD_FOR_WORD[word], one


def test_adjectives_stand_where_french_puts_them_and_agree_with_their_noun():
    assert len({one.french for one in french.PHRASES}) == len(french.PHRASES) == 1280
    for one in french.PHRASES:
        determiner, adjective, noun = one.english[one.start : one.start + 3]
        places = dict(zip(one.english, one.places, strict=True))
        assert (places[adjective] > places[noun]) == (adjective in french.BEHIND)
        feminine = french.NOUNS[noun][1]
        assert one.french[places[determiner]] == french.DETERMINERS[determiner][feminine]


def test_no_phrase_of_the_test_is_among_those_trained_on():
    rest, test = cross.split(torch.Generator().manual_seed(0))
    assert not {one.french for one in rest} & {one.french for one in test}
    assert not {one.english for one in rest} & {one.english for one in test}
    assert test[:2] == cross.SHOWN


def test_looking_straight_across_finds_none_of_the_words_that_changed_places():
    test = [one for one in french.PHRASES if one.start == 2 and one.french[0] == "je"]
    across = [torch.eye(len(one.english)) for one in test]
    own = [torch.eye(len(one.french))[list(one.places)] for one in test]
    moved, same, *_ = french.KINDS
    assert cross.pointing(across, test, moved) == 0 and cross.pointing(across, test, same) == 1
    assert cross.pointing(own, test, moved) == 1


def test_what_is_hidden_is_what_the_words_were_translated_from(values_of):
    values = values_of("cross")
    other = values["changed places, right with another word hidden"]
    assert values["the same with its own word hidden"] < other / 2
