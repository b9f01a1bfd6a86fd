import json
import subprocess
import sys
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from regard.errors import DataError, RunError
from regard.label_shapes import BagSettings
from regard.models import bag as module
from regard.models import judges
from regard.models.bag import Bag
from regard.models.grams import OVERLAPS, WORD, Grams
from regard.models.judges import BETA, log_ratios

patient = settings(deadline=None, max_examples=30)  # a busy machine proves nothing

WORDS = "a the film was so good bad dull 7 don't Ärger straße 東京 why ! ? , ...".split()
close = {"rtol": 0, "atol": 1e-9}


def some_texts(n, seed=0):
    random = Random(seed)
    return [" ".join(random.choices(WORDS, k=random.randint(0, 12))) for _ in range(n)]


def some_labels(n, classes, seed=0):
    return np.random.default_rng(seed).permutation(np.arange(n) % classes)


TEXTS, NEW = some_texts(60), [*some_texts(25, seed=1), "", "unheard of words", "good good good"]
MANY = np.random.default_rng(2).integers(0, 2, (60, 3))  # several labels


def pipeline(weights, judge, C, several=False):
    """What scikit-learn's users would write."""
    options = {"ngram_range": (1, 2), "min_df": 2, "token_pattern": WORD}
    if weights == "tfidf":
        vectorizer = TfidfVectorizer(sublinear_tf=True, **options)
    else:
        vectorizer = CountVectorizer(binary=weights == "binary", **options)
    one = LogisticRegression(C=C, solver="newton-cg", max_iter=1000)
    last = one if judge == "logistic" else LinearSVC(C=C, dual=False, max_iter=2000)
    return make_pipeline(vectorizer, OneVsRestClassifier(last) if several else last)


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def fitted(classes=3, **options):
    return Bag.fit(BagSettings(**options), TEXTS, some_labels(60, classes), classes)


def paired(**options):
    others = some_texts(60, seed=3)
    return Bag.fit(BagSettings(**options), TEXTS, some_labels(60, 2), 2, others)


KINDS = {
    "two": lambda: fitted(2),
    "five": lambda: fitted(5, judge="svm", weights="counts"),
    "nbsvm": lambda: fitted(3, judge="nbsvm"),
    "nbsvm of tfidf": lambda: fitted(3, judge="nbsvm", weights="tfidf"),
    "several": lambda: Bag.fit(BagSettings(weights="binary"), TEXTS, MANY, 3),
    "pairs": lambda: paired(),
    "pairs, nbsvm": lambda: paired(judge="nbsvm"),
}


def scores_of(bag, texts=NEW):
    return bag.scores(texts, texts[::-1] if bag.grams.pairs else None)


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("weights", ["binary", "counts", "tfidf"])
def test_probabilities_are_those_of_a_scikit_learn_pipeline(weights, classes):
    labels = some_labels(60, classes)
    bag = Bag.fit(BagSettings(weights=weights, strength=2.5), TEXTS, labels, classes)
    theirs = pipeline(weights, "logistic", 2.5).fit(TEXTS, labels)
    np.testing.assert_allclose(softmax(bag.scores(NEW)), theirs.predict_proba(NEW), **close)


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("weights", ["binary", "counts", "tfidf"])
def test_decisions_are_those_of_a_scikit_learn_pipeline(weights, classes):
    labels = some_labels(60, classes)
    bag = Bag.fit(BagSettings(weights=weights, judge="svm", strength=0.3), TEXTS, labels, classes)
    theirs = pipeline(weights, "svm", 0.3).fit(TEXTS, labels)
    scores, expected = bag.scores(NEW), theirs.decision_function(NEW)
    if classes == 2:
        np.testing.assert_array_equal(scores[:, 0], -scores[:, 1])
        scores = scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(scores, expected, **close)
    assert (bag.scores(NEW).argmax(axis=1) == theirs.predict(NEW)).all()


