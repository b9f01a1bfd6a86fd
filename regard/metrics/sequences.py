"""How much do two sequences share? Both answers come from a table with a row for each piece of
one sequence and a column for each of the other. Neighbouring cells differ by at most one, so a
whole row fits into the bits of an integer, and a few operations on it make the next.
"""

from collections.abc import Hashable, Sequence


def edit_distance(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Fewest insertions, deletions and substitutions that turn `a` into `b` (Levenshtein 1966),
    by the bits of Myers 1999 as Hyyrö 2003 writes them.

    >>> edit_distance("kitten", "sitting")
    3
    """
    rows, columns = sorted((a, b), key=len)
    if not rows:
        return len(columns)
    places, every, last = _places(columns), (1 << len(columns)) - 1, 1 << (len(columns) - 1)
    # Bit j tells how cell j differs: from the one to its left (more, less) and, in the loop,
    # from the one above (grown, shrunk).
    more, less, distance = every, 0, len(columns)
    for piece in rows:
        match = places.get(piece, 0)
        same = (((match & more) + more) ^ more) | match | less  # equals the cell up and left
        grown = less | (~(same | more) & every)
        shrunk = more & same
        distance += bool(grown & last) - bool(shrunk & last)
        grown, shrunk = (grown << 1) | 1, shrunk << 1  # the cell before the first always grows
        more = (shrunk | ~(same | grown)) & every
        less = grown & same & every
    return distance


def common_subsequence(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Length of the longest sequence that both hold in order, gaps allowed (Hyyrö 2004).

    >>> common_subsequence("kitten", "sitting")
    4
    """
    rows, columns = sorted((a, b), key=len)
    places, every = _places(columns), (1 << len(columns)) - 1
    flat = every  # bit j: cell j is no more than the one to its left
    for piece in rows:
        match = flat & places.get(piece, 0)
        flat = ((flat + match) | (flat - match)) & every
    return len(columns) - flat.bit_count()


def _places(pieces: Sequence[Hashable]) -> dict[Hashable, int]:
    """Where each piece stands, as bits: 'aba' -> {'a': 0b101, 'b': 0b010}."""
    places: dict[Hashable, int] = {}
    for i, piece in enumerate(pieces):
        places[piece] = places.get(piece, 0) | (1 << i)
    return places
