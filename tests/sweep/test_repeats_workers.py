"""Worker processes of a sweep end with the command, even if it is killed."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from forked_process import start_python

PROGRAM = """
from gradraker import load_temperature
from gradraker.sweep import sigma2_sweep

sigma2_sweep(
    load_temperature(),
    n_repeats=2000,
    n_jobs=2,
    n_epochs=1000,
    progress=lambda *a: print(*a, flush=True),
)
"""
# A worker whose parent ends while it starts.
LATE_WORKER = """
import multiprocessing, os, time
from gradraker.sweep.repeats import end_with_parent

def work(parent):
    while os.getppid() == parent:
        time.sleep(0.01)
    end_with_parent(parent)
    time.sleep(120)

worker = multiprocessing.get_context("fork").Process(target=work, args=(os.getpid(),))
worker.start()
print(worker.pid, flush=True)
os._exit(0)
"""

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"),
]


def list_children(parent: Any) -> Any:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                found.append(int(folder.name))
    return found


def is_alive(process: Any) -> Any:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_for_end(*processes: int) -> None:
    """Wait until all processes have ended, and fail if one does not."""
    until = time.monotonic() + 60  # seconds; quick unless the machine is busy
    while any(map(is_alive, processes)) and time.monotonic() < until:
        time.sleep(0.02)
    left = [process for process in processes if is_alive(process)]
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert left == []


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_workers_end_with_their_parent(number: Any) -> None:
    command = start_python(PROGRAM, stdout=subprocess.PIPE)
    try:
        for _ in range(3):  # two repeats are done, and tasks wait for a worker that starts later
            assert command.stdout.readline()
        workers = list_children(command.pid)
        assert len(workers) >= 2
        os.kill(command.pid, number)
        command.wait(30)
        wait_for_end(*workers)
    finally:
        command.kill()
        command.wait()
        command.stdout.close()


def test_worker_ends_whose_parent_ended_before_its_first_task() -> None:
    with start_python(LATE_WORKER, stdout=subprocess.PIPE) as command:
        wait_for_end(int(command.stdout.readline()))
