"""The optimizer, and its state as plain named tensors, which safetensors can hold."""

from torch import Tensor, nn

from regard.config import TrainSettings
from regard.errors import RunError
from regard.train.adamw import AdamW
from regard.train.muon import Muon


def make_optimizer(network: nn.Module, settings: TrainSettings) -> AdamW:
    """Weight decay pulls on matrices only; biases and norm scales are left alone. Muon takes the
    matrices that multiply; tables, which are looked up, stay with AdamW."""
    multiply, tables = (
        {id(m.weight) for m in network.modules() if isinstance(m, kind)}
        for kind in (nn.Linear, nn.Embedding)
    )
    multiply -= tables  # where scores are made with the table of tokens
    matrices = [p for p in network.parameters() if id(p) in multiply]
    looked_up = [p for p in network.parameters() if p.dim() > 1 and id(p) not in multiply]
    vectors = [p for p in network.parameters() if p.dim() <= 1]
    groups = [
        {"params": matrices, "weight_decay": settings.weight_decay, "orthogonal": True},
        {"params": looked_up, "weight_decay": settings.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    kind = {"adamw": AdamW, "muon": Muon}[settings.optimizer]
    return kind(groups, lr=settings.rate, betas=(0.9, settings.beta2))


def optimizer_tensors(network: nn.Module, optimizer: AdamW) -> dict[str, Tensor]:
    """{"encoder.norm.weight/exp_avg": tensor, ...}"""
    return {
        f"{name}/{key}": value.detach()
        for name, parameter in network.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def load_optimizer_tensors(
    network: nn.Module, optimizer: AdamW, tensors: dict[str, Tensor]
) -> None:
    """Put back what `optimizer_tensors` took out."""
    parameters = dict(network.named_parameters())
    for full_name, value in tensors.items():
        name, _, key = full_name.rpartition("/")
        if name not in parameters:
            raise RunError(f'the checkpoint has optimizer state for "{name}", the network has not.')
        optimizer.state[parameters[name]][key] = value.clone().to(parameters[name].device)
    _refuse_another_kind(network, optimizer)


def _refuse_another_kind(network: nn.Module, optimizer: AdamW) -> None:
    """What one optimizer remembers is nothing to another, which would go on without a word."""
    orthogonal = {
        p for group in optimizer.param_groups if group.get("orthogonal") for p in group["params"]
    }
    for name, parameter in network.named_parameters():
        by_muon = isinstance(optimizer, Muon) and parameter in orthogonal
        wanted = {"momentum"} if by_muon else {"step", "exp_avg", "exp_avg_sq"}
        found = optimizer.state.get(parameter, {}).keys()
        if found and found != wanted:
            raise RunError(
                f'the checkpoint keeps {", ".join(sorted(found))} of "{name}", this optimizer '
                f"{', '.join(sorted(wanted))}: was train.optimizer changed in recipe.toml? Put the "
                "old one back, or begin a new run."
            )
