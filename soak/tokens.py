"""C5, C6, C7: any string at all goes through every tokenizer, or is refused by our own error; the
bytes come back as they went; and a long text takes no longer than it is long.

The strings go through child processes (tokenizing.py), so that one which dies is a loss and not
the end. C5 and C7 look at the same children, which run once for both.

C6 is about time, and time is judged in the full form only (growing.py). The short form makes the
same texts small, and sees that the work ends with the right ids.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from regard.text import TOKENIZERS
from regard.text.tokenizer import MARKS
from soak import growing
from soak.campaign import Campaign, Outcome

HERE = Path(__file__).parent
PROCESSES = 2
IN_A_CHILD = 10_000  # strings
ALONE = {
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    # Freed memory is kept, as in a training. Otherwise blocks above a certain size are handed out
    # page by page by the kernel, each time anew: a step in the times that looks like growth.
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": "2147483647",
    "MALLOC_TOP_PAD_": "67108864",
}


def child(script: str, *args: object) -> subprocess.CompletedProcess[str]:
    """A script beside this file in a process of its own. It is run by its path, so that this
    package, and torch with it, is not imported there."""
    places = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, str(HERE / script), *map(str, args)],
        env={**os.environ, **ALONE, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def children(script: str, calls: Iterable[Sequence[object]]) -> list[Any]:
    """What they printed, each JSON line; a text in its place where the child came to grief."""
    with ThreadPoolExecutor(PROCESSES) as pool:
        ended = pool.map(lambda args: (args, child(script, *args)), calls)
        found: list[Any] = []
        for args, result in ended:
            found += [json.loads(line) for line in result.stdout.splitlines()]
            if result.returncode:
                command = f"python soak/{script} {' '.join(map(str, args))}"
                last = (result.stderr.strip().splitlines() or ["without a word"])[-1]
                found.append(f"{command} ended with {result.returncode}: {last[:300]}")
        return found


# C5 and C7


@lru_cache(maxsize=1)
def through_tokenizers(count: int, seed: int) -> list[Any]:
    """The findings of children that made `count` strings together."""
    sizes = [min(IN_A_CHILD, count - start) for start in range(0, count, IN_A_CHILD)]
    return children("tokenizing.py", [(seed + n, size) for n, size in enumerate(sizes)])


def survive_strings(cases: int, dice: random.Random, folder: Path) -> Outcome:
    outcome = Outcome()
    refused = panics = 0
    for found in through_tokenizers(cases, dice.getrandbits(32)):
        if isinstance(found, str):
            outcome.saw(False, found)
            continue
        outcome.cases += found["strings"]
        outcome.losses += found["losses"]
        refused, panics = refused + found["refused"], panics + found["panics"]
    if outcome.cases and not (refused and panics):
        outcome.losses.append("no half character was refused, or no panic met: the trial is void")
    outcome.notes.append(
        f"each string through {2 * len(TOKENIZERS)} tokenizers; half characters refused "
        f"{refused:,} times; {panics:,} real panics of the library became our own error"
    )
    return outcome


def come_back(cases: int, dice: random.Random, folder: Path) -> Outcome:
    outcome = Outcome()
    for found in through_tokenizers(cases, dice.getrandbits(32)):
        if isinstance(found, str):
            outcome.saw(False, found)
            continue
        outcome.cases += found["round_trips"]
        outcome.losses += found["lossy"]
    outcome.notes.append("half of them through a tokenizer that folds capitals, as it says")
    return outcome


# C6


def take_no_longer(cases: int, dice: random.Random, folder: Path) -> Outcome:
    outcome = Outcome()
    every = list(product(growing.WORKS, TOKENIZERS, growing.NAMES))
    if cases == len(every):
        _measure(outcome)
        return outcome
    for work, kind, name in dice.sample(every, cases):
        text = growing.text_of(name, 3000)
        growing.work_of(work, kind, text)()
        tokenizer = growing.fitted(kind, False, [text, "b"])
        ids = tokenizer.ids(text)
        held = tokenizer.encode(text).ids == ids and not tokenizer.unknown(text)
        held = held and tokenizer.decode(ids) == _back(kind, text)
        outcome.saw(held, f"{work} with {kind}: 3000 bytes of {name} have other ids alone")
    return outcome


def _back(kind: str, text: str) -> str:
    """What a text becomes that is cut and put together again."""
    if kind == "wordpunct":
        text = "".join(f" {one} " if one in MARKS else one for one in text)
    return " ".join(text.split()) if kind.startswith("word") else text


def _measure(outcome: Outcome) -> None:
    worst, looked_again = (0.0, "nothing"), 0
    for found in children("growing.py", [(kind,) for kind in TOKENIZERS]):
        if isinstance(found, str):
            outcome.saw(False, found)
            continue
        ratio = min(found["ratios"])
        what = f"{found['kind']} {found['work']} {found['text']}"
        worst, looked_again = max(worst, (ratio, what)), looked_again + (len(found["ratios"]) > 1)
        outcome.saw(
            ratio <= growing.ALLOWED,
            f"{what}: each doubling took {' '.join(f'{r:.2f}' for r in found['ratios'])} times. "
            f"Again: {' '.join(f'{k}={v}' for k, v in ALONE.items())} "
            f"python soak/growing.py {found['kind']}",
        )
    outcome.notes.append(
        f"the worst: {worst[1]}, {worst[0]:.2f} times as long for twice the text; {looked_again} "
        f"took more than {growing.ALLOWED} from half a megabyte to one, and not beyond"
    )


CAMPAIGNS: tuple[Campaign, ...] = (
    Campaign(
        name="C5",
        promise="any string goes through every tokenizer, or meets our own error; none dies",
        full=1_000_000,
        short=400,
        run=survive_strings,
    ),
    Campaign(
        name="C6",
        promise=f"twice the text takes a tokenizer at most {growing.ALLOWED} times as long",
        full=len(growing.WORKS) * len(TOKENIZERS) * len(growing.NAMES),
        short=40,
        run=take_no_longer,
    ),
    Campaign(
        name="C7",
        promise="what a tokenizer of bytes encodes, it decodes to the very same text",
        full=1_000_000,
        short=400,
        run=come_back,
    ),
)
