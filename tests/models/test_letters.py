"""Grams of letters beside the words of a bag."""

import json
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from safetensors.numpy import load_file, save_file
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.svm import LinearSVC

from regard.errors import DataError, RunError
from regard.label_shapes import BagSettings
from regard.models import bag as module
from regard.models.bag import Bag
from regard.models.grams import LETTERS, WORD, Grams
from regard.models.judges import log_ratios

patient = settings(deadline=None, max_examples=30)

WORDS = "a the Film was  so\n good\t goodness bad badly dull 7 don't Ärger straße 東京 ! ? ,".split(
    " "
)
close = {"rtol": 0, "atol": 1e-9}


def some_texts(n, seed=0):
    random = Random(seed)
    return [" ".join(random.choices(WORDS, k=random.randint(0, 12))) for _ in range(n)]


TEXTS, NEW = some_texts(60), [*some_texts(25, seed=1), "", "unheard of words", "Good  good\n\ngood"]
LABELS = {n: np.random.default_rng(0).permutation(np.arange(60) % n) for n in (2, 5)}


def fitted(classes=5, **options):
    return Bag.fit(BagSettings(**{"letters": 4} | options), TEXTS, LABELS[classes], classes)


def union(weights, letters, **options):
    """What scikit-learn's users would write: each part weighed, and normed, by itself."""
    made = {
        "tfidf": lambda **k: TfidfVectorizer(sublinear_tf=True, **options, **k),
        "binary": lambda **k: CountVectorizer(binary=True, **options, **k),
        "counts": lambda **k: CountVectorizer(**options, **k),
    }[weights]
    words = made(token_pattern=WORD, ngram_range=(1, 2))
    return FeatureUnion([("w", words), ("l", made(analyzer="char", ngram_range=(2, letters)))])


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("weights", ["binary", "counts", "tfidf"])
def test_scores_are_those_of_scikit_learns_union_of_two_vectorizers(weights, lowercase, classes):
    theirs = union(weights, 6, lowercase=lowercase, min_df=2)
    judges = {
        "logistic": LogisticRegression(C=0.7, solver="newton-cg", max_iter=1000),
        "svm": LinearSVC(C=0.7, dual=False, max_iter=2000),
    }
    for judge, one in judges.items():
        told = {"weights": weights, "judge": judge, "lowercase": lowercase, "strength": 0.7}
        bag = fitted(classes, letters=6, **told)
        expected = make_pipeline(theirs, one).fit(TEXTS, LABELS[classes]).decision_function(NEW)
        scores = bag.scores(NEW)
        found = scores[:, 1] - scores[:, 0] if classes == 2 else scores
        np.testing.assert_allclose(found, expected, **close)


def test_each_part_has_its_own_length_and_its_own_limits():
    bag = fitted(min_count=3, size=20, judge="svm")
    assert len(bag.grams.words) == len(bag.grams.letters) == 20 and bag.size == 40
    rows = fitted(min_count=1).grams.rows(["the good film"]).toarray()[0]
    words = len(fitted(min_count=1).grams.words)
    np.testing.assert_allclose([rows[:words] @ rows[:words], rows[words:] @ rows[words:]], 1)
    theirs = union("tfidf", 4, min_df=3, max_features=20).fit(TEXTS)
    names = [name.partition("__")[2] for name in theirs.get_feature_names_out()]
    assert [*bag.grams.words, *bag.grams.letters] == names


@pytest.mark.parametrize(("judge", "of_length_1"), [("logistic", 30), ("svm", 1)])
def test_rows_of_two_parts_need_half_the_strength(judge, of_length_1):
    texts = [text + " good film" for text in TEXTS]  # none is empty
    bag = Bag.fit(BagSettings(letters=4, judge=judge), texts, LABELS[2], 2)
    assert bag.settings.strength == pytest.approx(of_length_1 / 2)


def test_nb_svm_has_a_ratio_for_each_gram_of_words_and_letters():
    bag = fitted(2, judge="nbsvm")
    rows, yes = bag.grams.rows(TEXTS), LABELS[2] == 1
    assert set(rows.data) == {1} and log_ratios(rows, yes).shape == (bag.size,)
    right = bag.scores(TEXTS).argmax(axis=1) == LABELS[2]
    assert right.mean() > 0.8


def test_letters_are_of_the_whole_text_with_its_blanks():
    grams, _ = Grams.fit(BagSettings(letters=3, min_count=1), ["A  b!", "zz"], None)
    assert grams.letters == [" b", " b!", "a ", "a b", "b!", "zz"]
    assert grams.words == ["!", "a", "a b", "b", "b !", "zz"]
    assert grams.known == [*grams.words, *("letters:" + gram for gram in grams.letters)]


@patient
@given(texts=st.lists(st.text(max_size=12), max_size=5))
def test_names_are_unique_and_any_text_has_finite_scores(texts):
    assert np.isfinite(ANY.scores(texts)).all()
    grams, _ = Grams.fit(BagSettings(letters=3, min_count=1), [*texts, "a good film"], None)
    assert len(set(grams.names)) == len(grams.names)


ANY = fitted()


