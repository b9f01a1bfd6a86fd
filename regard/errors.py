"""Every error Regard raises on purpose.

    RegardError
      ConfigError      a recipe, an option or a setting says something impossible
      DataError        a file does not hold what its reader expects
      TextError        a string or an id that a tokenizer can not turn into the other
      ShapeError       tensors that should line up do not
      RunError         a run folder is broken, foreign, newer than us, or in use
      TrainingError    the numbers went wrong: NaN, infinity, divergence

Each message answers three questions: what is wrong, what we saw, what to do next.
`exit_code` is what the command line ends with: 2 for a mistake a person can mend,
3 for a training failure. (1 is kept for a check that ran and failed.)
"""

from collections.abc import Iterable
from difflib import get_close_matches


class RegardError(Exception):
    """Base class: `except RegardError` catches all of the above, and nothing else."""

    exit_code = 2


class ConfigError(RegardError):
    """A recipe, an option or a setting says something impossible."""


class DataError(RegardError):
    """A file does not hold what its reader expects."""


class TextError(RegardError):
    """A string or an id that a tokenizer can not turn into the other."""


class ShapeError(RegardError):
    """Tensors that should line up do not."""


class RunError(RegardError):
    """A run folder is broken, foreign, newer than us, or in use."""


class TrainingError(RegardError):
    """The numbers went wrong: NaN, infinity, divergence."""

    exit_code = 3


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """' Did you mean "layers"?' when something in `known` is close, else the whole list.

    >>> did_you_mean("layer", ["layers", "width"])
    ' Did you mean "layers"?'
    >>> did_you_mean("zzz", ["width", "layers"])
    ' Known: layers, width.'
    """
    choices = sorted(known)
    close = get_close_matches(word, choices, n=1)
    return f' Did you mean "{close[0]}"?' if close else f" Known: {', '.join(choices)}."
