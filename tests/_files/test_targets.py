"""Where outputs go: links, devices, FIFOs, streams, modes, and places that cannot be written."""

import os
import stat
import subprocess
import sys
import threading
from typing import Any

import pytest

from gradraker._files import check_writable, write_bytes

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files of POSIX")


def names(folder: Any) -> Any:
    return sorted(os.listdir(folder))


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
