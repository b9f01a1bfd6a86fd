"""Error rates of outputs that are sequences of pieces, such as phonemes or words.

An example may have several references (a word with two pronunciations): an output is judged
by the one it is closest to. Pieces are what blanks separate, so extra blanks never count.
"""

from collections.abc import Sequence

from regard.errors import DataError
from regard.metrics.bootstrap import SAMPLES, SEED, ratio_interval
from regard.names import Score


def edit_distance(a: Sequence[object], b: Sequence[object]) -> int:
    """Fewest insertions, deletions and substitutions that turn `a` into `b` (Levenshtein 1966).

    >>> edit_distance("kitten", "sitting")
    3
    """
    row = list(range(len(b) + 1))  # distances from nothing to each beginning of b
    for i, x in enumerate(a, start=1):
        diagonal, left = i - 1, i
        row[0] = i
        for j, y in enumerate(b, start=1):
            above = row[j]
            if x != y:  # change x to y, insert y or delete x
                diagonal = 1 + min(diagonal, left, above)
            row[j] = left = diagonal
            diagonal = above
    return row[-1]


def best_reference(
    output: Sequence[object], references: Sequence[Sequence[object]]
) -> tuple[int, int]:
    """(edits, length) of the reference that needs the fewest edits; of equals, the longest.

    >>> best_reference("cat", ["cart", "at", "dog"])
    (1, 4)
    """
    found = ((edit_distance(output, reference), -len(reference)) for reference in references)
    edits, length = min(found)
    return edits, -length


def piece_error_rate(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
    """Edits per piece of the chosen references, over all examples, in percent.

    >>> piece_error_rate(["K AE T"], [["K AE T S", "K AA T S"]]).value
    25.0
    """
    judged = _judge(outputs, references)
    edits, lengths = [e for e, _ in judged], [length for _, length in judged]
    return _percent(edits, lengths, "per|pieces:blank-separated|references:best-of-all")


def whole_error_rate(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Score:
    """The share of outputs that equal none of their references piece by piece, in percent.

    >>> whole_error_rate(["K AE T", "D AO G"], [["K AE T"], ["D AA G"]]).value
    50.0
    """
    wrong = [int(edits > 0) for edits, _ in _judge(outputs, references)]
    return _percent(wrong, [1] * len(wrong), "wer|wrong:any-piece|references:best-of-all")


def _judge(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """(edits, length of the chosen reference) of every example."""
    if not outputs:
        raise DataError("nothing to score: there is no output. Is the file or the split empty?")
    if len(outputs) != len(references):
        raise DataError(
            "outputs and references do not line up: expected a list of references for each "
            f"output, found {len(outputs)} outputs and {len(references)} lists."
        )
    for number, known in enumerate(references, start=1):
        if isinstance(known, str) or not known:
            raise DataError(
                f"nothing to score example {number} against: expected a list of at least one "
                f"reference, found {known!r}."
            )
    return [
        best_reference(output.split(), [reference.split() for reference in known])
        for output, known in zip(outputs, references, strict=True)
    ]


def _percent(numerators: list[int], denominators: list[int], signature: str) -> Score:
    low, high = ratio_interval(numerators, denominators, samples=SAMPLES, seed=SEED)
    value = sum(numerators) / (sum(denominators) or 1)  # as the interval does it
    return Score(
        value=100 * value,
        low=100 * low,
        high=100 * high,
        signature=f"{signature}|n:{len(numerators)}|bootstrap:{SAMPLES}|seed:{SEED}",
    )
