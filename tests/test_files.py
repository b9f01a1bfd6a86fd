"""Files are written whole or not at all, and read only when they are what they should be."""

import errno
import hashlib
import json
import os
from pathlib import Path

import filelock
import pytest

from regard.errors import RunError
from regard.files import (
    FORMAT,
    file_hash,
    free_folder,
    json_text,
    locked,
    make_folder,
    read_bytes,
    read_facts,
    read_table,
    remove,
    sync_folder,
    write_bytes,
    write_json,
    write_text,
)

FACTS = {"format": FORMAT, "data": {}, "environment": {}}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def run_folder(folder, **facts):
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(FACTS | facts), encoding="utf-8")
    return folder


def failing(code=errno.EIO, told="made to fail"):
    def fail(*args, **options):
        raise OSError(code, told)

    return fail


# Writing


def test_what_is_written_is_there_alone_and_its_hash_is_returned(tmp_path):
    for data in (b"first", b"", b"second \x00\xff" * 1000):
        assert write_bytes(tmp_path / "x.bin", data) == hashlib.sha256(data).hexdigest()
        assert (tmp_path / "x.bin").read_bytes() == data
        assert names(tmp_path) == ["x.bin"]


def test_data_is_on_disk_before_its_name_and_the_name_before_the_return(tmp_path, monkeypatch):
    seen, fsync, replace = [], os.fsync, os.replace

    def noted_fsync(handle):
        folder = os.path.samestat(os.fstat(handle), tmp_path.stat())
        seen.append("folder" if folder else f"{os.fstat(handle).st_size} bytes")
        fsync(handle)

    def noted_replace(part, path):
        assert part == tmp_path / f".x.bin.{os.getpid()}.part"  # two writers never share one
        seen.append("named")
        replace(part, path)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_replace)
    write_bytes(tmp_path / "x.bin", b"data")
    assert seen == ["4 bytes", "named", "folder"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_when_the_disk_fails_the_old_file_stays_alone_and_the_error_says_why(
    tmp_path, monkeypatch, call
):
    write_bytes(tmp_path / "x.bin", b"old")
    monkeypatch.setattr(os, call, failing(errno.ENOSPC, "no room"))
    with pytest.raises(RunError, match="x.bin: could not be written: no room. What is there"):
        write_bytes(tmp_path / "x.bin", b"new")
    assert names(tmp_path) == ["x.bin"]
    assert (tmp_path / "x.bin").read_bytes() == b"old"


def test_a_failure_stays_an_error_when_tidying_up_fails_too(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "replace", failing(errno.ENOSPC, "no room"))
    monkeypatch.setattr(Path, "unlink", failing(errno.EROFS, "read-only"))
    with pytest.raises(RunError, match="could not be written: no room"):
        write_bytes(tmp_path / "x.bin", b"new")


def test_an_error_without_an_explanation_is_shown_as_it_is(tmp_path, monkeypatch):
    def fail(*args):
        raise OSError("out of the blue")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(RunError, match="could not be written: out of the blue. "):
        write_bytes(tmp_path / "x.bin", b"")


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(RunError, match="nowhere/x.txt: could not be written: No such file"):
        write_text(tmp_path / "nowhere" / "x.txt", "text")


def test_text_is_written_as_utf_8_with_its_own_line_ends(tmp_path):
    text = "é 日 🙂\r\n\u2028"
    assert write_text(tmp_path / "x", text) == hashlib.sha256(text.encode()).hexdigest()
    assert (tmp_path / "x").read_bytes() == text.encode("utf-8")


def test_half_a_character_is_refused_with_what_stands_around_it(tmp_path):
    for before, after in [("x" * 30, "y" * 30), ("ab", "c"), ("", "")]:
        around = f"{before[-20:]}\\\\udc80{after[:19]}"
        with pytest.raises(RunError, match=f"half a character, found in '{around}': rename"):
            write_text(tmp_path / "x", f"{before}\udc80{after}")
    assert names(tmp_path) == []


def test_json_is_readable_text_that_ends_its_last_line(tmp_path):
    value = {"a": ["é", 1.5, None]}
    assert json_text(value) == '{\n "a": [\n  "é",\n  1.5,\n  null\n ]\n}\n'
    assert write_json(tmp_path / "x.json", value) == file_hash(tmp_path / "x.json")
    assert (tmp_path / "x.json").read_text(encoding="utf-8") == json_text(value)


def test_a_folder_is_synced_and_let_go_also_when_that_fails(tmp_path, monkeypatch):
    handles = []

    def fail(handle):
        handles.append(handle)
        assert os.path.samestat(os.fstat(handle), tmp_path.stat())
        raise OSError(errno.EIO, "made to fail")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="made to fail"):
        sync_folder(tmp_path)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handles[0])


