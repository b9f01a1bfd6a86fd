"""What is chosen for someone's pairs: the rules say what they did, and the person's word wins."""

import json
import random

import pytest

from regard.tasks.recipe import example_recipe, make_recipe

PHONES = "AA AE AH B CH D EH F G IY K L M N OW P R S T UW".split()
WORDS = [f"{a}{b}{c}{d}" for a in "bdfgklmn" for b in "aeiou" for c in "rstvw" for d in "aeiou"]


@pytest.fixture
def choose(tmp_path, monkeypatch):
    """choose("translate", pairs, *sets) -> the recipe and the reasons."""
    monkeypatch.chdir(tmp_path)

    def made(face, pairs, *sets):
        lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
        (tmp_path / "pairs.tsv").write_text(lines, encoding="utf-8")
        recipe, reasons = make_recipe(face, ["pairs.tsv"], sets)
        return recipe, dict(reasons)

    return made


def sentences(count, words=9, seed=0):
    dice = random.Random(seed)
    return [" ".join(dice.choices(WORDS, k=words)) for _ in range(count)]


def spellings(count):
    dice = random.Random(0)
    words = ["".join(dice.choices("abcdefghij", k=7)) for _ in range(count)]
    return [(word, " ".join(dice.choices(PHONES, k=6))) for word in words]


def test_spelling_to_sounds_reads_letters_and_writes_phonemes(choose):
    recipe, reasons = choose("pronounce", spellings(300))
    assert (recipe.source.kind, recipe.target.kind) == ("character", "word")
    assert recipe.source.lowercase and recipe.metrics == ("per", "wer")
    assert list(reasons) == ["data", "tokens", "lengths", "model", "training"]
    assert reasons["tokens"].startswith("source by characters; target by words between blanks")


def test_sentences_in_one_alphabet_share_one_byte_level_bpe(choose):
    pairs = list(zip(sentences(400), sentences(400, seed=1), strict=True))
    recipe, reasons = choose("translate", pairs)
    assert recipe.source.kind == "bytes" and recipe.target is None
    assert recipe.metrics[0] == "bleu" and "one alphabet" in reasons["tokens"]
    assert recipe.source.size < 8000, "a small file can not fill a large vocabulary"


def test_sentences_in_two_alphabets_have_a_tokenizer_each(choose):
    greek = str.maketrans("abdefgiklmnorstuvw", "αβδεφγικλμνορστυβω")
    pairs = [(text, text.translate(greek)) for text in sentences(200)]
    recipe, _ = choose("translate", pairs)
    assert recipe.source.kind == recipe.target.kind == "bytes"


def test_short_strings_are_spelled_and_judged_whole(choose):
    pairs = [(f"{d:02}.{m:02}.{y}", f"{y}-{m:02}-{d:02}") for y in range(1990, 2000)
             for m in range(1, 13) for d in (3, 17, 28)]  # fmt: skip
    recipe, _ = choose("transduce", pairs)
    assert recipe.source.kind == recipe.target.kind == "character"
    assert recipe.metrics == ("exact_match", "chrf")


def test_what_the_person_set_is_kept_and_is_what_the_reasons_tell(choose):
    sets = ["model.width=48", "train.rate=0.01", "source.kind=word", "model.max_length=20",
            "train.steps=50", "train.optimizer=adamw", "model.dropout=0.5"]  # fmt: skip
    recipe, reasons = choose("translate", [(s, s[::-1]) for s in sentences(150)], *sets)
    assert recipe.model.width == 48 and recipe.train.rate == 0.01
    assert recipe.source.kind == "word" and recipe.model.max_length == 20
    assert recipe.model.feed == 96 and recipe.model.heads == 2, "they follow the width"
    assert "width 48" in reasons["model"] and "up to 20" in reasons["lengths"]
    assert reasons["tokens"].startswith("words between blanks")
    assert reasons["training"].startswith("50 steps; adamw, rate 0.01, dropout 0.5")


