"""Settings that the recipes of several tasks have in common."""

from typing import Annotated, Any

from pydantic import BeforeValidator


def _three(value: Any) -> Any:
    if isinstance(value, list | tuple) and len(value) == 3:
        return value
    raise ValueError(f"expected three shares in percent, as in [90, 5, 5], found {value!r}.")


Column = Annotated[str | None, BeforeValidator(lambda v: str(v) if type(v) is int else v)]
Shares = Annotated[tuple[float, float, float], BeforeValidator(_three)]


def kind_of(model: Any) -> str:
    """Where nobody says what kind, a Transformer is meant."""
    kind = model.get("kind") if isinstance(model, dict) else getattr(model, "kind", None)
    return "transformer" if kind is None else str(kind)


def require_shares(split: tuple[float, float, float], validation: Any, test: Any) -> None:
    """`validation`, `test`: files of their own, which need no share."""
    if min(split) < 0 or abs(sum(split) - 100) > 1e-6:
        raise ValueError(f"split: the shares must sum to 100, found {list(split)}.")
    if not split[0] or not (split[1] or validation) or not (split[2] or test):
        raise ValueError("split: training, validation and test each need a share above 0.")
