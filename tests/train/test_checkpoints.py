"""A checkpoint is whole or it is not there; a damaged one is found before use."""

import hashlib
import json
import os
import random
import shutil
import struct

import pytest
import torch
from safetensors.torch import save as save_tensors

import regard.files
from regard.errors import RunError
from regard.train import checkpoints
from regard.train.checkpoints import Checkpoint, folder_of, load, load_latest, prune, save, steps_in
from regard.train.state import Progress


def checkpoint(step, **state):
    torch.manual_seed(step)
    weights = {"w": torch.randn(3, 2), "empty": torch.zeros(0)}
    tensors = {
        "model": weights,
        "optimizer": {"w/exp_avg": torch.randn(3, 2), "w/step": torch.tensor(float(step))},
        "random": {"torch": torch.get_rng_state()},
    }
    return Checkpoint(Progress(step=step, **state).as_json(), tensors)


def equal(a, b):
    return a.state == b.state and all(
        a.tensors[f].keys() == b.tensors[f].keys() and torch.equal(a.tensors[f][k], t)
        for f in b.tensors
        for k, t in b.tensors[f].items()
    )


def forged(folder, **files):
    """Put other files into a checkpoint and make the manifest agree with them."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for name, data in files.items():
        file = "state.json" if name == "state" else f"{name}.safetensors"
        content = json.dumps(data).encode() if name == "state" else data
        (folder / file).write_bytes(content)
        manifest["sha256"][file] = hashlib.sha256(content).hexdigest()
    path.write_text(json.dumps(manifest, indent=1) + "\n")


def test_what_is_saved_is_loaded(tmp_path):
    assert save(tmp_path, checkpoint(3)) == tmp_path / "step-00000003"
    assert equal(load(folder_of(tmp_path, 3)), checkpoint(3))
    assert equal(load_latest(tmp_path), checkpoint(3))
    assert load_latest(tmp_path / "nothing") is None
    assert set(os.listdir(tmp_path)) == {"step-00000003"}


def test_the_folders_of_the_first_checkpoint_are_made_and_their_entries_synced(
    tmp_path, monkeypatch
):
    synced, real = [], checkpoints.sync_folder
    monkeypatch.setattr(checkpoints, "sync_folder", lambda f: (synced.append(f), real(f)))
    home = tmp_path / "run" / "checkpoints"
    save(home, checkpoint(1))
    assert synced == [home.parent, home]
    save(home, checkpoint(2))
    assert synced[2:] == [home]


def test_tensors_of_any_layout_are_saved(tmp_path):
    odd = checkpoint(1)
    odd.tensors["model"]["w"] = torch.randn(2, 3, requires_grad=True).T
    save(tmp_path, odd)
    assert equal(load(folder_of(tmp_path, 1)), odd)


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
            with pytest.warns(UserWarning, match="step-00000002.*Falling back to the one before"):
                assert equal(load_latest(tmp_path), checkpoint(1)), (file.name, spot)
        file.write_bytes(whole)
    assert equal(load_latest(tmp_path), checkpoint(2))


def test_a_manifest_that_only_lost_its_last_newline_is_damaged_too(tmp_path):
    path = save(tmp_path, checkpoint(1)) / "manifest.json"
    path.write_text(path.read_text().rstrip())
    with pytest.raises(RunError, match="manifest.json: damaged: not as Regard writes it"):
        load(path.parent)


def test_when_nothing_is_whole_nothing_is_begun_again(tmp_path):
    for step in (1, 2):
        (save(tmp_path, checkpoint(step)) / "random.safetensors").write_bytes(b"")
    with pytest.warns(UserWarning, match="random.safetensors: damaged: its SHA-256"):
        with pytest.raises(RunError, match="none of its 2 checkpoints can be read"):
            load_latest(tmp_path)


@pytest.mark.parametrize("call", ["fsync", "replace", "rename", "mkdir"])
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
                assert "made to fail" in str(error) and ".." not in str(error)
                assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
                if steps_in(tmp_path) == [1]:
                    assert equal(load_latest(tmp_path), checkpoint(1))
                else:  # only the last fsync of the folder failed: the checkpoint itself is whole
                    assert equal(load(folder_of(tmp_path, 2)), checkpoint(2))
                    prune(tmp_path, {1})
                    shutil.rmtree(folder_of(tmp_path, 2))
            else:
                assert failing > 0 and equal(load_latest(tmp_path), checkpoint(2))
                return
    pytest.fail("the failure was never survived")


def test_a_half_written_folder_is_not_a_checkpoint(tmp_path):
    save(tmp_path, checkpoint(1))
    (tmp_path / ".step-00000002.part" / "inside").mkdir(parents=True)
    assert steps_in(tmp_path) == [1]
    save(tmp_path, checkpoint(2))
    assert steps_in(tmp_path) == [1, 2]
    (tmp_path / ".step-00000003.part").mkdir()
    prune(tmp_path, set())
    assert set(os.listdir(tmp_path)) == {"step-00000001", "step-00000002"}


STRANGE = ["step-²", "step-", "step-1", "step-٠٠٠٠٠٠٠٩", "step-000000012", "step-00000009.bak"]


def test_only_names_that_regard_gives_are_checkpoints(tmp_path):
    save(tmp_path, checkpoint(5))
    for name in (*STRANGE, "xstep-00000009"):
        (tmp_path / name).mkdir()
    (tmp_path / "step-123456789").mkdir()
    assert steps_in(tmp_path) == [5, 123456789]
    with pytest.warns(UserWarning, match="step-123456789.*manifest.json"):
        assert load_latest(tmp_path).step == 5


def test_a_folder_of_checkpoints_that_can_not_be_read_is_not_an_empty_one(tmp_path):
    (tmp_path / "checkpoints").write_text("not a folder")
    with pytest.raises(RunError, match="checkpoints: can not be read: Not a directory"):
        load_latest(tmp_path / "checkpoints")


def test_a_step_saved_again_replaces_the_damaged_one_and_later_ones_that_were_passed_over(tmp_path):
    for step in (4, 8, 9):
        save(tmp_path, checkpoint(step))
    for step in (8, 9):
        (folder_of(tmp_path, step) / "state.json").unlink()
    with pytest.warns(UserWarning, match="Falling back"):
        assert load_latest(tmp_path).step == 4
    save(tmp_path, checkpoint(8))
    assert set(os.listdir(tmp_path)) == {"step-00000004", "step-00000008"}
    assert equal(load_latest(tmp_path), checkpoint(8))


def test_a_kill_between_the_two_renames_of_a_step_saved_again_leaves_the_one_before(
    tmp_path, monkeypatch
):
    for step in (4, 8):
        save(tmp_path, checkpoint(step))
    (folder_of(tmp_path, 8) / "state.json").unlink()
    real = os.rename

    def die(source, target):
        if target == folder_of(tmp_path, 8):
            raise KeyboardInterrupt  # as good as a kill: nothing is tidied
        real(source, target)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "rename", die)
        save(tmp_path, checkpoint(8))
    assert equal(load_latest(tmp_path), checkpoint(4))
    save(tmp_path, checkpoint(8))
    assert equal(load_latest(tmp_path), checkpoint(8))


def test_pruning_keeps_what_it_is_told_to_and_two_whole_ones(tmp_path):
    for step in (1, 2, 3, 4, 5, 6):
        save(tmp_path, checkpoint(step))
    prune(tmp_path, {2, 6, 9})
    assert steps_in(tmp_path) == [2, 5, 6]
    prune(tmp_path, set())
    assert steps_in(tmp_path) == [5, 6]


def test_a_damaged_checkpoint_is_not_one_of_the_two_that_pruning_keeps(tmp_path):
    for step in (1, 2, 3, 4):
        save(tmp_path, checkpoint(step))
    (folder_of(tmp_path, 3) / "optimizer.safetensors").write_bytes(b"")
    prune(tmp_path, {4})
    assert steps_in(tmp_path) == [2, 4]


def test_pruning_keeps_the_best_of_the_one_that_a_damaged_newest_falls_back_to(tmp_path):
    save(tmp_path, checkpoint(1, best_step=1))
    for step in (2, 3):
        save(tmp_path, checkpoint(step, best_step=1))
    save(tmp_path, checkpoint(4, best_step=4))
    prune(tmp_path, {3, 4})
    assert steps_in(tmp_path) == [1, 3, 4]


def test_a_checkpoint_that_can_not_be_deleted_is_left_and_deleted_later(tmp_path, monkeypatch):
    for step in (1, 2, 3):
        save(tmp_path, checkpoint(step))

    def refuse(*_):
        raise PermissionError(13, "made to fail")

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", refuse)
        prune(tmp_path, set())
    assert steps_in(tmp_path) == [1, 2, 3]
    prune(tmp_path, set())
    assert steps_in(tmp_path) == [2, 3]


def test_a_newer_format_is_refused(tmp_path):
    save(tmp_path, checkpoint(1))
    path = folder_of(tmp_path, 1) / "manifest.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(RunError, match="another version"):
        load(folder_of(tmp_path, 1))


MANIFESTS = {
    "a list": "[]",
    "hashes in a list": '{"format": 1, "sha256": ["state.json"]}',
    "no hashes": '{"format": 1}',
    "a way out": '{"format": 1, "sha256": {"../../x": "0"}}',
    "deep": '{"format": 1, "sha256": ' + "[" * 100_000,
    "half a character": '{"format": 1, "sha256": {"\\ud800": "0"}}',
    "another encoding": '{"format": 1}'.encode("utf-16"),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_strange_manifest_is_refused(tmp_path, name):
    folder, text = save(tmp_path, checkpoint(1)), MANIFESTS[name]
    (folder / "manifest.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(RunError, match="step-00000001: (not a readable|a checkpoint of another)"):
        load(folder)


STATES = {
    "a foreign key": ({"step": 1, "os.system": "true"}, "'os.system' is 'true'"),
    "a long foreign key": ({"step": 1, "x" * 999: "y" * 999}, f"'{'x' * 40}' is '{'y' * 59}."),
    "a word for a number": ({"step": 1, "tokens": "7"}, "'tokens' is '7'"),
    "a truth for a number": ({"step": 1, "without_better": True}, "'without_better' is True"),
    "half a step": ({"step": 1, "best_step": 1.5}, "'best_step' is 1.5"),
    "no number": ({"step": 1, "seconds": float("nan")}, "'seconds' is nan"),
    "too large": ({"step": 1, "tokens": 2**63}, "'tokens' is 9223372036854775808"),
    "nothing": ({"step": 1, "tokens": None}, "'tokens' is None"),
    "a list of scores": ({"step": 1, "validation": [1]}, r"'validation' is \[1\]"),
    "scores in words": ({"step": 1, "validation": {"loss": "low"}}, "'validation' is"),
    "a best in words": ({"step": 1, "best": "good"}, "'best' is 'good'"),
    "another step": ({"step": 7}, "step-00000001: holds step 7: was the folder renamed or copied"),
    "a step in words": ({"step": "../../x"}, "'step' is '../../x'"),
    "no step": ({}, "not a readable checkpoint: 'step'"),
    "a list": ([1], "not a readable checkpoint"),
    "a number": (1, "not a readable checkpoint"),
}


@pytest.mark.parametrize("name", STATES)
def test_a_state_that_no_training_wrote_is_refused_though_its_hash_agrees(tmp_path, name):
    folder, (state, expected) = save(tmp_path, checkpoint(1)), STATES[name]
    forged(folder, state=state)
    with pytest.raises(RunError, match=expected):
        load(folder)


def test_what_a_training_may_write_into_its_state_is_read_back(tmp_path):
    odd = dict(mean_loss=float("inf"), best=2**70, seconds=7, tokens=2**62, validation={"bleu": 1})
    save(tmp_path, checkpoint(1, **odd))
    assert load(folder_of(tmp_path, 1)).state == checkpoint(1, **odd).state


OPTIMIZERS = {
    "too short": {"w/exp_avg": torch.zeros(1)},
    "turned": {"w/exp_avg": torch.zeros(2, 3)},
    "one number": {"w/exp_avg": torch.zeros(())},
    "whole numbers": {"w/exp_avg": torch.zeros(3, 2, dtype=torch.int32)},
    "many steps": {"w/step": torch.zeros(3, 2)},
    "steps of another type": {"w/step": torch.zeros((), dtype=torch.int64)},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_average_that_does_not_fit_its_weight_is_refused_before_a_kernel_sees_it(tmp_path, name):
    folder = save(tmp_path, checkpoint(1))
    forged(folder, optimizer=save_tensors(OPTIMIZERS[name]))
    with pytest.raises(RunError, match="optimizer.safetensors: 'w/.*do not fit its weight"):
        load(folder)


def test_an_average_of_an_unknown_weight_is_refused(tmp_path):
    folder = save(tmp_path, checkpoint(1))
    forged(folder, optimizer=save_tensors({"v/exp_avg": torch.zeros(3, 2)}))
    with pytest.raises(RunError, match="not a readable checkpoint: 'v'"):
        load(folder)


def header(**tensor):
    text = json.dumps({"w": tensor}).encode()
    return struct.pack("<Q", len(text)) + text


TENSORS = {
    "a type torch has not": header(dtype="F4", shape=[2], data_offsets=[0, 1]) + b"0",
    "a size no tensor has": header(dtype="F32", shape=[0, 2**64 - 1], data_offsets=[0, 0]),
    "a header without end": struct.pack("<Q", 2**62) + b"{}",
    "a pickle": b"\x80\x04cos\nsystem\n(S'true'\ntR.",
}


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("file", checkpoints.TENSOR_FILES)
def test_a_tensor_file_that_is_none_is_refused_though_its_hash_agrees(tmp_path, name, file):
    folder = save(tmp_path, checkpoint(1))
    forged(folder, **{file: TENSORS[name]})
    with pytest.raises(RunError, match=rf"{file}.safetensors: damaged or not readable"):
        load(folder)


def test_a_pipe_in_a_checkpoint_is_not_waited_for(tmp_path):
    folder = save(tmp_path, checkpoint(1))
    (folder / "model.safetensors").unlink()
    os.mkfifo(folder / "model.safetensors")
    with pytest.raises(RunError, match="step-00000001: not a readable checkpoint.*plain file"):
        load(folder)
    prune(tmp_path, set())
    assert steps_in(tmp_path) == [], "damaged, and nobody asked to keep it"
