"""Error rates of outputs that are sequences of pieces, such as phonemes or words.

An example may have several references (a word with two pronunciations): an output is judged
by the one it is closest to. Pieces are what blanks separate, so extra blanks never count.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from regard.metrics.bootstrap import Tally, percent
from regard.metrics.metric import Metric, Outputs, References
from regard.metrics.sequences import edit_distance


def best_reference(
    output: Sequence[Hashable], references: Sequence[Sequence[Hashable]]
) -> tuple[int, int]:
    """(edits, length) of the reference that needs the fewest edits; of equals, the longest.

    >>> best_reference("cat", ["cart", "at", "dog"])
    (1, 4)
    """
    found = ((edit_distance(output, reference), -len(reference)) for reference in references)
    edits, length = min(found)
    return edits, -length


@Metric
def piece_error_rate(outputs: Outputs, references: References) -> Tally:
    """Edits per piece of the chosen references, over all examples, in percent.

    >>> piece_error_rate(["K AE T"], [["K AE T S", "K AA T S"]]).value
    25.0
    """
    rows = np.array(_judge(outputs, references), float)  # edits, pieces
    return Tally(rows, percent, "per|pieces:blank-separated|references:best-of-all")


@Metric
def whole_error_rate(outputs: Outputs, references: References) -> Tally:
    """The share of outputs that equal none of their references piece by piece, in percent.

    >>> whole_error_rate(["K AE T", "D AO G"], [["K AE T"], ["D AA G"]]).value
    50.0
    """
    rows = np.array([(edits > 0, 1) for edits, _ in _judge(outputs, references)], float)
    return Tally(rows, percent, "wer|wrong:any-piece|references:best-of-all")


def _judge(outputs: Outputs, references: References) -> list[tuple[int, int]]:
    """(edits, length of the chosen reference) of every example."""
    return [
        best_reference(output.split(), [reference.split() for reference in known])
        for output, known in zip(outputs, references, strict=True)
    ]
