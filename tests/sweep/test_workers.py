"""Worker processes of a sweep end with the command, also if it is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
from gradraker import load_temperature
from gradraker.sweep import sigma2_sweep

sigma2_sweep(
    load_temperature(),
    n_repeats=2000,
    n_jobs=2,
    n_epochs=200,
    progress=lambda *a: print(*a, flush=True),
)
"""

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


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


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_workers_end_with_their_parent(number: Any) -> None:
    command: Any = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True
    )
    try:
        for _ in range(6):  # some repeats are done: both workers work
            assert command.stdout.readline()
        workers = list_children(command.pid)
        assert len(workers) >= 2
        os.kill(command.pid, number)
        command.wait(30)
        until = time.monotonic() + 60  # seconds; quick unless the machine is busy
        while any(map(is_alive, workers)) and time.monotonic() < until:
            time.sleep(0.1)
        left = [worker for worker in workers if is_alive(worker)]
        for worker in left:
            os.kill(worker, signal.SIGKILL)
        assert left == []
    finally:
        command.kill()
        command.wait()
        command.stdout.close()
