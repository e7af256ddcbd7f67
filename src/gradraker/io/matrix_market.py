"""Graphs in Matrix Market files.

SciPy has a quick reader, but some damaged files (0 rows) end the whole process there, and its
errors name no line. The body of a sparse matrix is parsed as a text table.
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import GraphFileError, Place
from gradraker.graph.adapters import GraphOptions
from gradraker.graph.adapters.columns import ColumnPositions
from gradraker.graph.adapters.matrices import from_entries
from gradraker.graph.edges import EdgeList
from gradraker.io.content import Content, Progress, shorten
from gradraker.io.text_table import (
    WHITESPACE,
    Layout,
    decode_text,
    find_data_lines,
    parse_columns,
    parse_numbers,
    select_lines,
)

if TYPE_CHECKING:
    import polars as pl

# An entry (i, j) of a symmetric matrix also gives (j, i), times this factor; 0 for no such entry.
_MIRRORED = {"general": 0.0, "symmetric": 1.0, "skew-symmetric": -1.0}

Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


class _Head(NamedTuple):
    """Facts that the first lines declare."""

    sparse: bool
    pattern: bool
    mirrored: float
    sizes: list[int]
    line: int

    def make_layout(self, label: str) -> Layout:
        """Return the layout of the lines after the head."""
        return Layout(label, WHITESPACE, "%", 2 if self.pattern else 3, self.line + 1)


def read_matrix_market(content: Content, weight: Hashable, progress: Progress) -> EdgeList:
    """Return the entries of a Matrix Market file; nodes have the numbers of the file, from 1."""
    text = decode_text(content)
    head = _read_head(text, content.label)
    n, m = head.sizes[:2]
    read = _read_sparse if head.sparse else _read_dense
    row, column, values = read(text, head, content.label, progress)
    if head.mirrored:
        other = row != column
        row, column = np.append(row, column[other]), np.append(column, row[other])
        values = np.append(values, head.mirrored * values[other])
    numbers = np.arange(1, max(n, m) + 1)
    names = numbers if n == m else (numbers[:n], numbers[:m])
    try:
        return from_entries(row, column, values, (n, m), GraphOptions(weight, names))
    except ValueError as error:
        raise GraphFileError(content.label, str(error)) from None


def _read_head(text: str, label: str) -> _Head:
    words = text.split("\n", 1)[0].lower().split()
    allowed = (
        ("matrix",),
        ("coordinate", "array"),
        ("real", "integer", "pattern", "double"),
        _MIRRORED,
    )
    if len(words) != 5 or any(
        word not in choice for word, choice in zip(words[1:], allowed, strict=True)
    ):
        raise GraphFileError(
            Place(label, line=1),
            "a matrix of real numbers begins '%%MatrixMarket matrix coordinate real general' or "
            f"similar, but the line is {shorten(' '.join(words), limit=60)}",
        )
    sparse, pattern = words[2] == "coordinate", words[3] == "pattern"
    line, sizes = next(find_data_lines(text, "%"), (0, ""))
    found = sizes.split()
    if len(found) != (3 if sparse else 2) or not all(
        word.isascii() and word.isdigit() and len(word) < 18 for word in found
    ):
        raise GraphFileError(
            Place(label, line=line or None),
            f"the sizes of the matrix are needed, got {shorten(sizes)}",
        )
    head = _Head(
        sparse, pattern and sparse, _MIRRORED[words[4]], [int(word) for word in found], line
    )
    n, m = head.sizes[:2]
    # Each node takes memory, so a damaged size must not exhaust it.
    entries = head.sizes[2] if sparse else n * m // 2
    too_large = max(n, m) > 10_000_000 + 100 * len(text) or entries > len(text)
    if min(n, m) == 0 or too_large or (head.mirrored and n != m):
        raise GraphFileError(
            Place(label, line=line), f"a matrix of {' × '.join(found)} does not fit the file"
        )
    return head


def _read_sparse(text: str, head: _Head, label: str, progress: Progress) -> Entries:
    n, m, count = head.sizes
    columns = ColumnPositions((0, 1), None if head.pattern else 2)
    found = parse_columns(text, head.make_layout(label), columns, progress)
    row, column = map(_to_indices, found.names, (n, m))
    wrong = np.flatnonzero((row < 0) | (column < 0))
    if len(wrong):
        assert found.lines is not None
        got = " ".join(str(names[int(wrong[0])]) for names in found.names)
        raise GraphFileError(
            Place(label, line=int(found.lines[wrong[0]])),
            f"{shorten(got)} is not an entry of a matrix of {n} × {m}",
        )
    _check_count(count, len(row), label)
    return row, column, np.ones(count) if found.numbers is None else found.numbers


def _to_indices(names: "pl.Series", size: int) -> NDArray[np.int64]:
    """Return indices from 0; -1 where a text is not a number from 1 to size."""
    import polars as pl

    if names.dtype == pl.String:  # cast would accept a sign
        names = names.set(~names.str.contains("^[0-9]+$"), "0")
    indices = names.cast(pl.Int64, strict=False).fill_null(0).to_numpy()
    return np.where((indices >= 1) & (indices <= size), indices - 1, -1)


def _read_dense(text: str, head: _Head, label: str, progress: Progress) -> Entries:
    import polars as pl

    n, m = head.sizes
    lines = select_lines(text, head.make_layout(label))
    words = lines.select("line", value=pl.col("text").str.extract_all(r"[^ \t]+"))
    words = words.explode("value")
    values = parse_numbers(words).get_column("value")
    if values.null_count():
        line, word = words.row(int(values.is_null().arg_true()[0]))
        raise GraphFileError(
            Place(label, line=line), f"{shorten(word)} is not a finite decimal number"
        )
    # By columns; symmetric matrices have no entries above the diagonal, skew ones none on it.
    column, row = np.divmod(np.arange(n * m), n)
    if head.mirrored:
        kept = row >= column if head.mirrored > 0 else row > column
        row, column = row[kept], column[kept]
    _check_count(len(row), len(values), label)
    progress("parsing", len(text), len(text))
    return row, column, values.to_numpy()


def _check_count(declared: int, found: int, label: str) -> None:
    if declared != found:
        raise GraphFileError(label, f"{declared} entries are declared, but the file holds {found}")
