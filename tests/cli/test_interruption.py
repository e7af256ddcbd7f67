"""Ctrl-C at any moment: exit code 130, and no traceback."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-m", "gradraker"]


@pytest.fixture
def slow_job(tmp_path: Path) -> Any:
    """A prediction that takes some seconds."""
    n = 3000
    edges = "".join(f"{i},{(i * k + 1) % n}\n" for i in range(n) for k in (3, 7, 11))
    (tmp_path / "e.csv").write_text(f"source,target\n{edges}")
    (tmp_path / "v.csv").write_text("node,value\n" + "".join(f"{i},{i % 7}\n" for i in range(1500)))
    return ["predict", "--edges", str(tmp_path / "e.csv"), "--values", str(tmp_path / "v.csv")]


def _wait_for_program(process: "subprocess.Popen[str]") -> None:
    """Wait until the shell has become the program: a busy machine may take its time."""
    name = Path(f"/proc/{process.pid}/comm")
    while name.exists() and name.read_text() == "bash\n" and process.poll() is None:
        time.sleep(0.005)


@pytest.mark.process
@pytest.mark.parametrize(
    ("seconds", "streams"),
    [
        (0.15, ""),
        (0.4, ""),
        (1.0, ""),
        (2.0, "<&- >&- 2>&-"),
        pytest.param(2.0, "2> /dev/full", marks=pytest.mark.slow),
        pytest.param(2.5, "", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_is_130_without_a_traceback(slow_job: Any, seconds: Any, streams: str) -> None:
    line = f"exec {' '.join([*COMMAND, *slow_job])} {streams}"
    process = subprocess.Popen(
        ["bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    _wait_for_program(process)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors


@pytest.mark.process
@pytest.mark.parametrize("then", ["raise RuntimeError('lost')", "time.sleep(60)"])
def test_ctrl_c_in_a_callback_from_c_is_130(then: str) -> None:
    program = (
        "import ctypes, os, sys, time\n"
        "from gradraker.__main__ import run\n"
        "from gradraker.cli import main\n"
        "@main.command()\n"
        "def waits():\n"
        "    @ctypes.CFUNCTYPE(None)\n"
        "    def interrupted():\n"
        "        os.kill(os.getpid(), 2)\n"
        "        time.sleep(0)\n"
        "    interrupted()\n"
        f"    {then}\n"
        "sys.argv = ['gradraker', 'waits']\n"
        "run()\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "Stopped.")


@pytest.mark.process
def test_ctrl_c_that_a_library_turned_into_an_error_is_130() -> None:
    # As C code does that is interrupted while Python imports it.
    program = (
        "import os, sys, time\n"
        "from gradraker.__main__ import run\n"
        "from gradraker.cli import main\n"
        "@main.command()\n"
        "def waits():\n"
        "    try:\n"
        "        os.kill(os.getpid(), 2)\n"
        "        time.sleep(60)\n"
        "    except KeyboardInterrupt:\n"
        "        raise ImportError('initialization failed')\n"
        "sys.argv = ['gradraker', 'waits']\n"
        "run()\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "Stopped.")