@pytest.mark.parametrize("options", [{}, {"weights": "counts"}, {"judge": "nbsvm"}])
def test_weights_of_words_come_first_and_all_add_up_to_the_scores(options):
    bag = fitted(**options)
    for text in ["The film was so GOOD, 東京!", "", "goodness", "\ud800\ud800"]:
        parts = bag.weights_of(text)
        total = bag.intercept + sum((part for _, part in parts), np.zeros(5))
        np.testing.assert_allclose(total, bag.scores([text])[0], **close)
        spelled = [name.startswith(LETTERS) for name, _ in parts]
        assert spelled == sorted(spelled)


def test_a_text_without_a_known_gram_gets_the_intercept():
    bag = fitted()
    for text in ["", "x", "\ud800", "qq zz"]:
        np.testing.assert_array_equal(bag.scores([text])[0], bag.intercept)
    assert (bag.scores(["ood"])[0] != bag.intercept).any(), "a part of a word is known"


def test_scoring_in_chunks_changes_nothing(monkeypatch):
    bag = fitted()
    whole = bag.scores(NEW)
    for size in (1, 7, len(NEW)):
        monkeypatch.setattr(module, "AT_ONCE", size)
        np.testing.assert_array_equal(bag.scores(NEW), whole)


def test_texts_without_letters_that_are_frequent_are_refused():
    for texts, name in ((["a", "a"], "gram of letters"), (["..", ".."], "gram")):
        with pytest.raises(DataError, match=f"found 2 texts, and no {name} that is in 2 of them"):
            Bag.fit(BagSettings(letters=3), texts, np.array([0, 1]), 2)


def test_one_letter_and_pairs_of_texts_are_refused():
    with pytest.raises(ValidationError, match="letters = 1: .* have 2 at least. Write 2 to 8, or"):
        BagSettings(letters=1)
    with pytest.raises(DataError, match="letters = 3: of single texts only, found pairs"):
        Bag.fit(BagSettings(letters=3), TEXTS, LABELS[2], 2, TEXTS)


def test_the_name_tells_letters():
    assert fitted(judge="svm").name == "bag of words and pairs, up to 4 letters, tfidf, svm"


@pytest.mark.parametrize("options", [{}, {"weights": "counts"}, {"judge": "nbsvm"}])
def test_a_loaded_bag_scores_bit_for_bit_as_the_one_saved(options, tmp_path):
    bag = fitted(**options)
    bag.save(tmp_path)
    again = Bag.load(tmp_path)
    np.testing.assert_array_equal(again.scores(NEW), bag.scores(NEW))
    assert again.settings == bag.settings and again.grams.names == bag.grams.names
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bag.json", "bag.safetensors"]


def test_half_characters_can_be_learned_from_and_saved(tmp_path):
    texts = ["good \ud800\ud800 film", "good \udfff\udfff film", "bad film"]
    bag = Bag.fit(BagSettings(letters=3), texts, np.array([1, 1, 0]), 2)
    bag.save(tmp_path)
    np.testing.assert_array_equal(Bag.load(tmp_path).scores(texts), bag.scores(texts))
    assert "??" in bag.grams.letters


def test_a_bag_saved_before_there_were_letters_is_loaded(tmp_path):
    bag = fitted(letters=0)
    bag.save(tmp_path)
    path = tmp_path / "bag.json"
    facts = json.loads(path.read_text())
    assert facts.pop("letters") == [] and facts["settings"].pop("letters") == 0
    path.write_text(json.dumps(facts))
    np.testing.assert_array_equal(Bag.load(tmp_path).scores(NEW), bag.scores(NEW))


FACTS = {
    "none": lambda f: {"letters": []},
    "fewer": lambda f: {"letters": f["letters"][1:]},
    "twice": lambda f: {"letters": [f["letters"][0], *f["letters"][:-1]]},
    "a number": lambda f: {"letters": [7, *f["letters"][1:]]},
    "a text": lambda f: {"letters": "abc"},
    "of words": lambda f: {"grams": [*f["grams"], "x"]},
    "no words": lambda f: {"grams": [], "letters": [*f["grams"], *f["letters"]]},
    "not asked for": lambda f: {"settings": f["settings"] | {"letters": 0}},
    "pairs": lambda f: {"pairs": True},
}
ARRAYS = {
    "fewer features": lambda a: {"weights": a["weights"][1:]},
    "words alone": lambda a: {"idf": a["idf"][: len(ANY.grams.words)]},
}


@pytest.mark.parametrize("damage", FACTS.values(), ids=FACTS)
def test_facts_that_do_not_fit_are_refused(tmp_path, damage):
    ANY.save(tmp_path)
    path = tmp_path / "bag.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(facts | damage(facts)), encoding="utf-8")
    with pytest.raises(RunError, match="not a saved baseline"):
        Bag.load(tmp_path)


@pytest.mark.parametrize("damage", ARRAYS.values(), ids=ARRAYS)
def test_arrays_that_do_not_fit_are_refused(tmp_path, damage):
    ANY.save(tmp_path)
    arrays = load_file(tmp_path / "bag.safetensors")
    changed = {n: np.ascontiguousarray(a) for n, a in (arrays | damage(arrays)).items()}
    save_file(changed, tmp_path / "bag.safetensors")
    with pytest.raises(RunError, match="not a saved baseline"):
        Bag.load(tmp_path)
