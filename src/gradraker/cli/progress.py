"""Progress on standard error, for people who wait longer than a second."""

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import click

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY_SECONDS = 1.0


class Waiting:
    """A line that says what is being done, on a terminal only, from the second second on.

    A timer starts it, since training reports nothing while it runs.

    Examples
    --------
    >>> with Waiting() as waiting:
    ...     waiting.show_stage("training")
    ...     waiting.show_progress("reading", 10, 100)  # for the readers: stage, done, total
    """

    def __init__(self) -> None:
        self._stage = "starting"
        self._file = ""
        self._part: tuple[int, int] | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._over = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(DELAY_SECONDS, self._start)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Show no more progress."""
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._bar is not None:
                self._bar.stop()

    def show_stage(self, stage: str) -> None:
        """Say what comes now; how long it takes is not known."""
        self._show(stage, None)

    def set_file(self, name: str) -> None:
        """Say which file the next calls of ``show_progress`` are about."""
        self._file = name

    def show_progress(self, stage: str, done: int, total: int) -> None:
        """Say how far a reader is."""
        self._show(f"{stage} {self._file}".rstrip(), (done, total))

    def tell(self, text: str) -> None:
        """Print a line on standard error that stays, above the progress if there is any."""
        with self._lock, suppress(OSError):  # a full disk behind standard error stops no work
            if self._bar is None:
                click.echo(text, err=True)
            else:
                self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _show(self, stage: str, part: tuple[int, int] | None) -> None:
        with self._lock:
            self._stage, self._part = stage, part
            self._update()

    def _update(self) -> None:
        if self._bar is None or self._task is None:
            return
        done, total = (0, None) if self._part is None else self._part
        left = "" if total is None else "left:"
        self._bar.update(
            self._task, description=self._stage, completed=done, total=total, left=left
        )

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        with self._lock:
            if self._over:  # the work ended while rich was loaded
                return
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
                TimeRemainingColumn(),  # nothing where the end is not known
                console=Console(stderr=True, markup=False),
                transient=True,
            )
            self._task = self._bar.add_task(self._stage, total=None, left="")
            self._update()
            self._bar.start()
