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
    "token_accuracy": "next tokens right, %",
    "exact_match": "outputs right, %",
    "per": "PER, pieces wrong, %",
    "wer": "WER, outputs wrong, %",
    "bleu": "BLEU",
    "chrf": "chrF",
    "rouge1": "ROUGE-1, F1",
    "rouge2": "ROUGE-2, F1",
    "rougeL": "ROUGE-L, F1",
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
    unknown: tuple[str, ...] = ()
    """Pieces of the input that the model has never met, so it could not tell them apart."""
    others: tuple["Prediction", ...] = ()
    """The next best outputs, or further samples, when more than one was asked for."""
    problem: str = ""
    """Why there is no output, where the model could not take the input."""

    def as_json(self) -> dict[str, Any]:
        known: dict[str, Any] = {"input": self.input, "output": self.output, "score": self.score}
        if self.unknown:
            known["unknown"] = list(self.unknown)
        if self.others:
            known["others"] = [{"output": o.output, "score": o.score} for o in self.others]
        if self.problem:
            known["problem"] = self.problem
        return known
