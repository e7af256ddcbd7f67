"""``python -m gradraker`` and the command ``gradraker``.

Nothing heavy is imported before Ctrl-C is taken care of: it ends every command with exit code 130
and without a traceback, from the first moment to the last.
"""

import atexit
import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130  # as shells do for Ctrl-C


def run() -> None:
    """Run the command line and leave with its exit code."""
    signal.signal(signal.SIGINT, _leave)
    # Registered first, so it runs last: a Ctrl-C during shutdown would change the exit code.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    _open_closed_streams()
    from gradraker.cli import main

    code = 1
    try:
        # From here on Ctrl-C raises KeyboardInterrupt, so that commands can save their results.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        main(prog_name="gradraker")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        code = INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, _leave)
    code = _flush_streams(code)
    if code == INTERRUPTED:
        # If Ctrl-C came while Python compiled source text, sys.exit would end by the signal even
        # though it was handled. So the steps of a normal exit are taken here instead.
        atexit._run_exitfuncs()
        _flush_streams(code)
        os._exit(INTERRUPTED)
    sys.exit(code)


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _flush_streams(code: int) -> int:
    """Flush the standard streams, and return the exit code.

    A full disk behind standard output is an error; behind standard error it changes no exit code.
    """
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            if number == 1:
                code = code or 1
            # Python flushes once more at exit, and would fail with exit code 120.
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    return code


def _open_closed_streams() -> None:
    """Open closed standard streams on the null device, so that no other file gets their number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
        if getattr(sys, name) is None:
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


if __name__ == "__main__":
    run()
