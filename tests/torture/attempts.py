"""What the parts of the battery share: a budget, counts, and child processes."""

import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Counts:
    """Attempts of one part, those that failed, and a remark for the table."""

    tried: int = 0
    failures: list[str] = field(default_factory=list)
    remark: str = ""

    def add(self, failure: str | None = None) -> None:
        """Count one attempt."""
        self.tried += 1
        if failure is not None:
            self.failures.append(failure)


@dataclass
class Budget:
    """How long a part may take, and the seed of its attempts."""

    seconds: float
    seed: int
    most: int = 10**9

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds

    def numbers(self) -> Any:
        """Give the numbers of attempts until the time is over; the first one always."""
        for number in range(self.most):
            if number and time.monotonic() > self._end:
                return
            yield number


@dataclass
class Ended:
    """How a child process ended: its exit code, negative for a signal, and what it said."""

    code: int
    text: str


def start_child(work: Callable[[], object], *, quiet: bool = True) -> tuple[int, Path]:
    """Run a function in a copy of this process; return its number and the file of its errors."""
    descriptor, name = tempfile.mkstemp(prefix="torture-")
    child = os.fork()
    if child:
        os.close(descriptor)
        return child, Path(name)
    code = 70
    try:
        if quiet:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1):
                os.dup2(null, stream)
        os.dup2(descriptor, 2)
        work()
        code = 0
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else 1
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def wait_for_child(child: int, errors: Path, *, seconds: float = 60.0) -> Ended:
    """Wait until a child ends; one that takes too long is killed and has the code 124."""
    end = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            break
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return _collect(124, errors)
        time.sleep(0.002)
    return _collect(os.waitstatus_to_exitcode(status), errors)


def _collect(code: int, errors: Path) -> Ended:
    text = errors.read_text("utf-8", "replace")
    errors.unlink()
    return Ended(code, text[-2000:])


def run_child(work: Callable[[], object], *, seconds: float = 60.0) -> Ended:
    """Run a function in a copy of this process, and wait for it."""
    return wait_for_child(*start_child(work), seconds=seconds)


@contextmanager
def make_folder() -> Any:
    """Give an empty folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        yield Path(name)


def run_command(*arguments: str) -> None:
    """Run a command of gradraker in this process; SystemExit has its exit code."""
    from gradraker.cli import main

    main(list(arguments), prog_name="gradraker")


def list_hidden(folder: Path) -> list[str]:
    """Return the names of hidden files of ours."""
    return sorted(p.name for p in folder.rglob("*") if p.name.startswith(".gradraker-"))
