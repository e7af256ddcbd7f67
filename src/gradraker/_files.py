"""Write files so that a reader never sees half of one, and several of them together.

An output replaces a file, or goes through to a device, FIFO or stream. To replace a file, a
temporary file is written beside it and moved to its place, or removed. The writer holds a lock on
it; the next writer of the same file removes temporary files that it can lock, since their writers
were killed.
"""

import errno
import io
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from gradraker._locks import BEGINNING, has_no_locks, is_at, name_beside, try_lock
from gradraker.exceptions import PartlyWrittenError

_DESCRIPTORS = re.compile(r"/proc/(?P<process>self|thread-self|\d+)(/task/\d+)?/fd|/dev/fd")
_OCTAL = re.compile(rb"\\(\d{3})")  # how the list of mounts writes blanks
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_BLOCK = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
# Some writers choose a format by the suffix, so it is kept unless it is longer than this.
_LONGEST_SUFFIX = 20


@dataclass(frozen=True)
class Target:
    """The place of an output."""

    path: str  # as it was given, for messages
    file: Path | None = None  # to replace or to make, behind all links; None: write through
    before: os.stat_result | None = None  # of the file that is replaced
    descriptor: int | None = None  # of an open file that the path names: 1 for /dev/stdout


class Output(NamedTuple):
    """A file to write: its path, and a function that writes the content."""

    path: str | os.PathLike[str]
    write: Callable[[BinaryIO], object]


class Temporary:
    """A file beside ``target`` that only this writer knows.

    Parameters
    ----------
    target : Path
        The file to make or to replace.
    before : os.stat_result, optional
        Facts on the file that is replaced; the new one gets its mode, owner and attributes.
    """

    def __init__(self, target: Path, before: os.stat_result | None) -> None:
        self.target = target
        self._before = before
        remove_abandoned(target)
        self.path, descriptor = _create(target, private=before is not None)
        self.file = cast(BinaryIO, os.fdopen(descriptor, "w+b"))

    def finish(self) -> None:
        """Flush the content to the disk, and set the owner and mode of the file."""
        self.file.flush()
        if self._before is not None:
            _take_over(self.path, self.file.fileno(), self.target, self._before)
        os.fsync(self.file.fileno())

    def move(self) -> None:
        """Put the file in the place of the target."""
        if sys.platform == "win32":  # an open file cannot be moved there
            self.file.close()
        self.path.replace(self.target)
        self.file.close()

    def discard(self) -> None:
        """Remove the file unless it was moved."""
        with suppress(OSError):  # closing writes the rest, for which there may be no space
            self.file.close()
        self.path.unlink(missing_ok=True)


def write_files(outputs: Sequence[Output]) -> None:
    """Write several files: all of them complete, or none of them touched.

    Everything is written to temporary files first, and flushed to the disk; then they are moved to
    their places. If an error or the end of the process comes before the moves, the older files are
    as they were. Links are followed; mode and owner of a file that is replaced are kept. Devices,
    FIFOs and open streams such as ``/dev/stdout`` are written through, after the moves.

    Raises
    ------
    PartlyWrittenError
        If some files were moved and others could not be; it names both.
    OSError
        If a place cannot be written; nothing has changed.
    """
    targets = [find_target(output.path) for output in outputs]
    temporaries: list[tuple[Target, Temporary]] = []
    streams: list[tuple[Target, io.BytesIO]] = []
    try:
        for target, output in zip(targets, outputs, strict=True):
            with _name_errors(target):
                if target.file is None:
                    content = io.BytesIO()
                    output.write(content)
                    streams.append((target, content))
                    continue
                temporary = Temporary(target.file, target.before)
                temporaries.append((target, temporary))
                output.write(temporary.file)
                temporary.finish()
        _move_all(temporaries)
    finally:
        for _, temporary in temporaries:
            temporary.discard()
    for target, content in streams:
        with _name_errors(target):
            _write_through(target, content.getbuffer())


