"""Small types and names that every room shares.

The first four ids of every tokenizer are special. No text a person types can become one of
them: tokenizers hand out their own pieces from `FIRST_PIECE` on.
"""

from dataclasses import dataclass
from typing import Any

PAD, START, STOP, UNKNOWN = range(4)
SPECIALS = ("<pad>", "<start>", "<stop>", "<unknown>")
FIRST_PIECE = len(SPECIALS)

SCORE_TITLES = {
    "per": "PER, pieces wrong, %",
    "wer": "WER, outputs wrong, %",
}


@dataclass(frozen=True, slots=True)
class Score:
    """One number, how sure we are of it, and how it was computed. Rates are in percent."""

    value: float
    low: float
    high: float
    signature: str

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


Scores = dict[str, Score]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model answered. `score` is its log-probability; None where it has none."""

    input: str
    output: str
    score: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {"input": self.input, "output": self.output, "score": self.score}
