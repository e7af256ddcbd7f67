"""Ctrl-C in callbacks from C and in destructors, where Python prints it and goes on."""

import _thread
import os
import signal
import sys
import threading
from types import TracebackType

INTERRUPTED = 130  # as shells do for Ctrl-C
_SECONDS = 0.05


class InterruptWatch:
    """Takes note of a Ctrl-C that Python could not raise, and repeats it until it is raised.

    Examples
    --------
    >>> from gradraker.cli.interruption import InterruptWatch
    >>> with InterruptWatch() as watch:
    ...     pass
    >>> watch.was_interrupted
    False
    """

    def __init__(self) -> None:
        self.was_interrupted = False

    def __enter__(self) -> "InterruptWatch":
        self._previous = sys.unraisablehook
        sys.unraisablehook = self._note
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sys.unraisablehook = self._previous

    def _note(self, ignored: "sys.UnraisableHookArgs") -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            self._previous(ignored)
            return
        self.was_interrupted = True
        repeat = threading.Timer(_SECONDS, _interrupt)
        repeat.daemon = True
        repeat.start()


def _interrupt() -> None:
    if os.name == "nt":
        _thread.interrupt_main()
    else:  # also ends a wait of the main thread
        os.kill(os.getpid(), signal.SIGINT)
