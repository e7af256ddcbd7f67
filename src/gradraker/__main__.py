"""``python -m gradraker`` and the command ``gradraker``.

Ctrl-C is handled before anything heavy is imported: at any moment it ends a command with exit
code 130 and without a traceback.
"""

import atexit
import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130  # the exit code that shells use for Ctrl-C


def run() -> None:
    """Run the command line and exit with its code."""
    signal.signal(signal.SIGINT, _leave)
    # Runs after all other exit functions: from then on Ctrl-C would only change the exit code.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    _open_closed_streams()
    from gradraker.cli import main

    code = 1
    try:
        # From here on commands may save finished work before they stop.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        main(prog_name="gradraker")
    except SystemExit as request:
        code = request.code if isinstance(request.code, int) else int(request.code is not None)
    except KeyboardInterrupt:
        code = INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, _leave)
    code = _flush_streams(code)
    if code == INTERRUPTED:
        # If Ctrl-C came while Python compiled source code, Python kills itself by the signal at
        # exit, although it was handled. So the exit functions are run here instead.
        atexit._run_exitfuncs()
        _flush_streams(code)
        os._exit(INTERRUPTED)
    sys.exit(code)


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _flush_streams(code: int) -> int:
    """Flush the standard streams, and return the exit code.

    A full disk is an error for standard output; for standard error the exit code stays the same.
    """
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            if number == 1:
                code = code or 1
            # Python would flush again at exit, fail, and exit with code 120.
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    return code


def _open_closed_streams() -> None:
    """Open closed standard streams on the null device, so that no later file gets their number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
        if getattr(sys, name) is None:
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


if __name__ == "__main__":
    run()
