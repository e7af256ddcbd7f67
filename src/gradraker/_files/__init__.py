"""Files out: whole or not at all, several together, one writer at a time."""

from gradraker._files.locks import lock_file
from gradraker._files.writing import (
    Output,
    check_writable,
    is_stream,
    write_bytes,
    write_file,
    write_files,
)

__all__ = [
    "Output",
    "check_writable",
    "is_stream",
    "lock_file",
    "write_bytes",
    "write_file",
    "write_files",
]
