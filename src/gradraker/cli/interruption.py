"""Handle Ctrl-C where Python would only print it and continue: in callbacks from C and destructors.

Also where it turns into another error, as in C code that is interrupted during its import.
"""

import _thread
import os
import signal
import sys
import threading
from types import FrameType

INTERRUPTED = 130  # the exit code that shells use for Ctrl-C
_RETRY_SECONDS = 0.05


class InterruptWatch:
    """Records Ctrl-C, and repeats one that Python could not raise until it is raised.

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
        sys.unraisablehook = self._retry
        self._raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self._raises &= threading.current_thread() is threading.main_thread()
        if self._raises:
            signal.signal(signal.SIGINT, self._raise)
        return self

    def __exit__(self, *_: object) -> None:
        sys.unraisablehook = self._previous
        if self._raises:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self.was_interrupted = True
        signal.default_int_handler(number, frame)

    def _retry(self, ignored: "sys.UnraisableHookArgs") -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            self._previous(ignored)
            return
        self.was_interrupted = True
        repeat = threading.Timer(_RETRY_SECONDS, _interrupt)
        repeat.daemon = True
        repeat.start()


def _interrupt() -> None:
    if os.name == "nt":
        _thread.interrupt_main()
    else:  # also wakes the main thread if it waits
        os.kill(os.getpid(), signal.SIGINT)
