"""Weights as named tensors: saved, read back, copied in, counted and averaged."""

import struct

import pytest
import torch
from safetensors.torch import save as save_tensors
from torch import nn

from regard.errors import RunError
from regard.models.weights import (
    average_weights,
    count_parameters,
    load_weights,
    parse_weights,
    read_weights,
    save_weights,
    weights_of,
)


class Tied(nn.Module):
    """Two layers that share one table, as an embedding and an output do."""

    def __init__(self, seed=0, width=3):
        super().__init__()
        torch.manual_seed(seed)
        self.first = nn.Linear(width, 2)
        self.last = nn.Linear(width, 2)
        self.last.weight = self.first.weight
        self.register_buffer("table", torch.zeros(9))


def equal(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def test_a_shared_table_is_there_once_and_tables_that_are_not_learned_are_not():
    found = weights_of(Tied())
    assert {name: tuple(w.shape) for name, w in found.items()} == {
        "first.weight": (2, 3),
        "first.bias": (2,),
        "last.bias": (2,),
    }
    assert not any(w.requires_grad for w in found.values())
    assert count_parameters(Tied()) == 2 * 3 + 2 + 2


def test_what_is_saved_is_read_and_copied_into_another_network(tmp_path):
    one, other = Tied(seed=1), Tied(seed=2)
    one.first.weight.data = torch.arange(6.0).reshape(3, 2).T  # not as it lies in memory
    save_weights(one, tmp_path / "model.safetensors")
    found = read_weights(tmp_path / "model.safetensors")
    assert equal(found, weights_of(one))
    load_weights(other, found, "model.safetensors")
    assert equal(weights_of(other), weights_of(one))
    assert other.last.weight is other.first.weight
    assert all(p.requires_grad and p.grad_fn is None for p in other.parameters())


def test_what_is_loaded_is_a_copy():
    network, weights = Tied(), {name: w.clone() for name, w in weights_of(Tied(seed=5)).items()}
    load_weights(network, weights, "here")
    for weight in weights.values():
        weight.zero_()
    assert equal(weights_of(network), weights_of(Tied(seed=5)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first.bias": None}, 'the weight "first.bias" is missing from here: it belongs to'),
        ({"other": torch.zeros(1)}, '"other" is not known to the network but present in here'),
        ({"a": torch.zeros(1), "last.bias": None}, 'the weight "a" is not known'),
        ({"first.bias": torch.zeros(3)}, r'"first.bias" in here has shape \(3,\), .* for \(2,\)'),
        ({"last.bias": torch.tensor([0, float("nan")])}, '"last.bias" in here is not made of fin'),
        ({"last.bias": torch.tensor([0, float("inf")])}, '"last.bias" in here is not made of fin'),
        ({"last.bias": torch.tensor([0, 1e39]).double()}, "is not made of finite numbers"),
        ({"last.bias": torch.tensor([0, 1])}, "is not made of finite numbers"),
    ],
)
def test_weights_of_another_network_are_refused_by_name(change, message):
    weights = {n: w for n, w in (weights_of(Tied()) | change).items() if w is not None}
    with pytest.raises(RunError, match=message):
        load_weights(Tied(), weights, "here")


def test_weights_in_more_or_fewer_digits_are_taken():
    network = Tied()
    halves = {name: w.half() for name, w in weights_of(network).items()}
    load_weights(network, halves, "here")
    assert all(w.dtype == torch.float32 for w in weights_of(network).values())
    assert equal(weights_of(network), {name: w.float() for name, w in halves.items()})


def safetensors(header, data=b""):
    text = header.encode()
    return struct.pack("<Q", len(text)) + text + data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no tensors at all",
        save_tensors({"w": torch.ones(3)})[:-1],
        safetensors('{"w": {"dtype": "F4", "shape": [2], "data_offsets": [0, 1]}}', b"\0"),
        safetensors('{"w": {"dtype": "F32", "shape": [0, 9223372036854775807, 2], '
                    '"data_offsets": [0, 0]}}'),
        safetensors('{"w": {"dtype": "F32", "shape": [0, 18446744073709551615], '
                    '"data_offsets": [0, 0]}}'),
    ],
)  # fmt: skip
def test_anything_but_tensors_is_damaged(tmp_path, data):
    (tmp_path / "x.safetensors").write_bytes(data)
    with pytest.raises(RunError, match="x.safetensors: damaged or not readable: .") as caught:
        read_weights(tmp_path / "x.safetensors")
    with pytest.raises(RunError, match="^there: damaged or not readable: ."):
        parse_weights(data, "there")
    assert caught.value.__cause__ is not None


def test_a_missing_file_and_a_folder_are_not_readable(tmp_path):
    with pytest.raises(RunError, match="nothing: damaged or not readable: .*No such file"):
        read_weights(tmp_path / "nothing")
    with pytest.raises(RunError, match="damaged or not readable: .*Is a directory"):
        read_weights(tmp_path)


def test_a_mean_is_taken_in_more_digits_than_the_weights_have():
    states = [{"w": torch.tensor([value, 1.0])} for value in (1e8, 1.0, -1e8, 1.0)]
    mean = average_weights(states)
    assert mean["w"].dtype == torch.float32
    assert mean["w"].tolist() == [0.5, 1.0]  # in float32 the ones would be lost
    assert equal(average_weights(states[:1]), states[0])
