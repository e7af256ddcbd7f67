"""Where an output goes: to a file that is replaced, or through to a device, FIFO or stream."""

import errno
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gradraker._files.temporary import Temporary

_DESCRIPTORS = re.compile(r"/proc/(?P<process>self|thread-self|\d+)(/task/\d+)?/fd|/dev/fd")

_OCTAL = re.compile(rb"\\(\d{3})")  # how the list of mounts writes blanks


@dataclass(frozen=True)
class Target:
    """The place of an output.

    Attributes
    ----------
    path : str
        As it was given, for messages.
    file : Path, optional
        The file to replace or to make, behind all links. None if the output is written through.
    before : os.stat_result, optional
        Facts on the file that is replaced.
    descriptor : int, optional
        The open file of this process that the path names, such as 1 for ``/dev/stdout``.
    """

    path: str
    file: Path | None = None
    before: os.stat_result | None = None
    descriptor: int | None = None


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
    """Refuse before any work a place that could not be written after it.

    A temporary file is made and removed, since that says more than permissions do.
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
    of_folder = folder.stat()
    if of_folder.st_mode & stat.S_ISVTX and hasattr(os, "geteuid"):
        owners = before.st_uid, of_folder.st_uid, 0
        if os.geteuid() not in owners:
            raise _refuse(errno.EPERM, "belongs to another user, who alone can replace it", given)


def _is_mounted(file: Path) -> bool:
    """Whether a file is a mount point itself, as containers like to have them."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:  # not Linux: the move will say so
        return False
    points = (line.split(b" ")[4] for line in lines)
    return os.fsencode(file) in (_OCTAL.sub(lambda m: bytes([int(m[1], 8)]), p) for p in points)


def _find_descriptor(path: str) -> int | None:
    """Return the open file of this process that a path such as /dev/stdout leads to, or None."""
    at = path
    for _ in range(40):  # as many links as Linux follows
        folder, name = os.path.split(at)
        folder = os.path.realpath(folder or ".")
        match = _DESCRIPTORS.fullmatch(folder)
        if match is not None and name.isdecimal():
            process = match["process"]
            is_own = process is None or not process.isdecimal() or int(process) == os.getpid()
            return int(name) if is_own else None
        at = os.path.join(folder, name)
        if not os.path.islink(at):
            return None
        at = os.path.join(folder, os.readlink(at))
    return None


def _refuse(number: int | None, problem: str | None, path: str) -> OSError:
    return OSError(number or errno.EIO, problem or "cannot be written", path)
