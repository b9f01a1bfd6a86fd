"""Texts that are longer than a network takes: which end is kept."""


def cut(ids: list[int], longest: int, keep: str) -> list[int]:
    """
    >>> [cut([1, 2, 3, 4, 5], 3, keep) for keep in ("head", "tail", "both")]
    [[1, 2, 3], [3, 4, 5], [1, 2, 5]]
    """
    if len(ids) <= longest:
        return ids
    if keep == "head":
        return ids[:longest]
    if keep == "tail":
        return ids[len(ids) - longest :]
    first = -(-longest // 2)
    return ids[:first] + ids[len(ids) - (longest - first) :]
