"""A sweep in a process of its own, which a test stops on its way."""

import time
from pathlib import Path
from typing import Any


def wait_for_lines(path: Path, n: int, process: Any) -> None:
    """Wait until the file of a sweep has so many lines."""
    for _ in range(3000):
        if path.exists() and path.read_bytes().count(b"\n") >= n:
            return
        assert process.poll() is None, "the sweep ended before it was stopped"
        time.sleep(0.01)
    raise AssertionError("the sweep did not start")