@pytest.mark.parametrize("judge", ["logistic", "svm"])
@pytest.mark.parametrize("weights", ["binary", "counts", "tfidf"])
def test_several_labels_are_judged_one_against_the_rest(weights, judge):
    bag = Bag.fit(BagSettings(weights=weights, judge=judge, strength=1.5), TEXTS, MANY, 3)
    theirs = pipeline(weights, judge, 1.5, several=True).fit(TEXTS, MANY)
    scores = bag.scores(NEW)
    if judge == "svm":
        np.testing.assert_allclose(scores, theirs.decision_function(NEW), **close)
    else:
        np.testing.assert_allclose(1 / (1 + np.exp(-scores)), theirs.predict_proba(NEW), **close)


def test_several_labels_know_nothing_of_each_other():
    alone = Bag.fit(BagSettings(), TEXTS, MANY[:, 1:2], 1)
    together = Bag.fit(BagSettings(), TEXTS, MANY, 3)
    np.testing.assert_array_equal(alone.scores(NEW)[:, 0], together.scores(NEW)[:, 1])


def nb_svm(rows, yes, C):
    """Wang & Manning 2012, in dense arrays: naive Bayes is w = r and b = log(N+ / N-), and its
    weights over rows that r is multiplied into are all equal, as long as the SVM's in the mean."""
    p, q = 1 + rows[yes].sum(axis=0), 1 + rows[~yes].sum(axis=0)
    r = np.log((p / np.abs(p).sum()) / (q / np.abs(q).sum()))
    svm = LinearSVC(C=C, dual=False, tol=1e-12, max_iter=2000).fit(rows * r, yes)
    trust = np.abs(svm.coef_[0]).sum() / rows.shape[1]

    def decide(new):
        naive = new @ r + np.log(yes.sum() / (~yes).sum())
        return (1 - BETA) * trust * naive + BETA * svm.decision_function(new * r)

    return r, decide


@pytest.mark.parametrize("weights", ["binary", "counts", "tfidf"])
@pytest.mark.parametrize("classes", [2, 4])
def test_nb_svm_is_what_the_paper_says(classes, weights, monkeypatch):
    # Else rounding decides where a judge stops.
    monkeypatch.setitem(judges.TOLERANCES, "nbsvm", 1e-12)
    labels = np.minimum(some_labels(60, classes + 2), classes - 1)  # the last is the most frequent
    settings = BagSettings(judge="nbsvm", weights=weights, strength=0.7)
    bag = Bag.fit(settings, TEXTS, labels, classes)
    rows, new = bag.grams.rows(TEXTS).toarray(), bag.grams.rows(NEW).toarray()
    assert (set(rows.ravel()) == {0, 1}) == (weights == "binary")
    scores = bag.scores(NEW)
    if classes == 2:
        scores = np.stack([scores[:, 0] * 2, scores[:, 1] * 2], axis=1)
    for n in range(classes):
        ratios, judge = nb_svm(rows, labels == n, 0.7)
        np.testing.assert_allclose(log_ratios(bag.grams.rows(TEXTS), labels == n), ratios, **close)
        np.testing.assert_allclose(scores[:, n], judge(new), **close)


def test_balanced_nb_svm_starts_from_classes_that_are_equally_frequent():
    texts, labels = ["a b", "a c", "b c"] * 4 + ["a d"] * 4, np.array([0] * 12 + [1] * 4)
    plain, balanced = (
        Bag.fit(BagSettings(judge="nbsvm", balanced=balanced), texts, labels, 2).scores([""])[0, 1]
        for balanced in (False, True)
    )
    assert plain < balanced


def test_a_ratio_is_above_0_where_a_gram_speaks_for_the_label():
    rows = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1]])
    ratios = log_ratios(rows, np.array([True, True, False]))
    expected = np.log([3 / 6, 1 / 6, 2 / 6]) - np.log([1 / 5, 2 / 5, 2 / 5])
    np.testing.assert_allclose(ratios, expected, **close)


@pytest.mark.parametrize("judge", ["logistic", "svm"])
def test_balanced_is_scikit_learns_class_weight(judge):
    labels = np.array([0] * 45 + [1] * 10 + [2] * 5)
    bag = Bag.fit(BagSettings(judge=judge, strength=1, balanced=True), TEXTS, labels, 3)
    theirs = pipeline("tfidf", judge, 1)
    theirs[-1].set_params(class_weight="balanced")
    expected = theirs.fit(TEXTS, labels).decision_function(NEW)
    np.testing.assert_allclose(bag.scores(NEW), expected, **close)
    plain = Bag.fit(BagSettings(judge=judge, strength=1), TEXTS, labels, 3)
    assert bag.scores(NEW)[:, 2].mean() > plain.scores(NEW)[:, 2].mean()


