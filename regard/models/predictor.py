"""What tasks and runs see of anything that learned: a network or a count model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from regard.names import Prediction


class Predictor(Protocol):
    """Answers inputs, and can be saved.

    Making one is not part of the protocol, since networks and count models need different
    things for it. By convention a count model has the class methods

        fit(pairs) -> Self      learn from (source, target) pairs, in one go
        load(folder) -> Self    what `save(folder)` wrote; it answers exactly as the one saved
    """

    @property
    def name(self) -> str:
        """What tables and charts call it, in words."""
        ...

    def predict(self, inputs: Sequence[str]) -> list[Prediction]:
        """One answer for each input, in the same order; no answer depends on the other inputs."""
        ...

    def save(self, folder: Path) -> None:
        """Write everything `load` needs into `folder`, and make the folder where it is missing."""
        ...
