"""Commands that are killed at each point where a file is opened, written, flushed or moved."""

import io
import os
import random
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from torture.attempts import Budget, Counts, list_hidden, make_folder, run_child, run_command
from torture.commands import COMMANDS, Command, read_outputs, run_in, write_inputs

_EVENTS = {"open", "os.rename", "os.remove", "os.chmod", "os.chown", "os.link", "os.truncate"}


def kill_commands(budget: Budget) -> Counts:
    """Kill, look at the files, run the command again."""
    counts = Counts()
    with make_folder() as folder:
        start = folder / "start"
        start.mkdir()
        write_inputs(start)
        rng = random.Random(budget.seed)
        commands = rng.sample(COMMANDS, len(COMMANDS))
        points: dict[str, int] = {}
        expected: dict[str, dict[str, bytes | None]] = {}
        todo: dict[str, list[int]] = {command.name: [] for command in commands}
        for number in budget.numbers():
            command = commands[number % len(commands)]
            name = command.name
            if name not in points:  # only now: each takes a run
                points[name], expected[name] = _run_watched(start, command)
            if not todo[name]:  # every point once before any is tried again
                todo[name] = rng.sample(range(1, points[name] + 1), points[name])
            with_old = rng.random() < 0.5
            at = todo[name].pop()
            counts.add(_try_kill(start, command, at, expected[name], with_old=with_old))
    every = ", ".join(f"{name} {n}" for name, n in points.items())
    counts.remark = f"points: {every}"
    return counts


def kill_at(at: int, folder: Path, counted: Path | None = None) -> None:
    """Kill this process at the ``at``-th point, or write down how many there were."""
    seen = 0
    prefix = os.fspath(folder)

    def pass_point() -> None:
        nonlocal seen
        seen += 1
        if counted is not None:
            counted.write_text(str(seen))
        elif seen == at:
            os.kill(os.getpid(), signal.SIGKILL)

    busy = False

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal busy
        if event not in _EVENTS or busy:
            return
        path = os.path.abspath(os.fsdecode(arguments[0])) if _is_path(arguments[0]) else ""
        if path.startswith(prefix) and path != os.fspath(counted or ""):
            busy = True
            pass_point()
            busy = False

    class Watched(io.BufferedRandom):
        """A file that can be killed when half of a piece was written."""

        def write(self, content: Any) -> int:
            view = memoryview(content).cast("B")
            half = len(view) // 2
            super().write(view[:half])
            super().flush()
            pass_point()
            super().write(view[half:])
            return len(view)

    fsync = os.fsync

    def watched_fsync(descriptor: int) -> None:
        pass_point()
        fsync(descriptor)
        pass_point()

    patched: Any = os
    patched.fsync = watched_fsync
    fdopen = os.fdopen
    patched.fdopen = lambda descriptor, mode="r", *rest, **options: (
        Watched(io.FileIO(descriptor, "r+"))
        if mode == "w+b"
        else fdopen(descriptor, mode, *rest, **options)
    )
    sys.addaudithook(audit)


def _is_path(argument: object) -> bool:
    return isinstance(argument, str | bytes | os.PathLike)


def _run_until(folder: Path, command: Command, at: int, counted: Path | None) -> None:
    os.chdir(folder)
    kill_at(at, folder, counted)
    run_command(*command.arguments)


def _run_watched(start: Path, command: Command) -> tuple[int, dict[str, bytes | None]]:
    """Return how many points a command passes, and what it writes undisturbed."""
    with make_folder() as folder:
        work, counted = folder / "work", folder / "counted"
        shutil.copytree(start, work)
        ended = run_child(lambda: _run_until(work, command, 0, counted))
        if ended.code:
            raise RuntimeError(f"{command.name} ended with {ended.code}: {ended.text}")
        return int(counted.read_text()), read_outputs(work, command)


def _try_kill(
    start: Path, command: Command, at: int, expected: dict[str, bytes | None], *, with_old: bool
) -> str | None:
    where = f"{command.name} killed at point {at}"
    with make_folder() as folder:
        work = folder / "work"
        shutil.copytree(start, work)
        if with_old and command.name in ("predict", "data", "demo"):
            for name in command.outputs:
                (work / name).write_bytes(b"old")
        before = read_outputs(work, command)
        ended = run_child(lambda: _run_until(work, command, at, None))
        if ended.code not in (-signal.SIGKILL, 0):
            return f"{where}: it ended with {ended.code}: {ended.text}"
        after = read_outputs(work, command)
        for name in command.outputs:
            grows = name == "s.jsonl" and (after[name] is None or _is_start(after[name]))
            if after[name] not in (before[name], expected[name]) and not grows:
                return f"{where}: {name} is neither the old file nor the new one"
        try:
            run_in(work, *command.arguments)
        except RuntimeError as error:
            return f"{where}: the next run failed: {error}"
        if read_outputs(work, command) != expected:
            return f"{where}: the next run wrote something else"
        if list_hidden(work):
            return f"{where}: {list_hidden(work)} are left after the next run"
    return None


def _is_start(content: bytes | None) -> bool:
    """Whether a file of a sweep holds its settings; its repeats come as they are done."""
    return content is not None and content.startswith(b'{"format": "gradraker sweep')
