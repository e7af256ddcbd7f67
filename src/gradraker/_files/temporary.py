"""A temporary file that becomes the file that it stands for, or leaves nothing behind.

The writer holds a lock on it. The next writer of the same file removes those that it can lock:
their writers were killed.
"""

import errno
import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from gradraker._files.locks import BEGINNING, has_no_locks, is_at, name_beside, try_lock

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_BLOCK = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
# Some writers choose a format by the ending; an ending that is longer is none.
_LONGEST_SUFFIX = 20


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
        """Bring the content to the disk, and give the file the rights that it should have."""
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
        with suppress(OSError):  # what was not written yet may find no space
            self.file.close()
        self.path.unlink(missing_ok=True)


def is_temporary(path: Path) -> bool:
    """Whether a name is that of a temporary file."""
    return path.name.startswith(BEGINNING)


def remove_abandoned(target: Path) -> None:
    """Remove temporary files of a target that no living process writes."""
    begin = name_beside(target, "-").name
    try:
        with os.scandir(target.parent) as entries:
            found = [entry.path for entry in entries if entry.name.startswith(begin)]
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
        # A new file gets the mode that the system gives to all; nobody else may read what is to
        # replace a private one.
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
    """Give a new file owner, mode and attributes of the one that it replaces."""
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
            mode &= ~(stat.S_ISUID | stat.S_ISGID)  # these rights were those of another owner
        else:
            break
    return mode