@pytest.mark.parametrize("sets", [["model.width=90"], ["decode.n=3"], ["decode.temperature=0.7"]])
def test_half_a_recipe_is_not_judged_by_defaults_that_will_not_be_used(choose, sets):
    recipe, _ = choose("translate", [(s, s[::-1]) for s in sentences(150)], *sets)
    assert recipe.model.width in (64, 90, 128)


def test_a_target_tokenizer_of_ones_own_is_not_shared(choose):
    pairs = [(s, s[::-1]) for s in sentences(150)]
    recipe, reasons = choose("translate", pairs, "target.size=500")
    assert recipe.target.size == 500 and "target by" in reasons["tokens"]


def test_scores_suit_the_script_of_the_target(choose):
    russian = str.maketrans("abdefgiklmnorstuvw", "абдефгиклмнорстуви")
    pairs = [(s, s.translate(russian)) for s in sentences(150)]
    assert choose("summarize", pairs)[0].metrics[0] == "chrf", "ROUGE counts Latin letters only"
    chinese = [(s, "".join(chr(0x4E00 + ord(c)) for c in s)) for s in sentences(150)]
    assert choose("translate", chinese)[0].metrics[0] == "chrf", "13a BLEU needs blanks"


def test_the_faces_differ_without_data_too():
    assert example_recipe("summarize").metrics[0] == "rouge1"
    assert example_recipe("pronounce").target.kind == "word"
    assert example_recipe("translate").metrics[0] == "bleu"
    assert example_recipe("chat").decode.temperature == 0.7
    assert example_recipe("answer").metrics[0] == "exact_match"


def test_steps_replace_the_budget_and_a_budget_is_kept_as_typed(choose):
    pairs = spellings(150)
    assert choose("pronounce", pairs, "train.steps=7")[0].train.budget is None
    assert choose("pronounce", pairs, "train.budget=20m")[0].train.budget == "20m"
    assert choose("pronounce", pairs)[0].train.budget == "5m"


def test_a_larger_budget_on_more_data_buys_a_larger_model(choose):
    pairs = list(zip(sentences(6000, 40), sentences(6000, 40, seed=1), strict=True))
    short, _ = choose("translate", pairs, "train.budget=2m")
    long, _ = choose("translate", pairs, "train.budget=2h")
    assert long.model.width > short.model.width


def test_texts_beyond_the_longest_are_counted_not_cut(choose):
    pairs = [*spellings(200), *(("x" * 5000 + letter, "AA AE") for letter in "abcdefghij")]
    recipe, reasons = choose("pronounce", pairs)
    assert recipe.model.max_length == 512
    assert "has 5,001, and what is too long is left out, never cut" in reasons["lengths"]


def test_a_small_file_holds_out_more_of_itself(choose):
    assert choose("pronounce", spellings(60))[0].data.split == (60, 20, 20)
    assert choose("pronounce", spellings(300))[0].data.split == (80, 10, 10)
    assert choose("pronounce", spellings(2500))[0].data.split == (90, 5, 5)


def test_conversations_are_found_for_chat_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dice = random.Random(0)
    rows = [
        {"dialogue": sentences(4, seed=dice.random()), "summary": text} for text in sentences(60)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "talks.jsonl").write_text(lines, encoding="utf-8")
    chat, reasons = make_recipe("chat", ["talks.jsonl"])
    assert (chat.data.turns, chat.data.history) == ("dialogue", 3)
    assert chat.decode.temperature == 0.7 and chat.decode.beam == 1
    assert 'the replies of "dialogue", after up to 3 turns; 180 pairs' in dict(reasons)["data"]
    summaries, _ = make_recipe("summarize", ["talks.jsonl"])
    assert (summaries.data.turns, summaries.data.source) == (None, "dialogue")
    pairs, _ = make_recipe("chat", ["talks.jsonl"], ["data.source=summary", "data.target=dialogue"])
    assert pairs.data.turns is None
    beam, _ = make_recipe("chat", ["talks.jsonl"], ["decode.beam=4"])
    assert beam.decode.temperature == 0
