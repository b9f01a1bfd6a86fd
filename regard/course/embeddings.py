"""One-hot and dense: a word becomes a row of a table."""

import string

import torch
from torch import nn

from regard.course.draw import heat, label, panels
from regard.course.lesson import Drawing, Lesson, Number, Table
from regard.course.tiny import repeatable
from regard.errors import ShapeError
from regard.nn.embeddings import TokenEmbedding, one_hot

TITLE = "A word becomes a row of a table"
IDEA = """
A network computes with numbers, so every word needs some. The plainest way is one-hot: as many
numbers as there are words, all 0 but a single 1. It is long, and it says that all words are
equally different.

An embedding gives each word a short row of a table instead. The rows begin at random and are
learned like every other weight, so words that are used alike can come to have rows that are
alike. Looking a row up is the same as multiplying the one-hot vector with the table, only without
the many multiplications by 0.
"""
TRY = (
    "Change the seed of the table: the numbers differ, the look-up still equals the product.",
    "Spell your own name with 26 letters, then with a table: one_hot(ids, 26) @ table and "
    "table[ids].",
    "regard info gpt2 shows what share of all parameters is the table of words.",
)
QUESTIONS = (
    (
        "Embedding(100000, 1024) is given the id 200,000. What happens?",
        "An error: the table has rows 0 to 99,999 and no others. Most likely the ids come from "
        "another tokenizer.",
    ),
    (
        "How many numbers stand for one word of 100,000: one-hot, and dense with width 1,024?",
        "100,000, of which 99,999 are 0; and 1,024, all of which mean something.",
    ),
    (
        "Which two words are most alike as one-hot vectors?",
        "None: the dot product of any two different ones is 0.",
    ),
)
WORD = "SUNNY"
ROWS = {2: 0.6957, 3: -2.8400, 1: 1.3010}  # the course: what the rows of these ids begin with


def lesson(seed: int = 0) -> Lesson:
    letters = [string.ascii_uppercase.index(letter) for letter in WORD]
    hot = one_hot(torch.tensor(letters), 26)  # (5, 26)
    with repeatable(123):  # the seed that the course uses
        table = nn.Embedding(4, 5)
    ids = torch.tensor(list(ROWS))
    looked_up = table(ids).detach()
    multiplied = one_hot(ids, 4) @ table.weight.detach()
    numbers = [
        Number.equal(f"Embedding(4, 5), seed 123: row {row} begins with", float(found[0]), begin)
        for (row, begin), found in zip(ROWS.items(), looked_up, strict=True)
    ]
    difference = float((looked_up - multiplied).abs().max())
    numbers += [
        Number.equal("look-up minus one-hot x table, at most", difference, 0.0, within=0.0),
        Number.equal("ones in SUNNY as one-hot vectors", float(hot.sum()), 5.0),
        Number.equal("numbers in SUNNY as one-hot vectors", hot.numel(), 130),
    ]
    table_of_errors = Table("An id that the table does not have", ("id", "what is said"), refused())
    says = [
        f"{WORD} has five letters, so its one-hot form has 5 x 26 = {hot.numel()} numbers, and "
        "five of them are 1. The two N are the same vector: one-hot knows which letter, not where "
        "it stands.",
        "Looking up the rows 2, 3 and 1 gives exactly what the product with the one-hot vectors "
        "gives, to the last bit.",
    ]
    return Lesson(numbers, [_draw(hot, looked_up)], says, [table_of_errors])


def refused() -> list[tuple[str, ...]]:
    """A table with 100,000 rows, asked for more; narrow, since only its height matters here."""
    rows: list[tuple[str, ...]] = []
    for id_ in (200_000, -1):
        try:
            TokenEmbedding(100_000, 4)(torch.tensor([[id_]]))
        except ShapeError as error:
            rows.append((f"{id_:,}", str(error)))
    return rows


def _draw(hot: torch.Tensor, rows: torch.Tensor) -> Drawing:
    figure, (left, right) = panels(2, size=(5.6, 2.8))
    heat(left, hot, list(WORD), list(string.ascii_uppercase), bar=False)
    left.tick_params(axis="x", labelsize=7)
    label(left, "SUNNY, one-hot over 26 letters", "letter of the alphabet", "letter of the word")
    heat(right, rows, [f"id {i}" for i in ROWS], list("12345"), two_sided=True, numbers=True)
    label(right, "ids 2, 3, 1 as dense rows of width 5", "feature")
    caption = (
        "Left: five letters, each a row with a single 1 among 26 places. Right: three ids as rows "
        "of a table of width 5, every number of which can mean something."
    )
    return Drawing(figure, caption)