@pytest.mark.parametrize(("judge", "of_length_1"), [("logistic", 30), ("svm", 1)])
def test_the_strength_of_long_rows_is_less_without_being_asked_for(judge, of_length_1):
    assert fitted(weights="tfidf", judge=judge, min_count=1).settings.strength == pytest.approx(
        of_length_1 * 60 / sum(text.strip(" ,.") != "" for text in TEXTS)
    )
    binary = fitted(weights="binary", judge=judge)
    grams = binary.grams.rows(TEXTS).sum() / 60  # a row's squared length
    assert binary.settings.strength == pytest.approx(of_length_1 / grams)
    assert fitted(judge="nbsvm").settings.strength == pytest.approx(1 / grams)
    assert fitted(weights="binary", judge=judge, strength=3).settings.strength == 3


def test_words_are_runs_of_letters_and_digits_and_each_mark_that_asks_or_shouts():
    texts = ["I don't like Ärger, 7/10!? ...", "i DON'T like ärger: 7 10 ! ?"]
    grams, rows = Grams.fit(BagSettings(grams=1), texts, None)
    assert grams.known == ["!", "10", "7", "?", "don", "i", "like", "t", "ärger"]
    assert rows.nnz == 18
    grams, _ = Grams.fit(BagSettings(grams=1, lowercase=False), texts, None)
    assert grams.known == ["!", "10", "7", "?", "like"]


def test_where_no_blanks_stand_between_words_each_letter_is_one():
    settings = BagSettings(weights="binary", min_count=1, grams=1)
    grams, _ = Grams.fit(settings, ["包裹坏了!iPhone 13 が", "ไก่ go"], None)
    assert grams.known == sorted(
        ["!", "13", "go", "iphone", "が", "了", "包", "坏", "裹", "ก", "ไ"]
    )


def test_settings_decide_which_grams_are_known():
    assert any(" " in gram for gram in fitted(grams=2).grams.known)
    assert not any(" " in gram for gram in fitted(grams=1).grams.known)
    assert max(gram.count(" ") for gram in fitted(grams=3, min_count=1).grams.known) == 2
    few = fitted(size=5, weights="counts")
    counts = CountVectorizer(token_pattern=WORD, ngram_range=(1, 2)).fit_transform(TEXTS)
    kept = np.asarray(few.grams.rows(TEXTS).sum(axis=0)).ravel()
    assert few.size == 5
    assert sorted(kept) == sorted(np.asarray(counts.sum(axis=0)).ravel())[-5:]
    assert fitted(min_count=4).size < fitted(min_count=3).size


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_weights_of_a_text_and_the_intercept_add_up_to_its_scores(kind):
    bag = kind()
    for text in ["The film was so GOOD, 東京!", "", "good good bad", "unheard"]:
        other = "a bad film 7" if bag.grams.pairs else None
        parts = bag.weights_of(text, other)
        total = bag.intercept + sum((part for _, part in parts), np.zeros(len(bag.intercept)))
        scores = bag.scores([text], None if other is None else [other])[0]
        np.testing.assert_allclose(total, scores, **close)
        assert {name for name, _ in parts} <= set(bag.grams.names)


def test_the_weights_of_a_text_are_named_by_its_grams():
    names = [name for name, _ in fitted(min_count=1).weights_of("So good , unheard")]
    assert names == ["good", "so", "so good"]
    assert fitted().weights_of("unheard") == []


@pytest.mark.parametrize("kind", ["two", "five", "nbsvm", "several"])
def test_an_empty_text_gets_the_intercept(kind):
    bag = KINDS[kind]()
    for text in ["", " \n", "...", "unheard", "\ud800"]:
        np.testing.assert_array_equal(bag.scores([text])[0], bag.intercept)
    assert np.isfinite(bag.scores(["", *NEW])).all()


