"""Write files so that a reader never sees half of one."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], None]) -> Path:
    """Call ``write`` on a temporary name beside ``path``, then move it to ``path``.

    If ``write`` fails or the process is killed, an older file at ``path`` is untouched.
    The temporary name keeps the suffix, since some writers choose the format by it.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path: the folder {str(target.parent)!r} does not exist")
    descriptor, name = tempfile.mkstemp(
        prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent
    )
    os.close(descriptor)
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        _take_usual_permissions(temporary)
        temporary.replace(target)
    except OSError as error:
        if error.errno is not None and error.filename is None:  # a full disk does not say which
            error.filename = os.fspath(target)
        raise
    finally:
        temporary.unlink(missing_ok=True)
    return target


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file whole or not at all."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    return write_atomically(path, write)


def _take_usual_permissions(path: Path) -> None:
    # mkstemp makes files that only the owner reads; results are ordinary files.
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
