"""What hostile files hold. Some would run code if anyone unpickled, evaluated or imported them;
others are shaped to crash, hang or mislead a reader. Where they are put: see planting.py."""

import io
import json
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save

Tensors = dict[str, torch.Tensor]
DEEP = b"[" * 100_000
DEEP_TABLE = b'{"a":' * 100_000


# Bombs: bytes that make a file, should anyone run them


class Bomb:
    def __init__(self, canary: Path) -> None:
        self.code = f"open({str(canary)!r}, 'w').close()"

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (self.code,)


def pickled(canary: Path) -> bytes:
    return pickle.dumps(Bomb(canary))


def zipped(canary: Path, **options: Any) -> bytes:
    """As torch.save writes it."""
    buffer = io.BytesIO()
    torch.save({"w": Bomb(canary)}, buffer, **options)
    return buffer.getvalue()


def objects(canary: Path) -> bytes:
    """As numpy writes an array of objects."""
    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb(canary)], dtype=object), allow_pickle=True)
    return buffer.getvalue()


def source(canary: Path) -> bytes:
    return f"__import__('os').system('touch {canary}')\n".encode()


BOMBS = {
    "a pickle": pickled,
    "a torch archive": zipped,
    "an old torch file": lambda canary: zipped(canary, _use_new_zipfile_serialization=False),
    "an array of objects": objects,
    "a program": source,
}


# Tensor files that are none, or whose tensors no training wrote


def header(table: Any, body: bytes = b"", length: int | None = None) -> bytes:
    text = table if isinstance(table, bytes) else json.dumps(table).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + body


def entry(dtype: str, shape: list[int], start: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


SHAPES = {
    "nothing at all": b"",
    "a header without end": header(b"{}", length=2**63 - 1),
    "a header longer than the file": header(b"{}", length=99_999),
    "a header nested deeply": header(DEEP),
    "tensors that overlap": header(
        {"a": entry("F32", [8], 0, 32), "b": entry("F32", [12], 16, 64)}, bytes(64)
    ),
    "a tensor beyond the end": header({"a": entry("F32", [8], 0, 32)}, bytes(8)),
    "a size that overflows": header({"a": entry("F32", [2**62, 4], 0, 64)}, bytes(64)),
    "a size no tensor has": header({"a": entry("F32", [0, 2**64 - 1], 0, 0)}),
    "a type torch has not": header({"a": entry("F4", [128], 0, 64)}, bytes(64)),
    "a type nobody has": header({"a": entry("pickle", [64], 0, 64)}, bytes(64)),
    "no tensor": save({}),
    "tensors of a stranger": save({"__class__": torch.zeros(3)}),
}


def changed(file: bytes, change: Callable[[Tensors], object]) -> bytes:
    tensors = load(file)
    change(tensors)
    return save(tensors)


def all_of(make: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[bytes], bytes]:
    return lambda file: save({name: make(t).contiguous() for name, t in load(file).items()})


def put(**tensors: torch.Tensor) -> Callable[[bytes], bytes]:
    return lambda file: changed(file, lambda found: found.update(tensors))


def without(end: str) -> Callable[[bytes], bytes]:
    return lambda file: save({n: t for n, t in load(file).items() if not n.endswith(end)})


WEIGHTS = {
    "weights that are not numbers": all_of(lambda t: t * float("nan")),
    "weights of one bit": all_of(lambda t: t > 0),
    "complex weights": all_of(lambda t: t.to(torch.complex64)),
    "weights of eight bits": all_of(lambda t: (t * float("nan")).to(torch.float8_e4m3fn)),
    "weights of another shape": all_of(lambda t: t.flatten()[:1]),
    "a weight too many": put(stranger=torch.zeros(3)),
    "no embeddings": without("weight"),
}
AVERAGES = {  # the fused kernel would write past the end of the short ones
    "averages too short": all_of(lambda t: t.flatten()[:1]),
    "averages of whole numbers": all_of(lambda t: t.to(torch.int32)),
    "averages of a stranger": put(**{"stranger/exp_avg": torch.zeros(3)}),
    "averages missing": without("exp_avg"),
    "steps missing": without("step"),
    "a name without a weight": put(stranger=torch.zeros(3)),
}
RANDOM = {
    "torch's state too short": put(torch=torch.zeros(5, dtype=torch.uint8)),
    "torch's state in floats": put(torch=torch.zeros(5056)),
    "Python's state too short": put(python=torch.zeros(3, dtype=torch.int64)),
    "Python's state negative": put(python=torch.full((626,), -1)),
    "Python's state from a stranger": put(python=torch.full((626,), 2**62)),
    "Python's state empty": put(python=torch.zeros(0, dtype=torch.int64)),
    "numpy's state too short": put(numpy=torch.zeros(3, dtype=torch.int64)),
    "numpy's state in another shape": put(numpy=torch.zeros(2, 312, dtype=torch.int64)),
    "numpy's place beyond the end": put(numpy_rest=torch.tensor([1e300, 0.0, 0.0]).double()),
    "numpy's place no number": put(numpy_rest=torch.full((3,), float("nan")).double()),
    "a state missing": without("torch"),
    "a GPU's state": put(cudax=torch.zeros(5, dtype=torch.uint8)),
}
STATES: dict[str, dict[str, Any]] = {
    "a foreign key": {"os.system": "true"},
    "methods as keys": {"__class__": 1, "__init__": 2, "saw": 3},
    "a step in words": {"step": "../../x"},
    "a best step in words": {"best_step": "../../x"},
    "a best step far away": {"best_step": 10**30},
    "tokens without end": {"tokens": 10**400},
    "seconds that are no number": {"seconds": float("nan")},
    "scores in a list": {"validation": [1]},
    "scores in words": {"validation": {"loss": "eval"}},
    "nothing where a number was": {"tokens": None, "without_better": None},
}
