"""The state of a recurrent network, carried from one step of training to the next.

Each stream of the text has its own, whatever row of whatever piece it is in: so any cut of a batch,
and a resumed run, go on from the same.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from regard.tasks.windows import Window


class Carried:
    def __init__(self, tensors: Mapping[str, Tensor] | None = None) -> None:
        """`tensors`: what `as_tensors` gave."""
        self._states: dict[int, dict[int, Tensor]] = {}  # stream -> its parts, each (layers, W)
        for name, tensor in (tensors or {}).items():
            stream, number = map(int, name.split("."))
            self._states.setdefault(stream, {})[number] = tensor

    def as_tensors(self) -> dict[str, Tensor]:
        return {
            f"{stream}.{number}": part.contiguous()
            for stream, parts in self._states.items()
            for number, part in parts.items()
        }

    def before(self, batch: Sequence[Window], device: torch.device) -> Any:
        """The state that these windows begin with; None for an empty one. What a checkpoint held
        is not on the device yet."""
        if all(window.fresh for window in batch):
            return None
        states = [self._states[window.stream or 0] for window in batch]
        parts = [
            torch.stack([one[n].to(device) for one in states], dim=1) for n in sorted(states[0])
        ]
        return tuple(parts) if len(parts) > 1 else parts[0]

    def after(self, batch: Sequence[Window], state: Any) -> None:
        """Keep what these windows ended with, without the way back to how it came about."""
        parts = state if isinstance(state, tuple) else (state,)
        for row, window in enumerate(batch):
            if window.stream is not None:
                kept = {n: part[:, row].detach() for n, part in enumerate(parts)}
                self._states[window.stream] = kept
