"""Everything a run must remember to go on exactly where it stopped: how far it is, how well it
did, and the random state of every library. The batch follows from the step, so no loader
state exists."""

import platform
import random
from dataclasses import asdict, dataclass, field
from importlib import metadata
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.errors import RunError
from regard.train.divergence import bad_steps, start_loss


@dataclass
class Progress:
    step: int = 0  # optimizer steps done
    tokens: int = 0  # real tokens seen, on all sides
    seconds: float = 0.0  # spent training, over all sittings
    mean_loss: float | None = None  # running mean, for people
    best: float | None = None  # best validation loss
    best_step: int = 0
    without_better: int = 0  # validations since the best one
    validation: dict[str, float] = field(default_factory=dict)  # the last one's scores
    start_loss: float | None = None  # of the untrained network
    bad_steps: int = 0  # steps with a loss far above that: see divergence.py
    calm_step: int = 0  # the last step before they began

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "Progress":
        if missing := sorted(cls().as_json().keys() - state.keys()):
            raise RunError(
                f"the checkpoint says nothing about {', '.join(missing)}: it comes from an older "
                "Regard. Begin a new run from the run's recipe.toml."
            )
        return cls(**state)

    def saw(self, loss: float, tokens: int) -> None:
        self.step, self.tokens = self.step + 1, self.tokens + tokens
        self.mean_loss = loss if self.mean_loss is None else 0.9 * self.mean_loss + 0.1 * loss
        self.start_loss = start_loss(self.start_loss, self.step, loss)
        self.bad_steps = bad_steps(self.bad_steps, loss, self.start_loss)
        self.calm_step = self.calm_step if self.bad_steps else self.step

    def validated(self, scores: dict[str, float]) -> bool:
        """Note the scores; True when they are the best so far."""
        self.validation = scores
        if self.best is None or scores["loss"] < self.best:
            self.best, self.best_step, self.without_better = scores["loss"], self.step, 0
            return True
        self.without_better += 1
        return False


def random_tensors() -> dict[str, Tensor]:
    """The random state of torch (every device), NumPy and Python, as tensors."""
    version, words, gauss = random.getstate()
    _, keys, position, has_gauss, cached = np.random.get_state(legacy=True)
    states = {
        "torch": torch.get_rng_state(),
        "python": torch.tensor([version, *words], dtype=torch.int64),
        "python_gauss": torch.tensor([] if gauss is None else [gauss], dtype=torch.float64),
        "numpy": torch.from_numpy(np.asarray(keys, dtype=np.int64)),
        "numpy_rest": torch.tensor([position, has_gauss, cached], dtype=torch.float64),
    }
    if torch.cuda.is_available():
        states |= {f"cuda{i}": s for i, s in enumerate(torch.cuda.get_rng_state_all())}
    return states


def restore_random(states: dict[str, Tensor]) -> None:
    """Put back what `random_tensors` took out."""
    torch.set_rng_state(states["torch"])
    version, *words = states["python"].tolist()
    gauss = states["python_gauss"].tolist()
    random.setstate((version, tuple(words), gauss[0] if gauss else None))
    position, has_gauss, cached = states["numpy_rest"].tolist()
    keys = states["numpy"].numpy().astype(np.uint32)
    np.random.set_state(("MT19937", keys, int(position), int(has_gauss), cached))
    for name, state in states.items():
        if name.startswith("cuda") and torch.cuda.is_available():
            torch.cuda.set_rng_state(state, int(name[4:]))


def seed_everything(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def environment(device: torch.device) -> dict[str, Any]:
    """What exact resume depends on."""
    return {
        "regard": metadata.version("regard"),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,  # shuffles the batches
        "scikit-learn": metadata.version("scikit-learn"),  # teaches what texts without labels are
        "machine": platform.machine(),
        "cpu": torch.backends.cpu.get_cpu_capability(),  # AVX2 rounds otherwise than AVX512
        "device": device.type,
        "threads": torch.get_num_threads(),
    }