def test_two_empty_texts_get_the_intercept():
    bag = paired()
    np.testing.assert_array_equal(bag.scores(["", "."], ["", ","]), [bag.intercept] * 2)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_scoring_in_chunks_changes_nothing(kind, monkeypatch):
    bag = kind()
    whole = scores_of(bag)
    for size in (1, 7, len(NEW)):
        monkeypatch.setattr(module, "AT_ONCE", size)
        np.testing.assert_array_equal(scores_of(bag), whole)
    assert scores_of(bag, []).shape == (0, whole.shape[1])


@patient
@given(texts=st.lists(st.text(max_size=12), max_size=5))
def test_any_text_has_finite_scores(texts):
    assert np.isfinite(ANY.scores(texts)).all()
    assert np.isfinite(ANY_PAIR.scores(texts, texts[::-1])).all()


ANY, ANY_PAIR = fitted(), paired()


def test_grams_of_two_texts_are_marked_with_whose_they_are():
    first, second = ["a cat sat sat", "a b"] * 2, ["the cat sat !", "b ?"] * 2
    grams, rows = Grams.fit(BagSettings(weights="counts"), first, second)
    found = dict(zip(grams.names, rows.toarray()[0].tolist(), strict=True))
    both = {"both: cat": 1, "both: sat": 1, "both: cat sat": 1}
    only = {"first: a": 1, "first: sat": 1, "first: a cat": 1, "first: sat sat": 1}
    only |= {"second: the": 1, "second: !": 1, "second: the cat": 1, "second: sat !": 1}
    found = {name: value for name, value in found.items() if value}
    shares = [2 / 4, 2 / 4, 1 / 3, 1 / 3, 1]
    assert found == both | only | dict(zip(OVERLAPS, shares, strict=False))


def test_numbers_that_only_one_text_has_are_told():
    grams, rows = Grams.fit(BagSettings(), ["in 1998 , 5"] * 2, ["5 in 1998", "6 in 1998"])
    assert rows.toarray()[:, grams.names.index("overlap: other numbers")].tolist() == [0, 1]


def test_paraphrases_are_learned_from_what_overlaps():
    random = Random(5)
    first = [" ".join(random.sample("abcdefghijklmnop", 6)) for _ in range(80)]
    labels = np.arange(80) % 2  # 1: the same words in another order
    second = [
        " ".join(sorted(text.split())) if label else random.choice(first)
        for text, label in zip(first, labels, strict=True)
    ]
    for judge in ("logistic", "svm", "nbsvm"):
        bag = Bag.fit(BagSettings(judge=judge), first[:60], labels[:60], 2, second[:60])
        right = bag.scores(first[60:], second[60:]).argmax(axis=1) == labels[60:]
        assert right.mean() >= 0.9
        assert "both: a" in bag.grams.known and bag.size == len(bag.grams.names) - len(OVERLAPS)


