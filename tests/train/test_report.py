"""The card, read back by a Markdown parser: what it says, and that no text in it is markup."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt  # comes with rich

from regard.names import KEEPS
from regard.train.report import card, plain, unfinished_card

HOSTILE = "a|b\n```\n# no\n<b>&lt;*x*_y_ [l](u) `c` $m$ ~~s~~ \\ \x1b[31m\u202e"


def a_score(value, name="per"):
    return {"value": value, "low": value - 0.5, "high": value + 1, "signature": f"{name}|n:40"}


NEAREST = {"name": "nearest", "scores": {"per": a_score(30), "wer": a_score(90, "wer")}}
COPY = {"name": "copy", "scores": {"per": a_score(95)}}
FACTS = {
    "format": 2,
    "task": "transduce",
    "data": {
        "sha256": "ab12",
        "split_rule": "a hash of the source",
        "train": 1234,
        "validation": 56,
        "test": 57,
        "left_out_of_training": 0,
        "skipped_rows": 0,
        "overlapping": 0,
        "notes": [],
    },
    "vocabulary": {"source": 31, "target": 43000},
    "parameters": 98765,
    "environment": {"torch": "2.13.0", "machine": "x86_64", "threads": 2},
    "weights": "best",
    "steps": 1500,
    "seconds": 75.2,
    "tokens_per_second": 4321,
    "memory": 345_678_901,
    "validation": {"loss": 1.25, "per": 8.0},
    "test": {
        "task": "transduce",
        "data": "test part",
        "examples": 40,
        "too_long": 0,
        "unknown_inputs": 0,
        "in_training": 0,
        "scores": {"per": a_score(7), "wer": a_score(20, "wer")},
        "baseline": NEAREST,
        "baselines": [NEAREST, COPY],
    },
    "samples": [
        {
            "input": "one",
            "output": "W AH N",
            "score": -0.25,
            "wanted": ["W AH N"],
            "in_training": True,
        },
        {
            "input": "two",
            "output": "T UW",
            "score": None,
            "wanted": ["W AH N"],
            "in_training": False,
        },
    ],
}
RECIPE = {
    "task": "transduce",
    "seed": 7,
    "data": {"set": "cmudict", "split": [80.0, 10.0, 10.0]},
    "source": {"kind": "character"},
    "target": {"kind": "word"},
    "model": {"kind": "transformer", "width": 128, "encoder_layers": 2, "max_length": 64},
    "train": {"steps": 1500, "rate": 0.003, "optimizer": "muon"},
    "decode": {"beam": 4},
}
STATE = {"step": 500, "seconds": 25.0, "validation": {"loss": 1.23456, "per": 20.0}}


class Markdown:
    """A text as a Markdown reader sees it."""

    def __init__(self, text):
        self.tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
        self.kinds = {t.type for t in self.tokens}
        self.kinds |= {child.type for t in self.tokens for child in t.children or ()}

    def cells(self, kind="td"):
        after = zip(self.tokens, self.tokens[1:], strict=False)
        return [letters(inline) for opening, inline in after if opening.type == f"{kind}_open"]

    def items(self):
        texts = [letters(t) for t in self.tokens if t.type == "inline" and t.level == 3]
        return [text for text in texts if text not in self.cells() + self.cells("th")]


def letters(inline):
    return "".join(child.content for child in inline.children)


def with_test(**changes):
    return {**FACTS, "test": {**FACTS["test"], **changes}}


def with_data(**changes):
    return {**FACTS, "data": {**FACTS["data"], **changes}}


def test_scores_stand_beside_every_baseline_with_intervals_and_one_it_lacks_is_a_dash():
    seen = Markdown(card(RECIPE, FACTS))
    assert seen.cells("th")[:4] == ["95 % interval", "this model", "nearest", "copy"]
    assert seen.cells()[:4] == [
        *("PER, pieces wrong, %", "7.00 (6.50 to 8.00)"),
        *("30.00 (29.50 to 31.00)", "95.00 (94.50 to 96.00)"),
    ]
    assert seen.cells()[4:8] == [
        *("WER, outputs wrong, %", "20.00 (19.50 to 21.00)", "90.00 (89.50 to 91.00)", "-"),
    ]


def test_how_scores_were_computed_is_said_once():
    assert Markdown(card(RECIPE, FACTS)).items()[:2] == ["per|n:40", "wer|n:40"]


def test_the_data_are_named_counted_and_hashed():
    assert "\n".join(Markdown(card(RECIPE, FACTS)).items()).splitlines()[2:7] == [
        "The data set cmudict.",
        "1,234 examples for training, 56 for validation, 57 for test.",
        "Split 80 / 10 / 10 by a hash of the source.",
        "Nothing was left out.",
        "SHA-256 of all examples: ab12.",
    ]


def test_what_was_left_out_and_what_was_guessed_is_said():
    notes = ["the first row names the columns."]
    counts = {"left_out_of_training": 3, "overlapping": 4, "skipped_rows": 5000}
    items = Markdown(card(RECIPE, with_data(**counts, notes=notes))).items()
    assert (
        "Left out: 3 training examples, empty or longer than the model takes; 4 training examples "
        "that a validation or test file holds too; 5,000 rows or files that could not be used."
    ) in items
    assert "Note: the first row names the columns." in items


def test_what_may_surprise_about_the_scores_is_said():
    counts = {"too_long": 2, "unknown_inputs": 3000, "in_training": 0, "skipped_rows": 4}
    assert Markdown(card(RECIPE, with_test(**counts))).items()[:3] == [
        "2 inputs are empty or too long: counted as wrong.",
        "3,000 inputs hold pieces that the model has never met.",
        "4 rows or files could not be used and were left out.",
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            {"path": "/home/ann/pairs.tsv", "source": "en", "target": "de", "split": [90, 5, 5]},
            ["From pairs.tsv (source en, target de).", "Split 90 / 5 / 5 by a hash of the source."],
        ),
        (
            {"path": ["/home/ann/a.en", "/home/ann/a.de"], "test": "/home/ann/test.tsv"},
            [
                "From a.en, a.de (test test.tsv).",
                "The test part has a file of its own; the rest is split by a hash of the source.",
            ],
        ),
        (
            {"path": "a.tsv", "validation": "/home/ann/b.tsv", "test": "/home/ann/c.tsv"},
            [
                "From a.tsv (validation b.tsv, test c.tsv).",
                "Validation and test have files of their own.",
            ],
        ),
    ],
)
def test_files_are_named_without_their_folders_and_the_split_is_told_as_it_was(data, said):
    text = card({**RECIPE, "data": data}, FACTS)
    assert "ann" not in text and set(said) <= set(Markdown(text).items())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "From source to target; capitals count."),
        ({"data": {"path": "pairs.tsv"}}, "From source to target; capitals count."),
        (
            {"data": {"path": "pairs.tsv", "source": "en", "target": "4"}},
            "From en to column 4; capitals count.",
        ),
        (
            {"data": {"path": ("/home/ann/a.de", "a.en")}, "source": {"lowercase": True}},
            "From a.de to a.en; capitals of the source are folded.",
        ),
        (
            {"data": {"path": "t.jsonl", "turns": "turns", "history": 3}},
            "From up to 3 turns of a conversation to the next turn; capitals count.",
        ),
    ],
)
def test_the_direction_and_whether_capitals_count_are_told(changes, said):
    assert said in Markdown(card({**RECIPE, **changes}, FACTS)).items()
    other = {key: value for key, value in RECIPE.items() if key != "source"}
    assert not any(item.startswith("From ") for item in Markdown(card(other, FACTS)).items())


def test_settings_that_matter_and_vocabulary_sizes_are_shown():
    items = Markdown(card(RECIPE, FACTS)).items()
    assert "source: character tokenizer, 31 pieces" in items
    assert "target: word tokenizer, 43,000 pieces" in items
    assert "model: kind transformer, width 128, encoder_layers 2, max_length 64" in items
    assert "train: optimizer muon, rate 0.003" in items and "seed 7" in items
    shared = {key: value for key, value in RECIPE.items() if key != "target"}
    items = Markdown(card(shared, {**FACTS, "vocabulary": {"both": 500}})).items()
    assert "source and target: character tokenizer, 500 pieces" in items


BAG_RECIPE = {
    "task": "classify",
    "data": {"path": "a.csv"},
    "model": {"kind": "bag", "grams": 2, "letters": 3, "weights": "tfidf", "judge": "svm",
              "min_count": 2},
    "train": {"steps": 0, "rate": 0.002, "optimizer": "adamw", "schedule": "cosine"},
}  # fmt: skip
AT_ONCE = {"steps": 0, "seconds": 0.5, "tokens_per_second": 0, "vocabulary": {"grams": 9}}


def test_of_a_bag_its_grams_and_judge_are_told_and_no_steps_or_optimizer():
    text = card(BAG_RECIPE, {**FACTS, **AT_ONCE})
    assert "98,765 parameters, learned at once in 0.5 seconds." in text
    assert (
        "model: kind bag, grams 2, letters 3, weights tfidf, judge svm, strength as suits the "
        "length of rows, min_count 2"
    ) in Markdown(text).items()
    for untrue in ("steps", "tokens/s", "adamw", "cosine", "best weights"):
        assert untrue not in text
    given = {**BAG_RECIPE, "model": {**BAG_RECIPE["model"], "strength": 5.0}}
    assert "strength 5" in card(given, {**FACTS, **AT_ONCE})


def test_the_step_of_the_best_weights_and_its_validation_are_told_where_they_are_known():
    kept = {"kept": {"step": 1200, "validation": {"loss": 1.25, "per": 12.0}}}
    told = "holds the best weights, those of step 1,200 (validation: loss 1.25, per 12)."
    assert told in card(RECIPE, {**FACTS, **kept})
    assert "holds the best weights." in card(RECIPE, FACTS)


def a_class(label, texts, f1):
    return {"label": label, "texts": texts, "precision": 50.0, "recall": 25.0, "f1": f1}


def test_each_label_is_told_the_worst_first_and_how_many_are_left_out():
    classes = [a_class("good|", 9, 90.0), a_class("bad", 3, 10.0), a_class("never", 0, 0.0)]
    details = {"labels": [], "classes": classes, "reliability": [[0.5, 0.5, 3]]}
    seen = Markdown(card(RECIPE, with_test(details=details)))
    assert seen.cells()[8:18] == [
        *("bad", "3", "50.00", "25.00", "10.00"),
        *("good|", "9", "50.00", "25.00", "90.00"),
    ]
    assert "1 labels are left out, which none of these texts has." in seen.items()
    assert "image" in seen.kinds, "the picture of the judgements"
    many = {"classes": [a_class(f"label {n}", 1, float(n)) for n in range(300)]}
    seen = Markdown(card(RECIPE, with_test(details=many)))
    assert seen.cells()[8::5][:30] == [f"label {n}" for n in range(30)]
    assert "270 more labels are left out, whose F1 is no lower." in seen.items()
    assert "image" not in seen.kinds and "Each label" not in card(RECIPE, FACTS)


def test_samples_that_were_trained_on_are_marked():
    assert Markdown(card(RECIPE, FACTS)).cells()[8:] == [
        *("*", "one", "W AH N", "W AH N"),
        *("", "two", "T UW", "W AH N"),
    ]


def test_limits_and_the_command_to_do_it_again_close_the_card():
    text = card(RECIPE, FACTS)
    assert "An input of more than 64 tokens is refused." in Markdown(text).items()
    assert text.endswith("```console\n$ regard train recipe.toml --out ../again\n```\n")


CLASSIFY = {"task": "classify", "keep": "both", "data": {"path": "a.csv"}, "decode": {}}
GOES_ON = {"task": "language_model", "decode": {"max_length": 300, "beyond": "slide"}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (CLASSIFY, "Of a text of more than 62 tokens only {} is read."),
        (GOES_ON, "It has 64 tokens in sight: of a longer text the older half is forgotten."),
        (GOES_ON, "An output ends after 300 tokens at the latest."),
        (
            {**GOES_ON, "decode": {"max_length": 30, "beyond": "refuse"}},
            "A beginning and what is to be written may have 65 tokens together.",
        ),
        (
            {**GOES_ON, "model": {"kind": "rnn", "max_length": 64}},
            "A text may have any length; it was trained to look back 64 tokens.",
        ),
    ],
)
def test_what_becomes_of_a_longer_text_is_told_as_it_is(changes, said):
    items = Markdown(card({**RECIPE, **changes}, FACTS)).items()
    assert said.format(KEEPS["both"]) in items
    assert not any("is refused" in item for item in items)


def test_no_sample_name_or_setting_can_become_markup():
    tame = Markdown(card(RECIPE, FACTS))
    sample = {"input": HOSTILE, "output": HOSTILE, "wanted": [HOSTILE], "in_training": True}
    baseline = {"name": HOSTILE, "scores": {"per": {**a_score(1), "signature": HOSTILE}}}
    facts = with_test(baselines=[baseline]) | {
        "environment": {HOSTILE: HOSTILE},
        "samples": [sample],
    }
    text = card({**RECIPE, "data": {"path": HOSTILE, HOSTILE: HOSTILE}}, facts)
    wild = Markdown(text)
    assert wild.kinds - {"text_special"} <= tame.kinds | {"softbreak"}
    assert wild.cells("th")[2] == wild.cells()[-1]
    assert wild.cells()[-1].startswith(
        "a|b↵```↵# no↵<b>&lt;*x*_y_ [l](u) `c` $m$ ~~s~~ \\ [U+001B]"
    )
    assert all(c.isprintable() or c == "\n" for c in text)


@given(st.text())
def test_plain_text_in_a_cell_is_read_back_letter_by_letter(text):
    seen = Markdown(f"| head |\n|---|\n| x{plain(text)}x |\n")
    (cell,) = seen.cells()
    (inline,) = [t for t in seen.tokens if t.type == "inline" and t.content != "head"]
    assert {child.type for child in inline.children} <= {"text", "text_special"}
    signs = {"\n": "↵", "\t": "⇥"}
    shown = (c if c.isprintable() else signs.get(c, f"[U+{ord(c):04X}]") for c in text)
    assert cell == f"x{''.join(shown)}x"


def test_a_long_sample_is_cut_and_says_so():
    long = {"input": "x" * 500, "output": "y", "wanted": [], "in_training": False}
    assert Markdown(card(RECIPE, {**FACTS, "samples": [long]})).cells()[-3] == "x" * 119 + "…"


def test_a_checked_recipe_and_the_table_it_is_written_as_give_the_same_card(small):
    recipe = small()
    tree = recipe.model_dump(mode="json", exclude_none=True)
    assert card(recipe, FACTS) == card(tree, FACTS)
    assert "From pairs.tsv" in card(recipe, FACTS)


def test_an_unfinished_run_says_how_far_it_is_and_what_to_do():
    text = unfinished_card(RECIPE, FACTS, STATE, "Go on.")
    assert text.startswith("# A transduce model, not finished\n")
    assert "stands at step 500 of 1,500, after 25.0 seconds of training." in text
    assert "Its last validation: loss 1.23, per 20.\n\nGo on.\n\n## Data" in text
    early = unfinished_card(RECIPE, FACTS, None, "Go on.")
    assert "It stands before step 1 of 1,500: no checkpoint is saved yet." in early