# Reading


def test_bytes_and_hashes_are_those_of_the_file(tmp_path):
    (tmp_path / "x").write_bytes(b"\x00\r\n\xff")
    assert read_bytes(tmp_path / "x") == b"\x00\r\n\xff"
    assert file_hash(tmp_path / "x") == hashlib.sha256(b"\x00\r\n\xff").hexdigest()


@pytest.mark.parametrize("read", [read_bytes, file_hash])
def test_what_may_never_end_is_refused_before_it_is_opened(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "link", Path("/dev/null")):
        with pytest.raises(OSError, match="not a plain file") as caught:
            read(path)
        assert (caught.value.errno, caught.value.filename) == (errno.EINVAL, str(path))
    with pytest.raises(IsADirectoryError):
        read(tmp_path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing")


def test_a_file_larger_than_memory_is_an_error_of_the_file(tmp_path, monkeypatch):
    def large(self):
        raise MemoryError

    (tmp_path / "x").write_bytes(b"")
    monkeypatch.setattr(Path, "read_bytes", large)
    with pytest.raises(OSError, match="Cannot allocate memory") as caught:
        read_bytes(tmp_path / "x")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOMEM, str(tmp_path / "x"))


def test_a_table_is_read_whatever_letters_it_holds(tmp_path):
    write_json(tmp_path / "x.json", {"é": [1]})
    assert read_table(tmp_path / "x.json") == {"é": [1]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1]", "x.json: damaged or not readable: expected an object, found a list."),
        (b'{"a": ', "x.json: damaged or not readable: Expecting value"),
        (b'{"a": "\xff"}', "x.json: damaged or not readable: 'utf-8' codec"),
        (b"[" * 200_000, "x.json: damaged or not readable: maximum recursion depth"),
    ],
)
def test_a_table_that_is_none_is_described(tmp_path, content, message):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(RunError, match=message):
        read_table(tmp_path / "x.json")


def test_a_missing_table_asks_whether_all_was_copied_and_a_folder_is_not_readable(tmp_path):
    with pytest.raises(RunError, match="run.json: missing. Is this a run folder"):
        read_table(tmp_path / "run.json")
    with pytest.raises(RunError, match="damaged or not readable: .*Is a directory"):
        read_table(tmp_path)


# Runs


def test_runs_are_of_format_2():
    """Whoever raises the number breaks every run that exists."""
    assert FORMAT == 2


def test_the_facts_of_a_run_are_read(tmp_path):
    finished = {"test": {"scores": {}}, "files": {}}
    assert read_facts(run_folder(tmp_path / "begun")) == FACTS
    assert read_facts(run_folder(tmp_path / "scored", test={})) == FACTS | {"test": {}}
    assert read_facts(run_folder(tmp_path / "ended", **finished)) == FACTS | finished


@pytest.mark.parametrize(
    "facts",
    [
        {"data": None},
        {"environment": []},
        {"test": "", "files": {}},
        {"files": 3},
        {"test": {}, "files": 3},
    ],
)
def test_a_run_without_one_of_its_tables_was_edited(tmp_path, facts):
    with pytest.raises(RunError, match="run.json: not as Regard writes it: a table is missing"):
        read_facts(run_folder(tmp_path / "run", **facts))


@pytest.mark.parametrize(
    ("found", "advice"),
    [
        (FORMAT + 1, "newer Regard: upgrade"),
        (FORMAT - 1, "older Regard: train it again"),
        (0, "older Regard: train it again"),
        (True, "Is this another program's folder?"),
        (str(FORMAT), "Is this another program's folder?"),
        (None, "Is this another program's folder?"),
    ],
)
def test_a_run_of_another_format_is_refused_with_what_to_do(tmp_path, found, advice):
    with pytest.raises(RunError) as caught:
        read_facts(run_folder(tmp_path / "run", format=found))
    told = f"run format {found!r}, but this Regard reads format {FORMAT}."
    assert told in str(caught.value) and advice in str(caught.value)


