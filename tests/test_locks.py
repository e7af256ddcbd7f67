"""Locks between processes: one at a time, and none is left behind by a killed process."""

import os
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

from gradraker._locks import lock_file

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of POSIX")

COUNT = """
import sys, time
from pathlib import Path
from gradraker._locks import lock_file

path = Path(sys.argv[1])
for _ in range(int(sys.argv[2])):
    with lock_file(path):
        number = int(path.read_text())
        time.sleep(0.001)
        path.write_text(str(number + 1))
"""

HOLD = """
import sys, time
from gradraker._locks import lock_file

with lock_file(sys.argv[1]):
    print("locked", flush=True)
    time.sleep(100)
"""


def test_processes_take_turns(tmp_path: Any) -> None:
    path = tmp_path / "number"
    path.write_text("0")
    command = [sys.executable, "-c", COUNT, str(path), "50"]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(120) for process in processes] == [0] * 4
    assert path.read_text() == "200"
    assert os.listdir(tmp_path) == ["number"]


def test_threads_take_turns(tmp_path: Any) -> None:
    path, counts = tmp_path / "a", [0]

    def count() -> None:
        for _ in range(100):
            with lock_file(path):
                number = counts[0]
                counts[0] = number + 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [400]
    assert os.listdir(tmp_path) == []


def test_killed_process_leaves_no_lock(tmp_path: Any) -> None:
    path = tmp_path / "a"
    holder: Any = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "locked\n"
        waited = []
        killer = threading.Timer(0.3, holder.kill)
        killer.start()
        with lock_file(path, on_wait=lambda: waited.append(True)):
            assert waited == [True]
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert os.listdir(tmp_path) == []


def test_same_thread_takes_a_lock_again(tmp_path: Any) -> None:
    with lock_file(tmp_path / "a"), lock_file(tmp_path / "a"):
        assert len(os.listdir(tmp_path)) == 1
    assert os.listdir(tmp_path) == []


def test_link_and_target_have_one_lock(tmp_path: Any) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a")
    waited = []

    def wait() -> None:
        with lock_file(tmp_path / "link", on_wait=lambda: waited.append(True)):
            pass

    with lock_file(tmp_path / "a"):
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(0.2)
    thread.join()
    assert waited == [True]


def test_missing_folder_is_named(tmp_path: Any) -> None:
    path = tmp_path / "nowhere" / "a"
    with pytest.raises(FileNotFoundError) as caught, lock_file(path):
        pass
    assert caught.value.filename == str(path)