def write_file(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> Path:
    """Write one file, complete or not at all; see :func:`write_files`.

    Parameters
    ----------
    path : path-like
        Where to write.
    write : callable
        Called with a binary file that is open for writing.

    Returns
    -------
    Path
    """
    write_files([Output(path, write)])
    return Path(path)


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write one file, complete or not at all."""
    return write_file(path, lambda file: file.write(content))


def _move_all(temporaries: Sequence[tuple[Target, Temporary]]) -> None:
    for done, (target, temporary) in enumerate(temporaries):
        try:
            with _name_errors(target):
                temporary.move()
        except OSError as error:
            if done == 0:
                raise
            paths = [target.path for target, _ in temporaries]
            raise PartlyWrittenError(error, paths[:done], paths[done:]) from error


def _write_through(target: Target, content: memoryview) -> None:
    if target.descriptor is None:
        with open(target.path, "wb", buffering=0) as file:
            _write_all(file.fileno(), content)
        return
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # so that earlier prints come first
    _write_all(target.descriptor, content)


def _write_all(descriptor: int, content: memoryview) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


@contextmanager
def _name_errors(target: Target) -> Iterator[None]:
    """Make an error of the system name the output instead of a temporary file or no file."""
    try:
        yield
    except OSError as error:
        names = [os.fsdecode(name) for name in (error.filename, error.filename2) if name]
        is_hidden = any(Path(name).name.startswith(BEGINNING) for name in names)
        if error.errno is not None and (not names or is_hidden):
            error.filename, error.filename2 = target.path, None
        raise


# -- where an output goes -------------------------------------------------------------------------


def find_target(path: str | os.PathLike[str]) -> Target:
    """Find out where an output would go; a place that cannot be written raises OSError."""
    given = os.fspath(path)
    descriptor = _find_descriptor(given)
    if descriptor is not None:
        return Target(given, descriptor=descriptor)
    try:
        before = os.stat(given)
    except FileNotFoundError:
        before = None
    if given.endswith(os.sep) or (before is not None and stat.S_ISDIR(before.st_mode)):
        raise _refuse(errno.EISDIR, "is a folder, and a file is to be written", given)
    if before is not None and not os.access(given, os.W_OK):
        raise _refuse(errno.EACCES, "Permission denied", given)
    if before is not None and not stat.S_ISREG(before.st_mode):
        return Target(given)
    file = Path(os.path.realpath(given))
    _check_place(file, before, given)
    return Target(given, file, before)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads to a device, a FIFO or an open stream rather than to a file."""
    is_other = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    return is_other or _find_descriptor(os.fspath(path)) is not None


def check_writable(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Raise before any work if a place cannot be written.

    A temporary file is made and removed, which is a better test than permissions.
    """
    for path in paths:
        target = find_target(path)
        if target.file is not None:
            try:
                Temporary(target.file, target.before).discard()
            except OSError as error:
                raise _refuse(error.errno, error.strerror, target.path) from None


def _check_place(file: Path, before: os.stat_result | None, given: str) -> None:
    folder = file.parent
    if not folder.is_dir():
        name = str(Path(given).parent) if not os.path.islink(given) else str(folder)
        raise _refuse(errno.ENOENT, f"the folder {name!r} does not exist", given)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _refuse(errno.EACCES, "Permission denied", given)
    if before is None:
        return
    if _is_mounted(file):
        raise _refuse(
            errno.EBUSY, "is mounted by itself, so it cannot be replaced: mount its folder", given
        )
    # In a folder such as /tmp only the owner of a file can replace it.
    folder_status = folder.stat()
    if folder_status.st_mode & stat.S_ISVTX and hasattr(os, "geteuid"):
        owners = before.st_uid, folder_status.st_uid, 0
        if os.geteuid() not in owners:
            raise _refuse(errno.EPERM, "belongs to another user, who alone can replace it", given)


def _is_mounted(file: Path) -> bool:
    """Whether a file is a mount point itself, as in many containers."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:  # not Linux: the move will raise
        return False
    points = (line.split(b" ")[4] for line in lines)
    return os.fsencode(file) in (_OCTAL.sub(lambda m: bytes([int(m[1], 8)]), p) for p in points)


def _find_descriptor(path: str) -> int | None:
    """Return the open file of this process that a path such as /dev/stdout leads to, or None."""
    link = path
    for _ in range(40):  # as many links as Linux follows
        folder, name = os.path.split(link)
        folder = os.path.realpath(folder or ".")
        match = _DESCRIPTORS.fullmatch(folder)
        if match is not None and name.isdecimal():
            process = match["process"]
            is_own = process is None or not process.isdecimal() or int(process) == os.getpid()
            return int(name) if is_own else None
        link = os.path.join(folder, name)
        if not os.path.islink(link):
            return None
        link = os.path.join(folder, os.readlink(link))
    return None


def _refuse(number: int | None, problem: str | None, path: str) -> OSError:
    return OSError(number or errno.EIO, problem or "cannot be written", path)


# -- temporary files ------------------------------------------------------------------------------


def remove_abandoned(target: Path) -> None:
    """Remove temporary files of a target that no running process writes."""
    prefix = name_beside(target, "-").name
    try:
        with os.scandir(target.parent) as entries:
            found = [entry.path for entry in entries if entry.name.startswith(prefix)]
    except OSError:
        return
    for name in found:
        with suppress(OSError):
            _remove_if_abandoned(Path(name))


def _remove_if_abandoned(path: Path) -> None:
    if sys.platform == "win32":
        path.unlink()  # fails while a process has it open
        return
    descriptor = os.open(path, os.O_RDWR | _NO_FOLLOW | _NO_BLOCK)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and try_lock(descriptor):
            path.unlink()
    finally:
        os.close(descriptor)


def _create(target: Path, *, private: bool) -> tuple[Path, int]:
    """Return the name and the open, locked file."""
    suffix = target.suffix if len(os.fsencode(target.suffix)) <= _LONGEST_SUFFIX else ""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY
    while True:
        path = name_beside(target, f"-{secrets.token_hex(6)}{suffix}")
        # A new file gets the default mode. One that replaces a file, which may be private, is
        # readable by its owner only until it gets the mode of that file.
        descriptor = os.open(path, flags, 0o600 if private else 0o666)
        try:
            if sys.platform == "win32" or _hold(descriptor, path):
                return path, descriptor
        except BaseException:
            os.close(descriptor)
            path.unlink(missing_ok=True)
            raise
        os.close(descriptor)


def _hold(descriptor: int, path: Path) -> bool:
    """Lock a new file; False if another writer removed it before it was locked."""
    try:
        try_lock(descriptor, wait=True)
    except OSError as error:
        if not has_no_locks(error):
            raise
    return is_at(descriptor, path)


def _take_over(path: Path, descriptor: int, target: Path, before: os.stat_result) -> None:
    """Give a new file the owner, mode and attributes of the one that it replaces."""
    mode = stat.S_IMODE(before.st_mode)
    if hasattr(os, "fchown"):
        now = os.fstat(descriptor)
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            mode = _change_owner(descriptor, before, mode)
    path.chmod(mode)
    if hasattr(os, "listxattr"):  # among them access control lists
        with suppress(OSError):
            for name in os.listxattr(target):
                with suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(target, name))


def _change_owner(descriptor: int, before: os.stat_result, mode: int) -> int:
    """Change the owner where the system allows it; return the mode that goes with it."""
    for user, group in ((before.st_uid, before.st_gid), (-1, before.st_gid)):
        try:
            os.fchown(descriptor, user, group)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EINVAL, errno.EACCES):
                raise
            mode &= ~(stat.S_ISUID | stat.S_ISGID)  # these were granted to another owner
        else:
            break
    return mode
