"""Edges of files, some rows at a time."""

import glob
import gzip
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import GraphFileError
from gradraker.graph.adapters.columns import EdgeColumns
from gradraker.io.content import Content, FileColumns, ignore_progress, take_first_line
from gradraker.io.parquet import take_columns
from gradraker.io.text_table import (
    TextOptions,
    choose_columns,
    decode_text,
    find_layout,
    parse_columns,
)

# Rows of a Parquet file and bytes of a text file that are held in memory at once.
_ROWS_AT_ONCE, _BYTES_AT_ONCE = 1 << 21, 1 << 25


class Batch(NamedTuple):
    """Some edges: names of their ends, and weights if there are any."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64] | None


def list_parts(paths: Any) -> list[Path]:
    """Return the files of a path, a pattern, a folder, or a sequence of these, in order of names.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from gradraker.io.disk.parts import list_parts
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("b.csv", "a.csv"):
    ...     _ = (folder / name).write_text("1,2")
    >>> [part.name for part in list_parts(folder)]
    ['a.csv', 'b.csv']
    """
    if isinstance(paths, Sequence) and not isinstance(paths, str | bytes):
        return [part for path in paths for part in list_parts(path)]
    path = Path(os.fspath(paths))
    if path.is_dir():
        found = [part for part in sorted(path.iterdir()) if part.is_file()]
        found = [part for part in found if not part.name.startswith((".", "_"))]
    elif path.exists():
        return [path]
    else:
        found = [Path(name) for name in sorted(glob.glob(str(path)))]
    if not found:
        raise FileNotFoundError(f"no file is at {str(path)!r}")
    return found


def iterate_edges(path: Path, wanted: EdgeColumns, options: TextOptions) -> Iterator[Batch]:
    """Yield the edges of a Parquet or text file, compressed with gzip or not."""
    with open(path, "rb") as file:
        head = file.read(4)
    read = (
        _iterate_parquet(path, wanted) if head == b"PAR1" else _iterate_text(path, wanted, options)
    )
    for found in read:
        ends = [_to_numbers(column, path) for column in found.names]
        yield Batch(ends[0], ends[1], found.numbers)


def _to_numbers(column: Any, path: Path) -> NDArray[np.int64]:
    if not column.dtype.is_integer():
        raise GraphFileError(
            str(path),
            "edges on disk need whole numbers as names of nodes, and the file has texts: number "
            "the nodes, or read the file into memory",
        )
    return np.asarray(column.to_numpy(), dtype=np.int64)


def _iterate_parquet(path: Path, wanted: EdgeColumns) -> Iterator[FileColumns]:
    import polars as pl

    try:
        table = pl.scan_parquet(path)
        n_rows = int(table.select(pl.len()).collect().item())
        for start in range(0, n_rows, _ROWS_AT_ONCE):
            part = table.slice(start, _ROWS_AT_ONCE).collect()
            yield take_columns(part, str(path), wanted, first_row=start + 1)
    except pl.exceptions.PolarsError as error:
        raise GraphFileError(
            str(path), f"this is not a readable Parquet file ({take_first_line(error)})"
        ) from None


def _iterate_text(path: Path, wanted: EdgeColumns, options: TextOptions) -> Iterator[FileColumns]:
    layout = columns = None
    line = 1
    for data in _iterate_lines(path):
        text = decode_text(Content(str(path), data))
        if layout is None:
            layout = find_layout(text, str(path), options, wanted)
            columns, _ = choose_columns(wanted, layout.make_table())
        assert columns is not None
        if any(not content.isspace() for content in text.splitlines()):
            yield parse_columns(text, layout, columns, ignore_progress, line=line)
        line += text.count("\n")


def _iterate_lines(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, unpacked, in pieces of whole lines."""
    with open(path, "rb") as raw:
        is_packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        file: BinaryIO = gzip.GzipFile(fileobj=raw) if is_packed else raw  # type: ignore[assignment]
        rest = b""
        try:
            while piece := file.read(_BYTES_AT_ONCE):
                cut = piece.rfind(b"\n") + 1
                if cut:
                    yield rest + piece[:cut]
                    rest = piece[cut:]
                else:
                    rest += piece
        except (EOFError, gzip.BadGzipFile) as error:
            raise GraphFileError(str(path), f"the gzip data are damaged ({error})") from None
        if rest:
            yield rest
