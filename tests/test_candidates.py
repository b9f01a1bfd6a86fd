"""What someone may set for all models that are compared."""

import pytest

from regard.errors import ConfigError
from regard.label_shapes import BagSettings
from regard.run.candidates import asked_for, settings_for
from regard.toml import check


@pytest.mark.parametrize("given", ["model=rnn", "tokens=word", "train=3", "data=x.csv"])
def test_a_section_that_is_given_a_value_is_refused(given):
    section = given.split("=")[0]
    with pytest.raises(ConfigError, match=f'--set {given}: "{section}" is a section, not a value'):
        asked_for([given])


def test_each_candidate_takes_the_settings_that_it_has():
    given = asked_for(["model.heads=2", "train.rate=0.01"])
    assert settings_for("transformer", given)["model"] == {"kind": "transformer", "heads": 2}
    assert settings_for("mean", given) == {"train": {"rate": 0.01}, "model": {"kind": "mean"}}
    assert settings_for("bag", given) == {"model": {"kind": "bag"}}


def test_both_bags_take_the_weights_that_are_asked_for_and_each_has_its_judge():
    given = asked_for(["model.weights=tfidf"])
    for name, judge in (("bag", "logistic"), ("bag by naive Bayes and SVM", "nbsvm")):
        model = check(BagSettings, settings_for(name, given)["model"], "model")
        assert (model.weights, model.judge) == ("tfidf", judge)
    assert BagSettings(judge="nbsvm").weights == "binary", "unless they are asked for"
    with pytest.raises(ConfigError, match="model.judge: bags of two judges are tried"):
        asked_for(["model.judge=svm"])
