"""The course, section 3, query, key, value as search."""

import math

import numpy as np
import pytest
import torch

from regard.course import search


def test_all_numbers_of_the_search_are_as_expected(lesson_of):
    assert lesson_of("search").ok


def test_a_score_is_shared_tags_over_the_root_of_both_counts(values_of):
    for tags in search.PICTURES:
        shared = len({*tags} & {*search.QUERY})
        wanted = shared / math.sqrt(len(tags) * len(search.QUERY))
        found = values_of("search")[f'"sea sun" against "{" ".join(tags)}"']
        assert found == pytest.approx(wanted, abs=1e-12)


def test_pictures_are_shown_best_match_first(lesson_of):
    titles = [ax.get_title(loc="left") for ax in lesson_of("search").drawings[0].figure.axes]
    scores = [float(title.split()[-1]) for title in titles]
    assert scores == sorted(scores, reverse=True)
    assert lesson_of("search").drawings[0].figure.axes[0].get_xlabel() == "sea · sun · boat"


def test_a_soft_look_up_is_a_mean_by_softmax():
    generator = np.random.default_rng(0)
    query, keys, values = (generator.normal(size=shape) for shape in ((1, 4), (3, 4), (3, 5)))
    parts = np.exp(7.0 * query @ keys.T)
    weights = parts / parts.sum()
    given = (torch.tensor(x) for x in (query, keys, values))
    answer, found = search.look_up(*given, 7.0)
    np.testing.assert_allclose(found, weights, atol=1e-12)
    np.testing.assert_allclose(answer, weights @ values, atol=1e-12)


def test_the_sharper_the_closer_to_the_dictionary():
    errors = [search.dictionary_error(sharp) for sharp in (1, 3, 10, 100)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 10 and errors[-1] < 1e-9


def test_a_missing_key_is_an_error_when_hard_and_the_mean_of_all_when_soft():
    rows = {name: (hard, soft) for name, hard, soft in search.ages()}
    assert rows["Ada"] == ("36", "36")
    assert rows["Kurt"] == ("KeyError: 'Kurt'", f"{(36 + 85 + 41) / 3:g}")


def test_a_picture_shows_what_its_tags_say():
    day, night = search.paint(("sea", "sun")), search.paint(("sea", "night"))
    assert day[0].mean() > 2 * night[0].mean()  # the sky
    assert not torch.equal(search.paint(("sea", "sun", "boat")), day)
