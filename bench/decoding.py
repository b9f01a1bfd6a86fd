"""How the time to write an output grows with its length, the source staying the same.

A cache keeps what was computed for the tokens already written, so each new one costs about the
same: twice as long an output should take about twice as long. Without a cache it would be four
times, as a second look by the same network shows, which reads all of its output again for each
token. A beam moves its caches about at each step, which costs more the longer they are.
"""

import time
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch

from regard.config import DecodeSettings, Tree
from regard.decode.search import decode
from regard.models.encoder import Source
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.seq2seq import Seq2Seq
from regard.names import START, STOP
from regard.reproduce.record import record
from regard.shapes import Seq2SeqSettings, TransformerSettings
from regard.train.state import environment

LENGTHS = (32, 64, 128, 256, 512)
READ = 32  # tokens of the source
ROWS = 8
TIMES = 3
VOCABULARY = 4000
SHAPES: dict[str, Any] = {
    "transformer, 3 + 3 layers of width 256": TransformerSettings(
        width=256, heads=4, encoder_layers=3, decoder_layers=3, max_length=1024
    ),
    "the same, and it may copy": TransformerSettings(
        width=256, heads=4, encoder_layers=3, decoder_layers=3, max_length=1024, copying=True
    ),
    "additive GRU of width 256": Seq2SeqSettings(width=256, max_length=1024),
}


class Endless:
    """A network that never writes STOP."""

    def __init__(self, network: Any) -> None:
        self.start, self.reorder, self._step = network.start, network.reorder, network.step

    def step(self, state: Any, tokens: torch.Tensor) -> tuple[torch.Tensor, Any]:
        log_probs, state = self._step(state, tokens)
        return without_stop(log_probs), state


def without_stop(scores: torch.Tensor) -> torch.Tensor:
    return scores.index_fill(1, torch.tensor([STOP]), -torch.inf)


def cached(network: Any, source: Source, length: int, beam: int = 1) -> None:
    settings = DecodeSettings(beam=beam, max_length=length)
    outputs = decode(Endless(network), source, ROWS, settings)
    assert all(len(output.tokens) == length for output in outputs)


beams_of_five = partial(cached, beam=5)


@torch.no_grad()
def uncached(network: Any, source: Source, length: int) -> None:
    tokens = torch.full((ROWS, 1), START)
    for _ in range(length):
        newest = without_stop(network(source, tokens)[:, -1]).argmax(dim=-1)
        tokens = torch.cat([tokens, newest[:, None]], dim=1)


HOW = {cached: "cached", beams_of_five: "a beam of 5", uncached: "without a cache"}


def seconds(write: Any, network: Any, source: Source, length: int) -> list[float]:
    write(network, source, 8)  # warm
    found = []
    for _ in range(TIMES):
        clock = time.perf_counter()
        write(network, source, length)
        found.append(time.perf_counter() - clock)
    return found


def measured(name: str, write: Any, lengths: tuple[int, ...]) -> Tree:
    torch.manual_seed(0)
    shape = SHAPES[name]
    kind = EncoderDecoder if shape.kind == "transformer" else Seq2Seq
    network = kind(shape, None, VOCABULARY).eval()
    source = Source.of(
        [[4 + (i * 7 + row) % 90 for i in range(READ)] for row in range(ROWS)], "cpu"
    )
    times = {length: seconds(write, network, source, length) for length in lengths}
    means = [mean(times[length]) for length in lengths]
    growth = [later / earlier for earlier, later in zip(means, means[1:], strict=False)]
    return {
        "model": f"{name}, {HOW[write]}",
        "split": f"{ROWS} rows, sources of {READ} tokens",
        "seconds_by_length": {
            str(length): {"mean": round(mean(found), 4), "spread": round(stdev(found), 4)}
            for length, found in times.items()
        },
        "times_for_twice_the_length": [round(ratio, 2) for ratio in growth],
        "scores": {},
    }


def main() -> None:
    clock = time.perf_counter()
    results = [measured(name, cached, LENGTHS) for name in SHAPES]
    first = next(iter(SHAPES))
    results += [measured(first, beams_of_five, LENGTHS), measured(first, uncached, LENGTHS[:3])]
    path = record(
        Path("bench/results"),
        "decoding",
        "python -m bench.decoding",
        environment(torch.device("cpu")),
        seconds=round(time.perf_counter() - clock, 1),
        results=results,
    )
    for row in results:
        print(row["model"], row["times_for_twice_the_length"])
    print(f"Written to {path}.")


if __name__ == "__main__":
    main()
