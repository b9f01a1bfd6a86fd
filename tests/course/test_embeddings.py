"""The course, section 1, one-hot vs dense embeddings."""

import string

import numpy as np
import torch

from regard.course import embeddings


def test_all_worked_numbers_of_one_hot_and_dense_come_out(lesson_of):
    assert lesson_of("embeddings").ok


def test_with_seed_123_the_rows_2_3_and_1_begin_as_the_course_says(values_of):
    torch.manual_seed(123)
    table = torch.randn(4, 5).numpy()  # what nn.Embedding fills itself with
    for row, begin in {2: 0.6957, 3: -2.8400, 1: 1.3010}.items():
        found = values_of("embeddings")[f"Embedding(4, 5), seed 123: row {row} begins with"]
        assert round(found, 4) == begin
        np.testing.assert_allclose(found, table[row, 0], rtol=1e-6)


def test_sunny_over_26_letters_is_five_ones_at_the_right_places(values_of):
    hot = np.zeros((5, 26))
    for place, letter in enumerate("SUNNY"):
        hot[place, string.ascii_uppercase.index(letter)] = 1
    values = values_of("embeddings")
    assert values["ones in SUNNY as one-hot vectors"] == hot.sum()
    assert values["numbers in SUNNY as one-hot vectors"] == hot.size
    drawn = embeddings.lesson().drawings[0].figure.axes[0].images[0].get_array()
    np.testing.assert_array_equal(drawn, hot)


def test_the_look_up_equals_the_product_to_the_last_bit(values_of):
    assert values_of("embeddings")["look-up minus one-hot x table, at most"] == 0


def test_ids_beyond_the_table_are_refused_with_its_bounds():
    rows = dict(embeddings.refused())
    assert set(rows) == {"200,000", "-1"}
    assert all("ids 0 to 99,999" in said for said in rows.values())
