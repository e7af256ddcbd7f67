"""Write files so that a reader never sees half of one, and several of them together."""

import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gradraker._files.targets import Target, find_target
from gradraker._files.temporary import Temporary, is_temporary
from gradraker.exceptions import PartlyWrittenError


class Output(NamedTuple):
    """A file to write: its path, and a function that writes the content."""

    path: str | os.PathLike[str]
    write: Callable[[BinaryIO], object]


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
            with _NamedErrors(target):
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
        with _NamedErrors(target):
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
            with _NamedErrors(target):
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
            stream.flush()  # so that nothing printed before comes after
    _write_all(target.descriptor, content)


def _write_all(descriptor: int, content: memoryview) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


class _NamedErrors:
    """Let an error of the system name the output, not a temporary file or nothing."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if not isinstance(error, OSError) or error.errno is None:
            return
        names = [os.fsdecode(name) for name in (error.filename, error.filename2) if name]
        if not names or any(is_temporary(Path(name)) for name in names):
            error.filename, error.filename2 = self._target.path, None
