"""The models beside every score of pairs that need no training."""

from collections.abc import Sequence
from pathlib import Path

from regard.data.pairs import Pair
from regard.models.copying import Copying
from regard.models.lead import Lead
from regard.models.nearest import Nearest
from regard.models.predictor import Predictor

BASELINES: dict[str, type[Nearest] | type[Copying]] = {"nearest": Nearest, "copy": Copying}


def fit_baselines(train: Sequence[Pair]) -> dict[str, Predictor]:
    """A first sentence is worth a row of its own only where most sources have a second."""
    pairs = [(pair.source, pair.target) for pair in train]
    found: dict[str, Predictor] = {name: kind.fit(pairs) for name, kind in BASELINES.items()}
    return found | ({"lead": Lead.fit(pairs)} if Lead.differs(pairs) else {})


def load_baselines(folder: Path) -> dict[str, Predictor]:
    found: dict[str, Predictor] = {n: kind.load(folder / n) for n, kind in BASELINES.items()}
    return found | ({"lead": Lead.load(folder / "lead")} if (folder / "lead").exists() else {})
