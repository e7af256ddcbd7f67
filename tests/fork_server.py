"""A process that has imported the library and forks others, which need not import it again.

``forked_process.py`` starts it as ``python fork_server.py NUMBER``, with the file descriptor of its
socket. It stands alone: nothing of the tests is imported.
"""

import array
import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
import threading
import traceback
import types
from typing import Any

# What commands and services import, as far as it is installed.
MODULES = (
    "gradraker.cli.nodes.update",
    "gradraker.cli.output",
    "gradraker.cli.skg.sweep",
    "gradraker.live.learning.live_model",
    "gradraker.live.server",
    "gradraker.models",
    "gradraker.sweep",
    "gradraker.workflow",
    "rich.table",
)
LONGEST_REQUEST = 1 << 20  # bytes


def serve(channel: socket.socket) -> None:
    """Fork a process for each request, until the tests have ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    for module in MODULES:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    n_threads = len(os.listdir("/proc/self/task"))
    assert n_threads == 1, f"a process of {n_threads} threads must not be forked"
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, LONGEST_REQUEST, 4)
        if not message:
            return
        if os.fork() == 0:
            channel.close()
            keep(json.loads(message), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def keep(request: dict[str, Any], report: int, *streams: int) -> None:
    """Fork the process, and report its number and then its exit code as its parent."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    process = os.fork()
    if process == 0:
        os.close(report)
        become(request, *streams)
    for stream in streams:
        os.close(stream)
    os.write(report, array.array("q", [process]).tobytes())
    _, status = os.waitpid(process, 0)
    with contextlib.suppress(BrokenPipeError):  # nobody asked for it
        os.write(report, array.array("q", [os.waitstatus_to_exitcode(status)]).tobytes())
    os._exit(0)


def become(request: dict[str, Any], *streams: int) -> None:
    """Run a program as ``python -c`` would, and end with its exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = 1
    try:
        set_up(request, streams)
        code = run(request["program"])
    except KeyboardInterrupt:
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def set_up(request: dict[str, Any], streams: tuple[int, ...]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stdout.reconfigure(write_through=at_once)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.argv = ["-c", *request["words"]]


def run(program: str) -> int:
    """Return the exit code of a program."""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        exec(compile(program, "<string>", "exec"), vars(main))
    except SystemExit as left:
        if left.code is None or isinstance(left.code, int):
            return left.code or 0
        print(left.code, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
