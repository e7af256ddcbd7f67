"""Atomic writing: a reader sees the old file or the new one, and nothing is left behind."""

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradraker import _files as files
from gradraker._files import write_atomically


def write_text(text: str) -> Callable[..., Any]:
    return lambda temporary: temporary.write_text(text)


def names(folder: Path) -> list[Any]:
    return sorted(file.name for file in folder.iterdir())


def test_a_new_file(tmp_path: Path) -> None:
    assert write_atomically(tmp_path / "a.txt", write_text("new")) == tmp_path / "a.txt"
    assert (tmp_path / "a.txt").read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def test_a_path_may_be_a_string_or_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_atomically("a.txt", write_text("new")) == Path("a.txt")
    assert names(tmp_path) == ["a.txt"]


def test_an_old_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    write_atomically(tmp_path / "a.txt", write_text("new"))
    assert (tmp_path / "a.txt").read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def write(temporary: Any) -> None:
        temporary.write_text("ne")
        assert target.read_text() == "old"
        assert temporary != target
        assert temporary.parent == target.parent  # a move within a file system is atomic
        temporary.write_text("new")

    write_atomically(target, write)
    assert target.read_text() == "new"


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("old", [None, "old"])
def test_a_failure_leaves_what_was_there(tmp_path: Path, error: type[Any], old: str | None) -> None:
    target = tmp_path / "a.txt"
    if old:
        target.write_text(old)

    def write(temporary: Any) -> None:
        temporary.write_text("half of the n")
        raise error("stop")

    with pytest.raises(error):
        write_atomically(target, write)
    assert names(tmp_path) == (["a.txt"] if old else [])
    assert not old or target.read_text() == old


def test_a_failed_move_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomically(tmp_path / "folder", write_text("new"))
    assert names(tmp_path) == ["folder"]


def test_the_content_is_on_the_disk_before_the_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(files.os, "fsync", lambda fd: (events.append("fsync"), fsync(fd)))  # type: ignore[attr-defined, func-returns-value]
    monkeypatch.setattr(
        Path,
        "replace",
        lambda self, to: (events.append("replace"), replace(self, to)),  # type: ignore[func-returns-value]
    )
    write_atomically(tmp_path / "a.txt", write_text("new"))
    assert events == ["fsync", "replace"]


@pytest.mark.parametrize("name", ["a.npz", "a.tar.gz", "plain", "ä ö.txt"])
def test_the_temporary_name_keeps_the_suffix(tmp_path: Path, name: str) -> None:
    seen = []
    write_atomically(tmp_path / name, lambda temporary: seen.append(temporary))
    assert seen[0].suffix == Path(name).suffix
    assert names(tmp_path) == [name]


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"path: the folder .*nowhere.* does not exist"):
        write_atomically(tmp_path / "nowhere" / "a.txt", write_text("new"))
    assert names(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077])
def test_permissions_are_those_of_ordinary_files(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_atomically(tmp_path / "a.txt", write_text("new"))
        assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o666 & ~mask
        assert os.umask(mask) == mask  # it was put back
    finally:
        os.umask(before)


def test_concurrent_writers_do_not_mix(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    texts = [str(k) * 10_000 for k in range(8)]
    writers = [
        threading.Thread(target=write_atomically, args=(target, write_text(text))) for text in texts
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert target.read_text() in texts
    assert names(tmp_path) == ["a.txt"]


def test_a_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
    def write(temporary: Any) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left") as caught:
        write_atomically(tmp_path / "a.txt", write)
    assert caught.value.filename == str(tmp_path / "a.txt")
    assert names(tmp_path) == []
