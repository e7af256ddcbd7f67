"""Atomic writing: a reader sees the old file or the new one, and nothing is left behind."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from gradraker._files import Output, check_writable, write_bytes, write_file, write_files
from gradraker.exceptions import PartlyWrittenError


def write_text(text: Any) -> Any:
    return lambda file: file.write(text.encode())


def names(folder: Any) -> Any:
    return sorted(file.name for file in folder.iterdir())


def test_write_file_creates_a_file(tmp_path: Any) -> None:
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


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path: Any) -> None:
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
def test_a_failed_write_leaves_the_old_file(tmp_path: Any, error: Any, old: Any) -> None:
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


def test_a_failed_move_leaves_the_old_file(tmp_path: Any) -> None:
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


def test_a_missing_folder_is_refused(tmp_path: Any) -> None:
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


def test_error_of_a_full_disk_names_the_file(tmp_path: Any) -> None:
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


def test_error_of_a_failed_move_lists_written_files(tmp_path: Any, monkeypatch: Any) -> None:
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
def test_longest_file_names_are_written(tmp_path: Any, n_bytes: Any) -> None:
    name = "x" * (n_bytes - 4) + ".csv"
    write_file(tmp_path / name, write_text("new"))
    assert names(tmp_path) == [name]


def test_error_of_a_name_that_is_too_long_quotes_it(tmp_path: Any) -> None:
    name = "x" * 256
    with pytest.raises(OSError, match="name too long") as caught:
        write_file(tmp_path / name, write_text("new"))
    assert caught.value.filename == str(tmp_path / name)
    assert names(tmp_path) == []


pytestmark = pytest.mark.skipif(os.name != "posix", reason="files of POSIX")


def test_link_is_followed(tmp_path: Any) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to("folder/target")
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["folder", "link"]
    assert names(tmp_path / "folder") == ["target"]


def test_link_to_nothing_makes_the_target(tmp_path: Any) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "target").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_mode_is_kept(tmp_path: Any, mode: Any) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_bytes(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root changes owners")
def test_owner_is_kept(tmp_path: Any) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 1234, 5678)
    write_bytes(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)


def test_private_file_is_never_readable_by_others(tmp_path: Any, monkeypatch: Any) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    seen: list[int] = []
    fsync = os.fsync

    def watch(descriptor: Any) -> Any:
        seen.extend(stat.S_IMODE((tmp_path / name).stat().st_mode) for name in names(tmp_path))
        return fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    write_bytes(path, b"new")
    assert seen == [0o600, 0o600]


def test_device_is_written_through(tmp_path: Any) -> None:
    if os.geteuid() == 0:
        device = tmp_path / "null"
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        before = names(tmp_path)
        write_bytes(device, b"new")
        assert stat.S_ISCHR(device.stat().st_mode)
        assert names(tmp_path) == before
    write_bytes("/dev/null", b"new")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(OSError, match="No space left"):
        write_bytes("/dev/full", b"new")


def test_fifo_is_written_through(tmp_path: Any) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(fifo.read_bytes()))
    reader.start()
    write_bytes(fifo, b"new" * 100_000)
    reader.join(30)
    assert received == [b"new" * 100_000]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_stream_of_the_process_is_written_in_order(tmp_path: Any, path: Any) -> None:
    program = f"""
from gradraker._files import write_bytes
print("before", flush=False)
write_bytes({path!r}, b"written\\n")
print("after")
"""
    out = tmp_path / "out"
    with out.open("wb") as file:
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True)
    assert out.read_text() == "before\nwritten\nafter\n"


@pytest.mark.parametrize("name", ["folder", "folder/", "link"])
def test_folder_is_refused(tmp_path: Any, name: Any) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    path = f"{tmp_path}/{name}"
    for call in (lambda: write_bytes(path, b"new"), lambda: check_writable([path])):
        with pytest.raises(IsADirectoryError) as caught:
            call()
        assert caught.value.filename == path
    assert names(tmp_path) == ["folder", "link"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder_is_refused_for_a_user(tmp_path: Any) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(PermissionError):
        check_writable([tmp_path / "a"])
    tmp_path.chmod(0o755)


def test_read_only_file_system_is_refused_before_the_work() -> None:
    with pytest.raises(
        OSError, match="/proc/a"
    ) as caught:  # nobody, root included, makes files there
        check_writable(["/proc/a.csv"])
    assert caught.value.filename == "/proc/a.csv"


def test_check_writable_leaves_nothing(tmp_path: Any) -> None:
    (tmp_path / "a").write_bytes(b"old")
    check_writable([tmp_path / "a", tmp_path / "b"])
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"
