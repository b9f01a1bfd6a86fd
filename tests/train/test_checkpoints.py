"""A checkpoint is whole or it is not there; a damaged one is found before use."""

import random

import pytest
import torch

import regard.files
from regard.errors import RunError
from regard.train import checkpoints
from regard.train.checkpoints import Checkpoint, folder_of, load, load_latest, prune, save, steps_in


def checkpoint(step):
    torch.manual_seed(step)
    tensors = {
        name: {"x": torch.randn(5), "y": torch.zeros(0)} for name in checkpoints.TENSOR_FILES
    }
    return Checkpoint({"step": step, "best": None}, tensors)


def equal(a, b):
    return a.state == b.state and all(
        torch.equal(a.tensors[f][k], t) for f in b.tensors for k, t in b.tensors[f].items()
    )


def test_what_is_saved_is_loaded(tmp_path):
    save(tmp_path, checkpoint(3))
    assert equal(load(folder_of(tmp_path, 3)), checkpoint(3))
    assert equal(load_latest(tmp_path), checkpoint(3))
    assert load_latest(tmp_path / "nothing") is None


def test_any_flipped_byte_or_cut_is_found_and_the_one_before_is_used(tmp_path):
    save(tmp_path, checkpoint(1))
    save(tmp_path, checkpoint(2))
    dice = random.Random(0)
    for file in sorted(folder_of(tmp_path, 2).iterdir()):
        whole = file.read_bytes()
        for trial in range(12):
            spot = dice.randrange(len(whole))
            flipped = (
                whole[:spot] + bytes([whole[spot] ^ (1 << dice.randrange(8))]) + whole[spot + 1 :]
            )
            file.write_bytes(flipped if trial % 2 else whole[:spot])
            with pytest.warns(UserWarning, match="Falling back to the one before"):
                assert equal(load_latest(tmp_path), checkpoint(1)), (file.name, spot)
        file.write_bytes(whole)
    assert equal(load_latest(tmp_path), checkpoint(2))


@pytest.mark.parametrize("call", ["fsync", "replace", "rename"])
@pytest.mark.parametrize("code", [28, 5, 13], ids=["ENOSPC", "EIO", "EACCES"])
def test_when_the_disk_fails_the_previous_checkpoint_stays_and_the_error_is_loud(
    tmp_path, monkeypatch, call, code
):
    save(tmp_path, checkpoint(1))
    for failing in range(20):
        count, real = iter(range(100)), getattr(regard.files.os, call)

        def fail(*args, count=count, real=real, failing=failing):
            if next(count) == failing:
                raise OSError(code, "made to fail")
            return real(*args)

        with monkeypatch.context() as patch:
            patch.setattr(regard.files.os, call, fail)
            try:
                save(tmp_path, checkpoint(2))
            except RunError as error:
                assert "made to fail" in str(error)
                if steps_in(tmp_path) == [1]:
                    assert equal(load_latest(tmp_path), checkpoint(1))
                else:  # only the last fsync of the folder failed: the checkpoint itself is whole
                    assert equal(load(folder_of(tmp_path, 2)), checkpoint(2))
                    prune(tmp_path, {1})
            else:
                assert failing > 0 and equal(load_latest(tmp_path), checkpoint(2))
                return
    pytest.fail("the failure was never survived")


def test_a_half_written_folder_is_not_a_checkpoint(tmp_path):
    save(tmp_path, checkpoint(1))
    (tmp_path / ".step-00000002.part").mkdir()
    assert steps_in(tmp_path) == [1]
    save(tmp_path, checkpoint(2))
    assert steps_in(tmp_path) == [1, 2]


def test_pruning_keeps_only_what_it_is_told_to(tmp_path):
    for step in (1, 2, 3, 4):
        save(tmp_path, checkpoint(step))
    prune(tmp_path, {1, 3, 4, 9})
    assert steps_in(tmp_path) == [1, 3, 4]


def test_a_newer_format_is_refused(tmp_path):
    save(tmp_path, checkpoint(1))
    path = folder_of(tmp_path, 1) / "manifest.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(RunError, match="another version"):
        load(folder_of(tmp_path, 1))
