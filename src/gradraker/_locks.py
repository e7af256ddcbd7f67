"""Locks of files between processes, and of a model between threads.

The operating system holds those of files (flock), so a process that is killed leaves no lock
behind. A file is not locked itself, since writers replace it by another: the lock is on a hidden
file beside it, which exists only while the lock is held or waited for. Calls on one model
take turns, and one that raises leaves the model as it was.
"""

import errno
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from hashlib import blake2b
from pathlib import Path
from types import FunctionType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M")

# Some network file systems have no locks.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
# The beginning of the names of all hidden files.
BEGINNING = ".gradraker-"

# How often a thread of this process has taken a lock, by thread and file of the lock.
_held: dict[tuple[int, str], int] = {}
if hasattr(os, "register_at_fork"):  # a child does not hold the locks of its parent
    os.register_at_fork(after_in_child=_held.clear)


def name_beside(file: Path, ending: str) -> Path:
    """Return a hidden name beside a file that is the same for all writers of the file.

    It is short, so that it fits wherever the name of the file does.
    """
    digest = blake2b(os.fsencode(file.name), digest_size=6).hexdigest()
    return file.with_name(f"{BEGINNING}{digest}{ending}")


def try_lock(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open file; False if it is locked already. Raises OSError where there are no locks."""
    if sys.platform == "win32":
        try:
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLOCK):
                return False
            raise
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def has_no_locks(error: OSError) -> bool:
    """Whether an error of :func:`try_lock` means that the file system has no locks."""
    return error.errno in _NO_LOCKS


def is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one that a name leads to."""
    try:
        there, here = path.stat(), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


@contextmanager
def lock_file(
    path: str | os.PathLike[str], *, on_wait: Callable[[], None] | None = None
) -> Iterator[None]:
    """Lock a file while the block runs; other processes and threads that lock it wait.

    The thread that holds a lock may take it again. On a file system without locks the block
    runs without one.

    Parameters
    ----------
    path : path-like
        The file, which need not exist. A link is followed.
    on_wait : callable, optional
        Called once before waiting for another process or thread.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from gradraker._locks import lock_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with lock_file(pathlib.Path(folder, "model.gr")):
    ...         pass  # read, change and write the file
    """
    lock = name_beside(Path(os.path.realpath(path)), ".lock")
    key = threading.get_ident(), str(lock)
    if key in _held:
        _held[key] += 1
        try:
            yield
        finally:
            _held[key] -= 1
        return
    try:
        descriptor = _acquire(lock, on_wait)
    except OSError as error:
        if not lock.parent.is_dir():
            problem = f"the folder {str(Path(path).parent)!r} does not exist"
            raise FileNotFoundError(errno.ENOENT, problem, os.fspath(path)) from None
        error.filename = os.fspath(path)
        raise
    _held[key] = 1
    try:
        yield
    finally:
        _held.pop(key, None)
        _release(lock, descriptor)


def _acquire(lock: Path, on_wait: Callable[[], None] | None) -> int | None:
    """Return the open file of a lock, or None if there are no locks here."""
    while True:
        descriptor = _open_lock(lock)
        try:
            if not try_lock(descriptor):
                if on_wait is not None:
                    on_wait()
                    on_wait = None
                while not try_lock(descriptor, wait=True):
                    pass
            if is_at(descriptor, lock):
                return descriptor
        except OSError as error:
            os.close(descriptor)
            if has_no_locks(error):
                return None
            raise
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the last holder removed this file: try again with the new one


def _open_lock(lock: Path) -> int:
    while True:
        try:
            return os.open(lock, os.O_RDWR | os.O_CREAT | _NO_FOLLOW, 0o666)
        except PermissionError:
            if not lock.exists():
                raise
        with suppress(FileNotFoundError):  # of another user, who may have removed it meanwhile
            return os.open(lock, os.O_RDONLY | _NO_FOLLOW)


def _release(lock: Path, descriptor: int | None) -> None:
    if descriptor is None:
        return
    if sys.platform == "win32":  # an open file cannot be removed there
        os.close(descriptor)
    with suppress(OSError):
        lock.unlink()
    if sys.platform != "win32":
        os.close(descriptor)


# -- calls on one model ----------------------------------------------------------------------------


class Turn:
    """The lock of one model. A thread that has it may take it again."""

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        _turns.add(self)


_turns: "weakref.WeakSet[Turn]" = weakref.WeakSet()


def _unlock_all() -> None:
    """Release all locks: in a child process the threads that held them do not exist."""
    for turn in list(_turns):
        turn.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_all)


class TakesTurns:
    """Base of models: each public method and property waits until no other thread is in one.

    Private methods do not wait; a subclass need not do anything. Copies and pickled models get
    locks of their own.
    """

    __slots__ = ("_turn",)  # not an attribute in __dict__, which copies and files take over

    _turn: Turn

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make a model that no thread uses yet."""
        model = super().__new__(cls)
        model._turn = Turn()
        return model

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, member in list(vars(cls).items()):
            if name.startswith("_"):
                continue
            if isinstance(member, FunctionType):
                setattr(cls, name, take_turns(member))
            elif isinstance(member, property) and isinstance(member.fget, FunctionType):
                setattr(cls, name, member.getter(take_turns(member.fget)))

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes; a copy gets a lock of its own."""
        # Not the method of scikit-learn, which adds its version, for its own estimators only.
        return dict(vars(self))


T = TypeVar("T", bound=TakesTurns)


def take_turns(method: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
    """Make a method wait until no other thread is in one of the same model."""

    @wraps(method)
    def call(model: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with model._turn.lock:
            return method(model, *args, **kwargs)

    if not isinstance(method, FunctionType) or not isinstance(call, FunctionType):
        return call
    # With the globals of the method, by which doctest finds where a function is defined.
    bound = FunctionType(
        call.__code__, method.__globals__, call.__name__, call.__defaults__, call.__closure__
    )
    return wraps(method)(bound)


def rollback_on_error(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """Make a method that trains take effect completely or, if it raises, not at all.

    Attributes are restored, and the table of frequencies drops the nodes it gained. Arrays
    are not copied: the method must change them last, or replace them.
    """

    @wraps(method)
    def call(model: M, /, *args: P.args, **kwargs: P.kwargs) -> R:
        before = vars(model).copy()
        table = before.get("_table")
        n_references = 0 if table is None else len(table)
        try:
            return method(model, *args, **kwargs)
        except BaseException:
            for name in vars(model).keys() - before.keys():
                del vars(model)[name]
            vars(model).update(before)
            if table is not None:
                table.drop_from(n_references)
            raise

    return call