def test_no_such_run_says_where_it_may_be_meant(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError, match="^mine: no such run. Runs are folders, under runs/.$"):
        read_facts(Path("mine"))
    run_folder(tmp_path / "runs" / "mine")
    with pytest.raises(RunError, match="^mine: no such run. Did you mean runs/mine[?]$"):
        read_facts(Path("mine"))


def test_a_folder_of_runs_names_some_of_them(tmp_path):
    for n in range(12):
        run_folder(tmp_path / f"run{n:02}")
    listed = ", ".join(f"run{n:02}" for n in range(10))
    with pytest.raises(RunError, match=f"a folder of runs. Name one of them: {listed}.$"):
        read_facts(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps(FACTS))  # a run that holds others is a run
    assert read_facts(tmp_path) == FACTS


def test_a_pipe_anywhere_in_a_run_is_refused_by_name(tmp_path):
    folder = run_folder(tmp_path / "run")
    (folder / "checkpoints").mkdir()
    os.mkfifo(folder / "checkpoints" / "pipe")
    with pytest.raises(RunError, match="checkpoints/pipe: a pipe or a device, which no run has"):
        read_facts(folder)


def test_a_taken_name_gets_the_first_free_number(tmp_path):
    wanted = tmp_path / "run"
    assert free_folder(wanted) == wanted
    wanted.mkdir()
    assert free_folder(wanted) == tmp_path / "run-2"
    (tmp_path / "run-2").write_text("a file takes it too")
    (tmp_path / "run-4").mkdir()
    assert free_folder(wanted) == tmp_path / "run-3"


# Locks


def test_a_run_is_held_by_one_writer_at_a_time(tmp_path):
    with locked(tmp_path):
        with pytest.raises(RunError, match="another process is writing this run"):
            with locked(tmp_path):
                pytest.fail("two writers")
    with pytest.raises(KeyError):
        with locked(tmp_path):
            raise KeyError
    with locked(tmp_path):
        assert names(tmp_path) == [".lock"]


def test_a_second_writer_waits_less_than_a_second(tmp_path, monkeypatch):
    asked, real = [], filelock.FileLock

    def noted(path, timeout):
        asked.append(timeout)
        return real(path, timeout=timeout)

    monkeypatch.setattr(filelock, "FileLock", noted)
    with locked(tmp_path):
        assert len(asked) == 1 and 0 <= asked[0] < 1


def test_what_can_not_be_locked_is_an_error(tmp_path):
    with pytest.raises(RunError, match="nothing: no such run. Finished runs are folders"):
        with locked(tmp_path / "nothing"):
            pass
    (tmp_path / ".lock").mkdir()
    with pytest.raises(RunError, match="can not be written: Is a directory"):
        with locked(tmp_path):
            pass


def test_what_a_killed_writer_left_is_swept_away_and_nothing_else(tmp_path):
    folder = run_folder(tmp_path / "run")
    (folder / "checkpoints" / ".step-00000002.part" / "inside").mkdir(parents=True)
    (folder / ".run.json.123.part").write_text("half")
    (folder / "mine.part").write_text("mine")
    with locked(folder):
        assert names(folder) == [".lock", "checkpoints", "mine.part", "run.json"]
        assert names(folder / "checkpoints") == []


def test_in_a_strangers_folder_nothing_is_swept_away(tmp_path):
    (tmp_path / ".video.part").write_text("theirs")
    with locked(tmp_path):
        assert ".video.part" in names(tmp_path)


def test_files_links_and_folders_are_removed_and_what_a_link_points_at_stays(tmp_path):
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    (tmp_path / "folder" / "deep" / "file").write_text("")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "file").write_text("")
    for name in ("folder", "link", "file", "nothing"):
        remove(tmp_path / name)
    assert names(tmp_path) == ["kept"] and names(tmp_path / "kept") == ["file"]


def test_what_can_not_be_removed_stays_without_a_word(tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(os, "rmdir", failing())
    monkeypatch.setattr(os, "unlink", failing())
    remove(tmp_path / "folder")
    remove(tmp_path / "file")
    assert names(tmp_path) == ["file", "folder"]


def test_a_folder_that_can_not_be_made_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RunError, match="file/below: can not be made: Not a directory"):
        make_folder(tmp_path / "file" / "below")
    make_folder(tmp_path / "new" / "below")
    make_folder(tmp_path / "new" / "below")
