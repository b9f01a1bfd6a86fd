"""How a word is spelled, as numbers: the runs of letters it is made of, each found by a hash, so
that words that were never met share some with words that were (Bojanowski et al. 2017)."""

from functools import lru_cache
from zlib import crc32

SHORTEST, LONGEST = 3, 6  # letters of a run, the marks < and > around the word counted
LOOKED_AT = 40  # letters of a word: what is longer is no word


@lru_cache(maxsize=100_000)
def parts_of(word: str, rows: int) -> tuple[int, ...]:
    """Numbers from 1 to `rows` of the runs in <word>, sorted, each once.

    >>> len(parts_of("cat", 1000))  # <ca, cat, at>, <cat, cat>, <cat>
    6
    >>> len({*parts_of("cat", 1000)} & {*parts_of("cats", 1000)})  # <ca, cat, <cat
    3
    """
    marked = f"<{word[:LOOKED_AT]}>"
    runs = {
        marked[start : start + length]
        for length in range(SHORTEST, LONGEST + 1)
        for start in range(len(marked) - length + 1)
    }
    return tuple(sorted({1 + crc32(run.encode("utf-8", "surrogatepass")) % rows for run in runs}))
