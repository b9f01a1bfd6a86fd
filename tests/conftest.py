"""What every test lives in: no network, an empty home, one thread."""

import os
import random
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

# Tiny networks: a second thread would only wait. Set before torch is imported, and for children.
os.environ["OMP_NUM_THREADS"] = "1"


@pytest.fixture(autouse=True, scope="session")
def no_network():
    """Refuse every connection and look-up that would leave this machine."""
    real = {name: getattr(socket.socket, name) for name in ("connect", "connect_ex")}
    look_up = socket.getaddrinfo

    def guard(name):
        def connect(self, address):
            if self.family != socket.AF_UNIX:
                stay_home(address[0])
            return real[name](self, address)

        return connect

    def getaddrinfo(host, *rest, **options):
        stay_home(host)
        return look_up(host, *rest, **options)

    with pytest.MonkeyPatch.context() as patch:
        for name in real:
            patch.setattr(socket.socket, name, guard(name))
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


def stay_home(host):
    name = host.decode() if isinstance(host, bytes) else host
    if name not in (None, "", "localhost", "::1") and not name.startswith("127."):
        pytest.fail(f"a test tried to reach {name}: tests run without the network")


@pytest.fixture(autouse=True, scope="session")
def empty_home(tmp_path_factory):
    """Neither read nor fill the home of the person who runs the tests."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "MPLCONFIGDIR"):
            patch.delenv(name, raising=False)
        yield Path(home)


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    """Words and the same words spelled backwards."""
    dice = random.Random(0)
    words = sorted({"".join(dice.choices("abcde", k=dice.randint(1, 7))) for _ in range(300)})
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{word}\t{word[::-1]}\n" for word in words), encoding="utf-8")
    return path


@pytest.fixture
def small(pairs_file: Path, tmp_path: Path) -> Callable[..., Any]:
    """A function that makes a tiny recipe: small("train.steps=5", unset=["train.budget"])."""

    def recipe(*sets: str, unset: Sequence[str] = ()) -> Any:
        from regard.tasks.recipe import read_recipe

        lines = [line for line in SMALL.splitlines() if line.split(" ")[0] not in unset]
        path = tmp_path / "small.toml"
        path.write_text("\n".join(lines), encoding="utf-8")
        return read_recipe(path, sets)

    return recipe


SMALL = """\
task = "transduce"
metrics = ["per", "wer"]
data.path = "pairs.tsv"
data.split = [80, 10, 10]
source.kind = "character"
model.width = 16
model.heads = 2
model.encoder_layers = 1
model.decoder_layers = 1
model.max_length = 16
train.steps = 12
train.batch_tokens = 150
train.validate_every = 4
decode.max_length = 12
"""
