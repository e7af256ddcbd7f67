"""Output of commands is complete or unchanged, however the process or the stream ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from forked_process import start_python

PROGRAM = "from gradraker.cli import main; main(prog_name='gradraker')"
SLOW_WRITER = """
import importlib, sys, time
from gradraker.cli.output import make_csv

def slow_rows(rows):
    for row in rows:
        yield row
        sys.stderr.write("row\\n")
        sys.stderr.flush()
        time.sleep(0.2)

module = importlib.import_module("gradraker.cli.{module}")
module.make_csv = lambda rows: make_csv(slow_rows(rows))
"""
# All commands write in the same way. The first loads little, the second nearly everything.
WRITING = pytest.mark.parametrize(
    ("module", "words"),
    [
        ("nodes.data", "data fetch temperature --values"),
        pytest.param(
            "output",
            "predict --edges edges.csv --values known.csv --out",
            marks=pytest.mark.slow,
        ),
    ],
)


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


@contextmanager
def start_slow_writer(module: str, words: str, stations: Path, out: Path) -> Iterator[Any]:
    """Run a command in another process, which says "row" before it writes each row."""
    program = SLOW_WRITER.replace("{module}", module) + PROGRAM
    process = start_python(
        program,
        *words.split(),
        out,
        cwd=stations,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.process
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
@WRITING
def test_killed_while_writing_leaves_the_old_output(
    module: str, words: str, stations: Path, tmp_path: Path
) -> None:
    out = tmp_path / "p.csv"
    out.write_text("old")
    with start_slow_writer(module, words, stations, out) as process:
        for _ in range(3):  # three rows are on their way
            assert process.stderr.readline() == "row\n"
        assert len(list(tmp_path.iterdir())) == 2  # the old file and the temporary one
        process.send_signal(signal.SIGKILL)
        assert process.wait(timeout=60) == -signal.SIGKILL
    assert out.read_text() == "old"
    # A killed process cannot clean up; the file that it leaves is hidden and has another name.
    assert visible(tmp_path) == ["p.csv"]


@pytest.mark.process
@WRITING
def test_interrupted_process_removes_its_temporary_files(
    module: str, words: str, stations: Path, tmp_path: Path
) -> None:
    out = tmp_path / "p.csv"
    with start_slow_writer(module, words, stations, out) as process:
        assert process.stderr.readline() == "row\n"
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(timeout=60) == 130
    assert "Stopped." in rest
    assert "Traceback" not in rest
    assert list(tmp_path.iterdir()) == []


WRITERS = pytest.mark.parametrize(
    "words",
    [
        "data fetch temperature --values -",
        pytest.param(
            "predict --edges edges.csv --values known.csv --out -", marks=pytest.mark.slow
        ),
    ],
)


@pytest.mark.process
@WRITERS
def test_a_closed_pipe_gives_no_traceback(stations: Path, words: str) -> None:
    process = start_python(
        *(PROGRAM, *words.split()),
        cwd=stations,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    process.stdout.close()  # the reader has gone before anything is written
    _, errors = process.communicate(timeout=120)
    assert "Traceback" not in errors
    assert process.returncode == 1


@pytest.mark.process
@WRITERS
def test_process_writes_utf8_whatever_the_terminal(stations: Path, words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words.split()],
        cwd=stations,
        capture_output=True,
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert "Zürich / Fluntern" in done.stdout.decode("utf-8")
