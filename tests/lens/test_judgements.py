"""The pictures of a classifier, whatever its classes are called and however many they are."""

import struct

import pytest

from regard.lens.judgements import DOTS, judgements_png

POINTS = [[0.6, 0.5, 10.0], [0.9, 0.95, 30.0]]


def size_of(png):
    return struct.unpack(">II", png[16:24])


@pytest.mark.parametrize("classes", [60, 3000])
def test_without_a_table_a_thousand_classes_are_drawn_as_small_as_two(classes):
    details = {"labels": [f"class {n}" for n in range(classes)], "reliability": POINTS}
    assert size_of(judgements_png(details)) == (5 * DOTS, 4.5 * DOTS)


def test_that_classes_are_too_many_to_be_drawn_is_said_in_the_picture(monkeypatch):
    said = []
    monkeypatch.setattr("matplotlib.figure.Figure.suptitle", lambda *a, **k: said.append(a[1]))
    details = {"labels": [f"class {n}" for n in range(300)], "reliability": POINTS}
    judgements_png({**details, "confusion": None})
    assert said == ["What is taken for what is not drawn: 300 labels are too many."]
    judgements_png(details)  # several labels of one text
    assert len(said) == 1


def test_labels_are_names_whatever_is_in_them():
    labels = ["$x$", "$\\frac{1}$", "坏", "a label of very many words, none of which is needed"]
    table = [[3 if row == column else 1 for column in range(4)] for row in range(4)]
    png = judgements_png({"labels": labels, "reliability": POINTS, "confusion": table})
    plain = {"labels": ["a", "b", "c", "d"], "reliability": POINTS, "confusion": table}
    assert size_of(png) == size_of(judgements_png(plain)), "drawn, and in the same room"
