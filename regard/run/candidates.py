"""The models that are compared on someone's texts, and what each of them takes of the settings that
the person gave."""

from collections.abc import Sequence

from regard.config import Settings, Tree
from regard.errors import ConfigError, did_you_mean
from regard.label_shapes import BagSettings, MeanSettings, ReadingRnnSettings, ReadingStackSettings
from regard.tasks.label_recipe import ClassifyRecipe
from regard.toml import check_part, override

CANDIDATES: dict[str, Tree] = {
    "bag": {"kind": "bag"},
    "bag by naive Bayes and SVM": {"kind": "bag", "judge": "nbsvm"},
    "mean": {"kind": "mean"},
    "rnn": {"kind": "rnn"},
    "transformer": {"kind": "transformer"},
}
FAMILIES = {"bag": "bag", "rnn": "sequence model", "transformer": "sequence model"}
"""What the rule calls them; a mean of vectors is neither."""
SHAPES: dict[str, type[Settings]] = {
    "bag": BagSettings,
    "mean": MeanSettings,
    "rnn": ReadingRnnSettings,
    "transformer": ReadingStackSettings,
}
SECTIONS = ("data", "model", "tokens", "train")
REFUSED = {
    "model.kind": "every kind is tried. Train one alone with: regard train classify TABLE",
    "model.judge": "bags of two judges are tried. Train one alone with: regard train classify "
    "TABLE --set model.kind=bag",
    "data.teachers": "they know all labels already, so that small shares would look too good.",
    "train.steps": "the models share the time that --budget gives, and take as many steps as fit.",
    "train.budget": "give the time for all models with --budget.",
}


def asked_for(sets: Sequence[str]) -> Tree:
    """The settings that hold for all candidates, refused where they can not."""
    given = override({}, sets)
    for section in SECTIONS:
        if not isinstance(given.get(section, {}), dict):
            raise ConfigError(
                f'--set {section}={given[section]}: "{section}" is a section, not a value. Name a '
                f"setting in it, as in {section}.KEY=VALUE."
            )
    for name, why in REFUSED.items():
        section, key = name.split(".")
        if key in given.get(section, {}):
            raise ConfigError(f"{name}: {why}")
    known = {key for shape in SHAPES.values() for key in shape.model_fields}
    for key in given.get("model", {}).keys() - known:
        raise ConfigError(
            f'there is no setting "model.{key}" of any model that is compared.'
            f"{did_you_mean(key, known)}"
        )
    for name in CANDIDATES:
        check_part(ClassifyRecipe, {**settings_for(name, given), "task": "classify"}, "settings")
    return given


def settings_for(name: str, given: Tree) -> Tree:
    """Of what was given, what this candidate has: data are read once for all, and a bag knows
    neither tokens nor steps."""
    model, left = CANDIDATES[name], {"data", "model"}
    kind = model["kind"]
    left |= {"tokens", "train", "keep"} if kind == "bag" else set()
    left |= {"begin"} if kind != "transformer" else set()
    fields = SHAPES[kind].model_fields
    own = {key: value for key, value in given.get("model", {}).items() if key in fields}
    rest = {key: value for key, value in given.items() if key not in left}
    return {**rest, "model": {**own, **model}}


def family_of(name: str) -> str | None:
    return FAMILIES.get(CANDIDATES[name]["kind"])