def test_a_class_without_a_text_is_never_chosen():
    labels = some_labels(60, 3) * 2  # 0, 2 and 4 of six
    for judge in ("logistic", "svm", "nbsvm"):
        bag = Bag.fit(BagSettings(judge=judge, strength=2), TEXTS, labels, 6)
        seen = Bag.fit(BagSettings(judge=judge, strength=2), TEXTS, labels // 2, 3).scores(NEW)
        scores = bag.scores(NEW)
        np.testing.assert_allclose(scores[:, [0, 2, 4]], seen, **close)
        np.testing.assert_allclose(softmax(scores)[:, [0, 2, 4]], softmax(seen), **close)
        assert (scores[:, [1, 3, 5]].max(axis=1) < seen.max(axis=1) - 29).all()


def test_two_of_more_classes_are_judged_as_two():
    two, four = some_labels(60, 2), some_labels(60, 2) + 1
    scores = Bag.fit(BagSettings(), TEXTS, four, 4).scores(NEW)
    np.testing.assert_array_equal(scores[:, 1:3], Bag.fit(BagSettings(), TEXTS, two, 2).scores(NEW))


@pytest.mark.parametrize("judge", ["logistic", "svm", "nbsvm"])
def test_a_label_that_all_texts_or_none_have_is_answered_from_that(judge):
    labels = np.stack([MANY[:, 0], np.zeros(60), np.ones(60)], axis=1).astype(int)
    scores = Bag.fit(BagSettings(judge=judge), TEXTS, labels, 3).scores(NEW)
    np.testing.assert_allclose(scores[:, 1:], [[-np.log(121), np.log(121)]] * len(NEW))


def test_a_judge_that_does_not_come_to_an_end_is_stopped_without_a_word(monkeypatch):
    monkeypatch.setattr(judges, "ROUNDS", 1)  # a warning would be an error here
    for judge in ("logistic", "svm", "nbsvm"):
        assert np.isfinite(fitted(judge=judge, strength=1e6).scores(NEW)).all()


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.zeros(60, int), 1),
        (np.full(60, 2), 3),
        (np.zeros((60, 1), int), 1),
        (np.array([[0, 1]] * 60), 2),
    ],
    ids=["one", "one of three", "never", "always equal"],
)
def test_one_class_is_refused(labels, classes):
    with pytest.raises(DataError, match="nothing to tell apart: found 60 texts, all of the same"):
        Bag.fit(BagSettings(), TEXTS, labels, classes)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.arange(60), "expected labels from 0 to 2, found 3"),
        (some_labels(60, 3) - 1, "expected labels from 0 to 2, found -1"),
        (some_labels(60, 3) + 0.5, "expected labels from 0 to 2, found"),
        (some_labels(59, 3), r"expected labels \(60,\), found \(59,\)"),
        (MANY[:, :2], r"expected labels \(60, 3\), found \(60, 2\)"),
        (MANY + 1, "expected labels from 0 to 1, found 2"),
    ],
    ids=["beyond", "below", "between", "too few", "columns", "not 0 or 1"],
)
def test_labels_that_do_not_fit_are_refused(labels, message):
    with pytest.raises(DataError, match=message):
        Bag.fit(BagSettings(), TEXTS, labels, 3)


@pytest.mark.parametrize("texts", [["", ". ."], ["one", "two"]], ids=["blank", "rare"])
def test_texts_without_a_frequent_gram_are_refused(texts):
    message = "nothing to learn from: found 2 texts, and no gram that is in 2 of them"
    with pytest.raises(DataError, match=message):
        Bag.fit(BagSettings(), texts, np.array([0, 1]), 2)


def test_one_text_for_two_and_two_for_one_are_refused():
    with pytest.raises(DataError, match="learned from single texts, found pairs of texts"):
        fitted().scores(["a"], ["b"])
    with pytest.raises(DataError, match="learned from pairs of texts, found single texts"):
        paired().weights_of("a")
    with pytest.raises(DataError, match="found 2 first texts but 1 second ones"):
        paired().scores(["a", "b"], ["c"])
    with pytest.raises(DataError, match="found 60 first texts but 1 second ones"):
        Bag.fit(BagSettings(), TEXTS, some_labels(60, 2), 2, ["c"])


def test_nb_svm_has_binary_weights_unless_others_are_asked_for():
    assert BagSettings(judge="nbsvm").weights == "binary"
    again = BagSettings.model_validate(BagSettings(judge="nbsvm").model_dump())
    assert again == BagSettings(judge="nbsvm", weights="binary")
    assert fitted(judge="nbsvm", weights="tfidf").name == "bag of words and pairs, tfidf, nbsvm"


def test_the_name_says_what_it_is():
    assert fitted(grams=1, judge="svm").name == "bag of words, tfidf, svm"
    assert fitted(judge="nbsvm").name == "bag of words and pairs, binary, nbsvm"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_loaded_bag_scores_bit_for_bit_as_the_one_saved(kind, tmp_path):
    bag = kind()
    bag.save(tmp_path / "new" / "folder")
    again = Bag.load(tmp_path / "new" / "folder")
    np.testing.assert_array_equal(scores_of(again), scores_of(bag))
    assert (again.settings, again.size, again.name) == (bag.settings, bag.size, bag.name)
    assert again.grams.names == bag.grams.names


