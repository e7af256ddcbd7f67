"""Atomic writing: a reader sees the old file or the new one, and nothing is left behind."""

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from gradraker._files import Output, write_file, write_files
from gradraker.exceptions import PartlyWrittenError


def write_text(text: Any) -> Any:
    return lambda file: file.write(text.encode())


def names(folder: Any) -> Any:
    return sorted(file.name for file in folder.iterdir())


def test_a_new_file(tmp_path: Any) -> None:
    assert write_file(tmp_path / "a.txt", write_text("new")) == tmp_path / "a.txt"
    assert (tmp_path / "a.txt").read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def test_a_path_may_be_a_string_or_relative(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_file("a.txt", write_text("new")) == Path("a.txt")
    assert names(tmp_path) == ["a.txt"]


def test_an_old_file_is_replaced(tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("old")
    write_file(tmp_path / "a.txt", write_text("new"))
    assert (tmp_path / "a.txt").read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Any) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def write(file: Any) -> None:
        file.write(b"ne")
        assert target.read_text() == "old"
        assert len(names(tmp_path)) == 2  # beside it: a move within a file system is atomic
        file.write(b"w")

    write_file(target, write)
    assert target.read_text() == "new"


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("old", [None, "old"])
def test_a_failure_leaves_what_was_there(tmp_path: Any, error: Any, old: Any) -> None:
    target = tmp_path / "a.txt"
    if old:
        target.write_text(old)

    def write(file: Any) -> None:
        file.write(b"half of the n")
        raise error("stop")

    with pytest.raises(error):
        write_file(target, write)
    assert names(tmp_path) == (["a.txt"] if old else [])
    assert not old or target.read_text() == old


def test_a_failed_move_leaves_what_was_there(tmp_path: Any) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_file(tmp_path / "folder", write_text("new"))
    assert names(tmp_path) == ["folder"]


def test_the_content_is_on_the_disk_before_the_move(tmp_path: Any, monkeypatch: Any) -> None:
    events: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def watched_fsync(descriptor: Any) -> None:
        events.append("fsync")
        fsync(descriptor)

    def watched_replace(path: Path, target: Any) -> Path:
        events.append("replace")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(Path, "replace", watched_replace)
    write_file(tmp_path / "a.txt", write_text("new"))
    assert events == ["fsync", "replace"]


@pytest.mark.parametrize("name", ["a.npz", "a.tar.gz", "plain", "ä ö.txt"])
def test_the_temporary_name_keeps_the_suffix(tmp_path: Any, name: Any) -> None:
    seen: list[str] = []
    write_file(tmp_path / name, lambda file: seen.extend(set(names(tmp_path)) - {name}))
    assert Path(seen[0]).suffix == Path(name).suffix
    assert names(tmp_path) == [name]


def test_a_missing_folder(tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere.* does not exist"):
        write_file(tmp_path / "nowhere" / "a.txt", write_text("new"))
    assert names(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077])
def test_permissions_are_those_of_ordinary_files(tmp_path: Any, mask: Any) -> None:
    before = os.umask(mask)
    try:
        write_file(tmp_path / "a.txt", write_text("new"))
        assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o666 & ~mask
        assert os.umask(mask) == mask  # it was put back
    finally:
        os.umask(before)


def test_concurrent_writers_do_not_mix(tmp_path: Any) -> None:
    target = tmp_path / "a.txt"
    texts = [str(k) * 10_000 for k in range(8)]
    writers = [
        threading.Thread(target=write_file, args=(target, write_text(text))) for text in texts
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert target.read_text() in texts
    assert names(tmp_path) == ["a.txt"]


def test_a_full_disk_is_told_with_the_file(tmp_path: Any) -> None:
    def write(file: Any) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left") as caught:
        write_file(tmp_path / "a.txt", write)
    assert caught.value.filename == str(tmp_path / "a.txt")
    assert names(tmp_path) == []


def test_several_files_are_all_written_before_any_is_moved(tmp_path: Any) -> None:
    old = {name: tmp_path / name for name in ("a", "b")}
    for path in old.values():
        path.write_text("old")

    def fail(file: Any) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left") as caught:
        write_files([Output(old["a"], write_text("new")), Output(old["b"], fail)])
    assert caught.value.filename == str(old["b"])
    assert [path.read_text() for path in old.values()] == ["old", "old"]
    assert names(tmp_path) == ["a", "b"]


def test_a_failed_move_tells_what_was_written(tmp_path: Any, monkeypatch: Any) -> None:
    for name in "abc":
        (tmp_path / name).write_text("old")
    replace = Path.replace

    def fail(self: Path, to: Any) -> Any:
        if Path(to).name == "b":
            raise PermissionError(1, "Operation not permitted", str(self), None, str(to))
        return replace(self, to)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(PartlyWrittenError) as caught:
        write_files([Output(tmp_path / name, write_text("new")) for name in "abc"])
    error = caught.value
    assert error.written == [str(tmp_path / "a")]
    assert error.unwritten == [str(tmp_path / "b"), str(tmp_path / "c")]
    assert error.filename == str(tmp_path / "b")
    assert "already written" in str(error)
    assert [(tmp_path / name).read_text() for name in "abc"] == ["new", "old", "old"]
    assert names(tmp_path) == ["a", "b", "c"]


@pytest.mark.parametrize("n_bytes", [254, 255])
def test_longest_names(tmp_path: Any, n_bytes: Any) -> None:
    name = "x" * (n_bytes - 4) + ".csv"
    write_file(tmp_path / name, write_text("new"))
    assert names(tmp_path) == [name]


def test_a_name_that_is_too_long_is_quoted_itself(tmp_path: Any) -> None:
    name = "x" * 256
    with pytest.raises(OSError, match="name too long") as caught:
        write_file(tmp_path / name, write_text("new"))
    assert caught.value.filename == str(tmp_path / name)
    assert names(tmp_path) == []
