"""Disks that fill up, places that cannot be written, and outputs that are not files."""

import os
import random
import resource
import shutil
import signal
import stat
import threading
from collections.abc import Callable
from pathlib import Path

from torture.attempts import Budget, Counts, list_hidden, make_folder, run_child, run_command
from torture.commands import COMMANDS, Command, read_outputs, run_in, write_inputs


def write_to_odd_places(budget: Budget) -> Counts:
    """Fill the disk at random sizes, and try each odd place."""
    counts = Counts()
    with make_folder() as folder:
        start = folder / "start"
        start.mkdir()
        write_inputs(start)
        reference = folder / "reference"
        shutil.copytree(start, reference)
        run_in(reference, *COMMANDS[0].arguments)
        table = (reference / "p.csv").read_bytes()
        filled = 0
        for number in budget.numbers():
            rng = random.Random(f"{budget.seed} {number}")
            if number % 3 == 2:
                counts.add(_fill_disk(start, rng.choice(COMMANDS), rng))
                filled += 1
            else:
                place = PLACES[(number - number // 3) % len(PLACES)]
                counts.add(_try_place(start, place, table))
    counts.remark = f"{filled} disks that filled up, {len(PLACES)} kinds of places"
    return counts


def _fill_disk(start: Path, command: Command, rng: random.Random) -> str | None:
    """No file may grow beyond a size: the system refuses to write more, as on a full disk."""
    with make_folder() as folder:
        work = folder / "work"
        shutil.copytree(start, work)
        before = read_outputs(work, command)
        limit = rng.choice([0, 1, 10, 100, 300, 1000, 3000, 10_000, 30_000])

        def run() -> None:
            os.chdir(work)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            os.dup2(1, 2)  # not to the file of errors, which could not grow either
            import polars  # noqa: F401

            _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            run_command(*command.arguments)

        where = f"{command.name} with files of {limit} bytes at most"
        ended = run_child(run)
        if ended.code not in (0, 1):
            return f"{where}: ended with {ended.code}: {ended.text}"
        after = read_outputs(work, command)
        for name in command.outputs:
            if ended.code and after[name] != before[name] and not name.endswith(".jsonl"):
                return f"{where}: {name} changed, and the command failed"
        if list_hidden(work):
            return f"{where}: {list_hidden(work)} are left"
        try:
            run_in(work, *command.arguments)
        except RuntimeError as error:
            return f"{where}: the next run failed: {error}"
    return None


# A place: makes the output in a folder, and looks at it afterwards.
Place = Callable[[Path, bytes], str | None]


def _predict_to(folder: Path, out: str) -> int:
    def run() -> None:
        os.chdir(folder)
        run_command("predict", *INPUTS, "--method", "skg", "--sigma2", "1", "--out", out)

    return run_child(run).code


INPUTS = ("--edges", "e.csv", "--values", "v.csv")


def _to_link(folder: Path, table: bytes) -> str | None:
    (folder / "other").mkdir()
    target = folder / "other" / "target.csv"
    target.write_text("old")
    target.chmod(0o600)
    (folder / "link.csv").symlink_to("other/target.csv")
    code = _predict_to(folder, "link.csv")
    kept = (folder / "link.csv").is_symlink() and stat.S_IMODE(target.stat().st_mode) == 0o600
    return None if code == 0 and kept and target.read_bytes() == table else "link"


def _to_loop(folder: Path, table: bytes) -> str | None:
    (folder / "loop.csv").symlink_to("loop.csv")
    return None if _predict_to(folder, "loop.csv") == 1 else "link to itself"


def _to_fifo(folder: Path, table: bytes) -> str | None:
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(fifo.read_bytes()))
    reader.start()
    code = _predict_to(folder, "fifo")
    if code != 0:  # let the reader end
        os.close(os.open(fifo, os.O_RDWR | os.O_NONBLOCK))
    reader.join(30)
    sound = code == 0 and received == [table] and stat.S_ISFIFO(fifo.stat().st_mode)
    return None if sound else "FIFO"


def _to_device(folder: Path, table: bytes) -> str | None:
    code = _predict_to(folder, "/dev/null")
    is_device = stat.S_ISCHR(os.stat("/dev/null").st_mode)
    return None if code == 0 and is_device else "device"


def _to_full_device(folder: Path, table: bytes) -> str | None:
    code = _predict_to(folder, "/dev/full")
    is_device = stat.S_ISCHR(os.stat("/dev/full").st_mode)
    return None if code == 1 and is_device else f"full device: exit code {code}"


def _to_folder(folder: Path, table: bytes) -> str | None:
    (folder / "out").mkdir()
    return None if _predict_to(folder, "out") == 1 and not os.listdir(folder / "out") else "folder"


def _to_missing_folder(folder: Path, table: bytes) -> str | None:
    return None if _predict_to(folder, "nowhere/p.csv") == 1 else "missing folder"


def _to_proc(folder: Path, table: bytes) -> str | None:
    return None if _predict_to(folder, "/proc/p.csv") == 1 else "file system without files"


def _to_longest_name(folder: Path, table: bytes) -> str | None:
    name = "x" * 251 + ".csv"
    sound = _predict_to(folder, name) == 0 and (folder / name).read_bytes() == table
    return None if sound and _predict_to(folder, "x" * 256) == 1 else "longest name"


def _to_hard_link(folder: Path, table: bytes) -> str | None:
    (folder / "a.csv").write_text("old")
    os.link(folder / "a.csv", folder / "b.csv")
    code = _predict_to(folder, "a.csv")
    # The other name keeps the old content, as after a move.
    sound = code == 0 and (folder / "a.csv").read_bytes() == table
    return None if sound and (folder / "b.csv").read_text() == "old" else "hard link"


def _as_nobody(folder: Path, table: bytes) -> str | None:
    if os.geteuid() != 0:
        return None
    closed = folder / "closed"
    closed.mkdir()
    closed.chmod(0o755)
    folder.parent.chmod(0o755)
    folder.chmod(0o755)

    def run() -> None:
        os.chdir(folder)
        os.setgid(65534)
        os.setuid(65534)
        run_command("predict", *INPUTS, "--out", "closed/p.csv")

    code = run_child(run).code
    return None if code == 1 and not os.listdir(closed) else f"closed folder: exit code {code}"


PLACES: tuple[Place, ...] = (
    _to_link,
    _to_fifo,
    _to_device,
    _to_full_device,
    _to_folder,
    _to_missing_folder,
    _to_proc,
    _to_longest_name,
    _to_hard_link,
    _to_loop,
    _as_nobody,
)


def _try_place(start: Path, place: Place, table: bytes) -> str | None:
    with make_folder() as folder:
        work = folder / "work"
        shutil.copytree(start, work)
        failure = place(work, table)
        if failure is None and list_hidden(work):
            failure = f"{place.__name__}: {list_hidden(work)} are left"
    return failure
