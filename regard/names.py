"""Small types and names that every room shares.

The first four ids of every tokenizer are special. No text a person types can become one of
them: tokenizers hand out their own pieces from `FIRST_PIECE` on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any

PAD, START, STOP, UNKNOWN = range(4)
SPECIALS = ("<pad>", "<start>", "<stop>", "<unknown>")
FIRST_PIECE = len(SPECIALS)
UNSPACED = (  # letters of scripts without blanks between words: Thai to Khmer, Japanese, Chinese
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003134f"
)

SCORE_TITLES = {
    "token_accuracy": "next tokens right, %",
    "loss": "loss of a token, nats",
    "perplexity": "perplexity of a token",
    "bits_per_byte": "bits per byte",
    "memorised": "continued as in training, %",
    "accuracy": "texts judged right, %",
    "macro_f1": "F1, mean of the classes, %",
    "micro_f1": "F1, all labels together, %",
    "log_loss": "loss of a judgement, nats",
    "calibration_error": "calibration error, %",
    "exact_match": "outputs right, %",
    "per": "PER, pieces wrong, %",
    "wer": "WER, outputs wrong, %",
    "bleu": "BLEU",
    "chrf": "chrF",
    "rouge1": "ROUGE-1, F1",
    "rouge2": "ROUGE-2, F1",
    "rougeL": "ROUGE-L, F1",
    "distinct1": "distinct-1, different words, %",
    "distinct2": "distinct-2, different pairs of words, %",
}
REMARKS = {  # counts in the result of an evaluation that a reader of its scores must know
    "too_long": "inputs are empty or too long: counted as wrong",
    "cut_outputs": "outputs were cut at their greatest length (decode.max_length)",
    "unknown_targets": "examples want an output with pieces that the model can not write",
    "not_measured": "examples are empty or too long to count the next tokens that are right",
    "unknown_tokens": "tokens were never met in training: to guess one of them is too easy",
    "cut_texts": "texts are longer than the model takes: only {kept} were read",
    "unknown_labels": "texts have a label that was never trained on: counted as wrong",
    "unknown_inputs": "inputs hold pieces that the model has never met",
    "in_training": "inputs were among the training inputs: the scores flatter the model",
    "may_be_in_training": "text, which this run may have been trained on: it has not kept of what",
    "skipped_rows": "rows or files could not be used and were left out",
}
LEFT_OUT = {  # counts in what run.json says about the data
    "left_out_of_training": "training examples, empty or longer than the model takes",
    "overlapping": "training examples that a validation or test file holds too",
    "skipped_rows": "rows or files that could not be used",
}
CUT = {  # in what run.json says about the data
    "cut_texts": f"training {REMARKS['cut_texts']}",
    "given_none": "texts without labels were given none of several: nothing is learned from them",
}
KEEPS = {"head": "the beginning", "tail": "the end", "both": "half of it from each end"}
KEPT = {"head": "their beginnings", "tail": "their ends", "both": "both ends of each"}
FILES = (
    "path",
    "validation",
    "test",
    "unlabelled",
    "teachers",
)  # what a data section names: places


@dataclass(frozen=True, slots=True)
class Score:
    """One number, how sure we are of it, and how it was computed. Rates are in percent."""

    value: float
    low: float
    high: float
    signature: str

    def __str__(self) -> str:
        return interval(asdict(self))


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
    finished: bool = True
    """False where only the greatest length of an output ended it."""
    cut: bool = False
    """True where the input was longer than the model takes, so that a part of it was not read."""
    probabilities: Mapping[str, float] | None = None
    """Of every label, where the output is one of them."""
    labels: tuple[str, ...] | None = None
    """Those that are given, where there may be several: the output has them in one line."""

    def as_json(self) -> dict[str, Any]:
        known: dict[str, Any] = {"input": self.input, "output": self.output, "score": self.score}
        if self.unknown:
            known["unknown"] = list(self.unknown)
        if self.others:
            known["others"] = [{"output": o.output, "score": o.score} for o in self.others]
        if self.problem:
            known["problem"] = self.problem
        if not self.finished:
            known["finished"] = False
        if self.cut:
            known["cut"] = True
        if self.probabilities is not None:
            known |= {"label": self.output, "probabilities": dict(self.probabilities)}
        if self.labels is not None:
            known["labels"] = list(self.labels)
        return known


# How a run is told, in a terminal, on its card and on its page


def compared(test: Mapping[str, Any]) -> list[dict[str, Any]]:
    """{"name", "scores"} of the model, then of every baseline, in the result of an evaluation."""
    return [{"name": "this model", "scores": test["scores"]}, *test["baselines"]]


def interval(score: Mapping[str, Any]) -> str:
    """
    >>> interval({"value": 7, "low": 6.5, "high": 8}), interval({})
    ('7.00 (6.50 to 8.00)', '-')
    """
    if score.get("value") is None:
        return "-"
    return f"{score['value']:.2f} ({score['low']:.2f} to {score['high']:.2f})"


def counted(counts: Mapping[str, Any], meanings: Mapping[str, str]) -> list[str]:
    """What there is any of, in words.

    >>> counted({"skipped_rows": 1200, "overlapping": 0}, LEFT_OUT)
    ['1,200 rows or files that could not be used']
    >>> counted({"cut_texts": 7, "kept": "tail"}, REMARKS)
    ['7 texts are longer than the model takes: only their ends were read']
    """
    kept = KEPT.get(counts.get("kept", ""), "parts of them")
    found = {key: what.format(kept=kept) for key, what in meanings.items() if counts.get(key)}
    return [f"{counts[key]:,} {what}" for key, what in found.items()]


def written(value: Any) -> str:
    """A setting as people write it.

    >>> written(90.0), written(121354), written(True), written(["a", "b"])
    ('90', '121,354', 'true', 'a, b')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(map(written, value)) if isinstance(value, list | tuple) else str(value)


def without_folders(data: Mapping[str, Any]) -> dict[str, Any]:
    """What is set in a data section, files by their names alone: what is told about a run may
    travel, its folders do not.

    >>> without_folders({"path": "/home/ann/pairs.tsv", "test": None, "source": "en"})
    {'path': ['pairs.tsv'], 'source': 'en'}
    """
    found = {key: value for key, value in data.items() if value is not None}
    return {key: _names(value) if key in FILES else value for key, value in found.items()}


def _names(paths: str | Sequence[str]) -> list[str]:
    return [PurePath(path).name for path in ([paths] if isinstance(paths, str) else paths)]
