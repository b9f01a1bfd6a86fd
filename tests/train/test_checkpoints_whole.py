"""Checkpoints, by what would go unnoticed otherwise: the order of writing, what a message shows,
leftovers of a kill, states of another age."""

import dataclasses
import hashlib
import json
import os
import warnings

import pytest
import torch
from safetensors.torch import save as save_tensors

from regard.errors import RunError
from regard.train import checkpoints
from regard.train.checkpoints import Checkpoint, folder_of, load, load_latest, prune, save, steps_in
from regard.train.state import Progress


def checkpoint(step, **state):
    tensors = {
        "model": {"w": torch.ones(3, 2)},
        "optimizer": {"w/exp_avg": torch.ones(3, 2)},
        "random": {"torch": torch.get_rng_state()},
    }
    return Checkpoint(Progress(step=step, **state).as_json(), tensors)


def forge(folder, **files):
    """Put other files into a checkpoint, and their hashes into its manifest."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, content in files.items():
        file = "state.json" if name == "state" else f"{name}.safetensors"
        (folder / file).write_bytes(content)
        manifest["sha256"][file] = hashlib.sha256(content).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def test_a_checkpoint_gets_its_name_when_all_of_it_is_written_and_its_manifest_is_last(
    tmp_path, monkeypatch
):
    named = []
    for call in ("replace", "rename"):
        real = getattr(os, call)

        def noted(old, new, real=real):
            named.append(os.path.relpath(new, tmp_path))
            real(old, new)

        monkeypatch.setattr(os, call, noted)
    save(tmp_path, checkpoint(3))
    *files, manifest, folder = named
    inside = ".step-00000003.part"
    assert manifest == f"{inside}/manifest.json" and folder == "step-00000003"
    assert sorted(files) == [
        f"{inside}/{name}"
        for name in (
            "model.safetensors",
            "optimizer.safetensors",
            "random.safetensors",
            "state.json",
        )
    ]


def test_the_manifest_lists_every_other_file_with_its_hash(tmp_path):
    folder = save(tmp_path, checkpoint(3))
    manifest = json.loads((folder / "manifest.json").read_text())
    others = [path for path in folder.iterdir() if path.name != "manifest.json"]
    assert manifest == {
        "format": 1,
        "sha256": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in others},
    }


def test_a_moment_does_not_change():
    moment = checkpoint(7)
    assert moment.step == 7
    with pytest.raises(dataclasses.FrozenInstanceError):
        moment.state = {}


def test_the_warning_about_a_damaged_one_points_at_the_caller(tmp_path):
    save(tmp_path, checkpoint(1))
    (save(tmp_path, checkpoint(2)) / "state.json").write_bytes(b"")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = load_latest(tmp_path)
    assert found is not None and found.step == 1
    assert [warning.filename for warning in seen] == [__file__]


def test_a_hidden_folder_that_a_killed_deletion_left_is_no_obstacle(tmp_path):
    for step in (1, 2, 3):
        save(tmp_path, checkpoint(step))
    (tmp_path / ".step-00000001.old.part" / "model.safetensors").mkdir(parents=True)
    prune(tmp_path, set())
    assert sorted(os.listdir(tmp_path)) == ["step-00000002", "step-00000003"]


def test_a_deletion_that_is_killed_leaves_no_checkpoint_and_is_done_by_the_next(
    tmp_path, monkeypatch
):
    for step in (1, 2, 3):
        save(tmp_path, checkpoint(step))
    rename = os.rename

    def then_killed(old, new):
        rename(old, new)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", then_killed)
        with pytest.raises(KeyboardInterrupt):
            prune(tmp_path, set())
    assert steps_in(tmp_path) == [2, 3] and len(os.listdir(tmp_path)) == 3
    prune(tmp_path, set())
    assert sorted(os.listdir(tmp_path)) == ["step-00000002", "step-00000003"]


def test_a_damaged_checkpoint_of_the_same_step_goes_without_a_trace(tmp_path):
    (save(tmp_path, checkpoint(1)) / "foreign").write_text("")
    save(tmp_path, checkpoint(1))
    assert sorted(os.listdir(tmp_path)) == ["step-00000001"]
    assert len(os.listdir(folder_of(tmp_path, 1))) == 5


def test_a_state_that_names_no_best_step_keeps_none(tmp_path):
    for step in (1, 2, 3):
        folder = save(tmp_path, checkpoint(step))
        forge(folder, state=json.dumps({"step": step}).encode())
    prune(tmp_path, set())
    assert steps_in(tmp_path) == [2, 3]


def test_a_long_name_is_shown_by_its_beginning(tmp_path):
    name = "".join(f"layer{n}." for n in range(20))
    folder = save(tmp_path, checkpoint(1))
    forge(
        folder,
        model=save_tensors({name: torch.ones(3)}),
        optimizer=save_tensors({f"{name}/exp_avg": torch.ones(4)}),
    )
    told = f"'{name[:60]}' has the shape (4,) and the type torch.float32, which do not fit"
    with pytest.raises(RunError) as caught:
        load(folder)
    assert told in str(caught.value)


def test_a_weight_may_be_named_like_a_folder_in_a_folder(tmp_path):
    folder = save(tmp_path, checkpoint(1))
    forge(
        folder,
        model=save_tensors({"a/b": torch.ones(3)}),
        optimizer=save_tensors({"a/b/exp_avg": torch.ones(3), "a/b/step": torch.ones(())}),
    )
    assert load(folder).tensors["optimizer"].keys() == {"a/b/exp_avg", "a/b/step"}


def test_the_newest_step_is_the_highest_number_also_beyond_eight_digits(tmp_path):
    steps = [9, 99_999_999, 100_000_000]
    for step in steps:
        save(tmp_path, checkpoint(step))
    assert steps_in(tmp_path) == steps
    assert load_latest(tmp_path).step == 100_000_000
    assert checkpoints.folder_of(tmp_path, 9).name == "step-00000009"
