"""What most tasks answer to questions that only some of them are asked for."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import Tensor, nn

from regard.config import Tree
from regard.names import Scores


class Usual:
    """A base for tasks: nothing is carried, cut or doubted, nothing more is scored."""

    columns: ClassVar[tuple[str, str]] = ("source", "target")
    face_settings: ClassVar[dict[str, Tree]] = {}
    lent = 0.0

    def carried(self) -> dict[str, Tensor]:
        return {}

    def carry_on(self, tensors: Mapping[str, Tensor]) -> None:
        pass

    def begin(self, network: nn.Module, train: Any) -> None:
        pass

    def cuts(self, batches: Any) -> Tree:
        return {}

    def is_cut(self, text: str) -> bool:
        return False

    def settle(self, network: nn.Module, splits: Any, baselines: Mapping[str, Any]) -> Tree:
        return {}

    def recall(self, facts: Tree) -> None:
        pass

    def last_scores(self, network: nn.Module, splits: Any) -> Scores:
        return {}

    def known(self, baselines: dict[str, Any], inputs: Sequence[str]) -> list[bool]:
        return [False] * len(inputs)

    def answers(self, examples: Any) -> dict[str, list[str]]:
        return {}

    def doubt(self, examples: Any, baselines: Mapping[str, Any]) -> str:
        return ""
