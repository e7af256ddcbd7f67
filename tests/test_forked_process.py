"""Processes that tests fork behave as processes that are started."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT
from typing import Any

import pytest

from fork_server import MODULES
from forked_process import can_fork, start_python

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not can_fork(), reason="processes are started here, not forked"),
]


def start_really(program: str, *words: str, **options: Any) -> Any:
    return subprocess.Popen([sys.executable, "-c", program, *words], text=True, **options)


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("gradraker")])
def test_modules_that_are_imported_ahead_exist(module: str) -> None:
    assert importlib.util.find_spec(module) is not None


PROGRAMS = {
    "end": "print('done')",
    "code": "import sys; print(sys.argv); sys.exit(7)",
    "words": "import sys; sys.exit('no')",
    "error": "raise ValueError('odd')",
    "place": "import os, sys; print(os.getcwd(), os.environ['ODD'], __name__, sys.stdin.read())",
    "thread": (
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()"
    ),
    "exit": "import atexit; atexit.register(print, 'bye'); print('hello')",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "interrupted": "import os; os.kill(os.getpid(), 2)",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_forked_process_ends_as_a_started_one(program: str, tmp_path: Path) -> None:
    environment = os.environ | {"ODD": "an odd value"}
    options = {"stdin": DEVNULL, "stdout": PIPE, "stderr": PIPE, "cwd": tmp_path}
    forked, started = (
        start(program, "a", "é", env=environment, **options)
        for start in (start_python, start_really)
    )
    output, errors = forked.communicate(timeout=60)
    expected, expected_errors = started.communicate(timeout=60)
    assert forked.returncode == started.returncode
    assert output == expected
    assert errors.splitlines()[-1:] == expected_errors.splitlines()[-1:]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_forked_process_is_ended_by_signals(number: signal.Signals) -> None:
    program = "import time; print('here', flush=True); time.sleep(60)"
    with start_python(program, stdout=PIPE, stderr=STDOUT) as process:
        assert process.stdout.readline() == "here\n"
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.send_signal(number)
        assert process.wait(30) == -number
        assert process.poll() == -number


def test_forked_process_reads_what_it_is_sent() -> None:
    program = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"
    with start_python(program, stdin=PIPE, stdout=PIPE) as process:
        for word in ("one\n", "zwölf\n"):
            process.stdin.write(word)
            process.stdin.flush()
            assert process.stdout.readline() == word.upper()
        process.stdin.close()
        assert process.wait(30) == 0


def test_forked_process_has_the_library_imported() -> None:
    program = "import sys; print('gradraker.models' in sys.modules, 'matplotlib' in sys.modules)"
    process = start_python(program, stdout=PIPE)
    assert process.communicate(timeout=60)[0] == "True False\n"
