"""Temporary files of killed writers are removed by the next writer; those in use are not."""

import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from gradraker._files import write_bytes

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of POSIX")

WRITER = """
import sys, time
from gradraker._files import write_file

def write(file):
    file.write(b"half of the n")
    file.flush()
    print("writing", flush=True)
    time.sleep(100)

write_file(sys.argv[1], write)
"""


@pytest.fixture
def start_writer() -> Any:
    writers = []

    def start(path: Any) -> Any:
        writer: Any = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        writers.append(writer)
        assert writer.stdout.readline() == "writing\n"
        return writer

    yield start
    for writer in writers:
        writer.kill()
        writer.wait()
        writer.stdout.close()


def test_next_writer_removes_files_of_killed_writers(tmp_path: Any, start_writer: Any) -> None:
    target, other = tmp_path / "a.csv", tmp_path / "b.csv"
    writers = [start_writer(path) for path in (target, target, other)]
    for writer in writers:
        writer.kill()
        writer.wait()
    assert len(os.listdir(tmp_path)) == 3
    write_bytes(target, b"new")
    assert target.read_bytes() == b"new"
    assert len(os.listdir(tmp_path)) == 2  # that of b.csv stays until b.csv is written
    write_bytes(other, b"new")
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "b.csv"]


def test_temporary_file_of_a_running_writer_stays(tmp_path: Any, start_writer: Any) -> None:
    start_writer(tmp_path / "a.csv")
    (temporary,) = os.listdir(tmp_path)
    write_bytes(tmp_path / "a.csv", b"new")
    assert sorted(os.listdir(tmp_path)) == sorted([temporary, "a.csv"])


def test_files_of_others_stay(tmp_path: Any) -> None:
    others = [".a.csv-1", ".gradraker-notes", "a.csv.tmp"]
    for name in others:
        (tmp_path / name).write_bytes(b"")
    write_bytes(tmp_path / "a.csv", b"new")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "a.csv"])