@pytest.fixture
def saved(tmp_path):
    fitted().save(tmp_path)
    return tmp_path


def test_what_is_saved_are_arrays_and_readable_grams(saved):
    assert sorted(path.name for path in saved.iterdir()) == ["bag.json", "bag.safetensors"]
    facts = json.loads((saved / "bag.json").read_text(encoding="utf-8"))
    assert facts["grams"] == sorted(facts["grams"]) and "straße" in facts["grams"]
    assert "東 京" in (saved / "bag.json").read_text(encoding="utf-8")
    assert load_file(saved / "bag.safetensors")["weights"].shape == (len(facts["grams"]), 3)


def test_a_cut_or_missing_file_is_named(saved):
    path = saved / "bag.safetensors"
    whole = path.read_bytes()
    for size in (0, 5, 100, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(RunError, match=f"{saved}: not a saved baseline: .*\nCopy it again"):
            Bag.load(saved)
    path.unlink()
    with pytest.raises(RunError, match="not a saved baseline: .*No such file.*bag.safetensors"):
        Bag.load(saved)
    (saved / "bag.json").write_text("{")
    with pytest.raises(RunError, match="bag.json: damaged or not readable"):
        Bag.load(saved)
    (saved / "bag.json").unlink()
    with pytest.raises(RunError, match="bag.json: missing"):
        Bag.load(saved)


FACTS = {
    "no grams": lambda f: {"grams": []},
    "fewer grams": lambda f: {"grams": f["grams"][1:]},
    "a gram twice": lambda f: {"grams": [f["grams"][0], *f["grams"][:-1]]},
    "a number": lambda f: {"grams": [7, *f["grams"][1:]]},
    "a list": lambda f: {"grams": [[], *f["grams"][1:]]},
    "a table": lambda f: {"grams": {gram: 0 for gram in f["grams"]}},
    "pairs": lambda f: {"pairs": True},
    "no pairs": lambda f: {"pairs": None},
    "settings": lambda f: {"settings": {"judge": "jury"}},
    "no settings": lambda f: {"settings": None},
    "weights": lambda f: {"settings": f["settings"] | {"weights": "counts"}},
}


@pytest.mark.parametrize("damage", FACTS.values(), ids=FACTS)
def test_facts_that_do_not_fit_are_refused(saved, damage):
    path = saved / "bag.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(facts | damage(facts)), encoding="utf-8")
    with pytest.raises(RunError, match="not a saved baseline"):
        Bag.load(saved)
    path.write_text("{}")
    with pytest.raises(RunError, match="not a saved baseline"):
        Bag.load(saved)


ARRAYS = {
    "fewer features": lambda a: {"weights": a["weights"][1:]},
    "fewer classes": lambda a: {"intercept": a["intercept"][1:]},
    "no classes": lambda a: {"intercept": a["intercept"][:0], "weights": a["weights"][:, :0]},
    "flat": lambda a: {"weights": a["weights"].ravel()},
    "a number": lambda a: {"intercept": np.array(3.0)},
    "short": lambda a: {"idf": a["idf"][1:]},
    "single": lambda a: {"weights": a["weights"].astype(np.float32)},
    "nan": lambda a: {"weights": a["weights"] * np.nan},
    "infinite": lambda a: {"idf": a["idf"] + np.inf},
    "foreign": lambda a: {"bias": np.zeros(3)},
}


@pytest.mark.parametrize("damage", ARRAYS.values(), ids=ARRAYS)
def test_arrays_that_do_not_fit_are_refused(saved, damage):
    path = saved / "bag.safetensors"
    arrays = load_file(path)
    changed = {name: np.ascontiguousarray(a) for name, a in (arrays | damage(arrays)).items()}
    save_file(changed, path)
    with pytest.raises(RunError, match="not a saved baseline"):
        Bag.load(saved)
    save_file({}, path)
    with pytest.raises(RunError, match="not a saved baseline"):
        Bag.load(saved)


def test_importing_the_module_does_not_import_scikit_learn():
    code = "import sys, regard.models.bag; sys.exit(bool({'sklearn', 'scipy'} & {*sys.modules}))"
    subprocess.run([sys.executable, "-c", code], check=True)
