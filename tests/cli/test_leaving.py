"""How the command line ends: Ctrl-C at any moment, closed streams, completion."""

import os
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
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors


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


CLOSED = pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])


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


@pytest.mark.process
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_is_generated_and_in_the_help(shell: Any, run: Any) -> None:
    environment = os.environ | {"_GRADRAKER_COMPLETE": f"{shell}_source"}
    done = subprocess.run(COMMAND, env=environment, capture_output=True, text=True, check=True)
    assert "_GRADRAKER_COMPLETE" in done.stdout
    assert f"_GRADRAKER_COMPLETE={shell}_source" in run("--help").stdout


def test_help_groups_options_and_names_only_those_of_the_command(run: Any) -> None:
    text = run("predict", "--help").stdout
    skg = text.split("Only with --method skg:")[1]
    for option in ("--sigma2", "--kernel", "--frequencies", "--epochs", "--hops"):
        assert option in skg
    assert "--coverage" not in skg
    for command in ("ranges", "sweep"):
        assert "--method" not in run(command, "--help").stdout
