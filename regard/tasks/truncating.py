"""Texts that are longer than a network takes: which end is kept."""

from typing import TypeVar

Token = TypeVar("Token")


def cut(tokens: list[Token], longest: int, keep: str) -> list[Token]:
    """
    >>> [cut([1, 2, 3, 4, 5], 3, keep) for keep in ("head", "tail", "both")]
    [[1, 2, 3], [3, 4, 5], [1, 2, 5]]
    """
    if len(tokens) <= longest:
        return tokens
    if keep == "head":
        return tokens[:longest]
    if keep == "tail":
        return tokens[len(tokens) - longest :]
    first = -(-longest // 2)
    return tokens[:first] + tokens[len(tokens) - (longest - first) :]
