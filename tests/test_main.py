"""The command as it is installed, and how its process ends."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from gradraker import __main__ as gradraker_main

CLOSED = pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])


def test_the_installed_command_is_that_of_python_m() -> None:
    (script,) = entry_points(group="console_scripts", name="gradraker")
    assert script.value == "gradraker.__main__:run"
    assert script.load() is gradraker_main.run


@pytest.mark.process
def test_ctrl_c_while_python_ends_leaves_the_exit_code() -> None:
    # What was done is done: the signal comes when modules are taken apart.
    program = (
        "import os, signal, sys\n"
        "from gradraker.__main__ import run\n"
        "class Last:\n"
        "    def __del__(self, kill=os.kill, me=os.getpid()):\n"
        "        kill(me, 2)\n"
        "kept = Last()\n"
        "sys.argv = ['gradraker', '--version']\n"
        "run()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.process
@CLOSED
def test_commands_run_with_closed_standard_streams(tmp_path: Path, closed: str) -> None:
    out = tmp_path / "e.csv"
    line = f"{sys.executable} -m gradraker data fetch temperature --edges {out} {closed}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert out.read_text("utf-8").startswith("source,target")
    assert out.read_text("utf-8").count("\n") == 2516


@pytest.mark.process
@pytest.mark.slow
@CLOSED
def test_predict_with_closed_standard_streams(tmp_path: Path, closed: str) -> None:
    out = tmp_path / "p.csv"
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\nc,a\n")
    (tmp_path / "v.csv").write_text("node,value\na,1\nb,2\n")
    files = f"--edges {tmp_path}/e.csv --values {tmp_path}/v.csv --out {out}"
    line = f"{sys.executable} -m gradraker predict {files} {closed}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert out.read_text().startswith("node,known,value,prediction\n")
    assert out.read_text().count("\n") == 4


@pytest.mark.process
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")
@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("--version > /dev/full", 1, "Error: [Errno 28] No space left on device"),
        ("predict --help > /dev/full", 1, "Error: [Errno 28] No space left on device"),
        ("data list > /dev/full", 1, "Error: [Errno 28] No space left on device"),
        ("data list > /dev/full 2> /dev/full", 1, ""),
        ("predict --no-such-option 2> /dev/full", 2, ""),
        # test_output_progress.py has a quick test of the same.
        pytest.param(
            "predict --edges e.csv --values v.csv 2> /dev/full", 0, "", marks=pytest.mark.slow
        ),
    ],
)
@pytest.mark.parametrize("unbuffered", ["", pytest.param("1", marks=pytest.mark.slow)])
def test_full_disk_behind_a_stream_is_one_sentence(
    tmp_path: Path, line: str, code: int, message: str, unbuffered: str
) -> None:
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\nc,a\n")  # gives a note
    (tmp_path / "v.csv").write_text("node,value\na,1\nb,2\n")
    program = f"{sys.executable} -m gradraker {line}"
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(
        ["bash", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert (done.returncode, done.stderr.strip()) == (code, message)
