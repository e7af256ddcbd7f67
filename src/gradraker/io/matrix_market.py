"""Edges from Matrix Market files.

SciPy has a quick reader, but some damaged files (0 rows) end the whole process there, and its
errors name no line. The body of a sparse matrix is a text table, for which there is a reader.
"""

import math
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import GraphFileError, Place
from gradraker.graph.adapters.matrices import entry_edges
from gradraker.graph.edges import EdgeList
from gradraker.graph.graph_options import Asked
from gradraker.io.columns import text_columns
from gradraker.io.content import Content, Progress
from gradraker.io.layout import Layout, data_lines, decoded, is_number
from gradraker.io.lines import FileColumns
from gradraker.io.messages import shortened

# An entry (i, j) of a symmetric matrix stands for (j, i) as well, times this; 0 means it does not.
_MIRRORED = {"general": 0.0, "symmetric": 1.0, "skew-symmetric": -1.0}


class _Head(NamedTuple):
    """What the first lines declare."""

    sparse: bool
    pattern: bool
    mirrored: float
    sizes: list[int]
    line: int


def matrix_market_edges(content: Content, weight: Hashable, progress: Progress) -> EdgeList:
    """Return the entries of a Matrix Market file; nodes have the numbers of the file, from 1."""
    text = decoded(content.data, content.label)
    head = _head(text, content.label)
    n, m = head.sizes[:2]
    read = _sparse if head.sparse else _dense
    row, column, values = read(text, head, content.label, progress)
    if head.mirrored:
        other = row != column
        row, column = np.append(row, column[other]), np.append(column, row[other])
        values = np.append(values, head.mirrored * values[other])
    numbers = np.arange(1, max(n, m) + 1)
    names = numbers if n == m else (numbers[:n], numbers[:m])
    try:
        return entry_edges(row, column, values, (n, m), Asked(weight, names))
    except ValueError as error:
        raise GraphFileError(content.label, str(error)) from None


def _head(text: str, label: str) -> _Head:
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
            f"the like, but the line is {shortened(' '.join(words), limit=60)}",
        )
    sparse, pattern = words[2] == "coordinate", words[3] == "pattern"
    line, sizes = next(data_lines(text, "%"), (0, ""))
    found = sizes.split()
    if len(found) != (3 if sparse else 2) or not all(
        word.isascii() and word.isdigit() and len(word) < 18 for word in found
    ):
        raise GraphFileError(
            Place(label, line=line or None),
            f"the sizes of the matrix are needed, got {shortened(sizes)}",
        )
    head = _Head(
        sparse, pattern and sparse, _MIRRORED[words[4]], [int(word) for word in found], line
    )
    n, m = head.sizes[:2]
    # Memory is asked for each node, so a damaged number must not ask for all there is.
    entries = head.sizes[2] if sparse else n * m // 2
    too_large = max(n, m) > 10_000_000 + 100 * len(text) or entries > len(text)
    if min(n, m) == 0 or too_large or (head.mirrored and n != m):
        raise GraphFileError(
            Place(label, line=line), f"a matrix of {' × '.join(found)} does not fit the file"
        )
    return head


Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def _sparse(text: str, head: _Head, label: str, progress: Progress) -> Entries:
    n, m, count = head.sizes
    first = next((line for line, _ in data_lines(text, "%") if line > head.line), 0)
    if not first or not count:
        if bool(first) != bool(count):
            raise GraphFileError(
                label, f"{count} entries are declared, but that is not what follows"
            )
        nothing = np.empty(0, dtype=np.int64)
        return nothing, nothing, np.empty(0)
    layout = Layout(
        label,
        separator=" ",
        comment="%",
        n_columns=2 if head.pattern else 3,
        header=None,
        header_line=1,
        first_line=first,
    )
    number = None if head.pattern else 2

    def entries(*, exact: bool) -> FileColumns:
        return text_columns(
            text, layout, [0, 1], number, missing_allowed=False, exact=exact, progress=progress
        )

    found = entries(exact=False)
    row, column = (_indices(texts, size) for texts, size in zip(found.texts, (n, m), strict=True))
    wrong = np.flatnonzero((row < 0) | (column < 0))
    if len(wrong):
        found = entries(exact=True)
        assert found.lines is not None
        where = int(found.lines[wrong[0]])
        got = " ".join(found.texts[i][wrong[0]] for i in (0, 1))
        raise GraphFileError(
            Place(label, line=where), f"{shortened(got)} is no entry of a matrix of {n} × {m}"
        )
    if len(row) != count:
        raise GraphFileError(label, f"{count} entries are declared, but {len(row)} are there")
    return row, column, np.ones(count) if found.numbers is None else found.numbers


def _indices(texts: Any, size: int) -> NDArray[np.int64]:
    """Indices from 0; -1 where a text is no number from 1 to size."""
    if not isinstance(texts, list) and texts.dtype.is_integer():
        indices = texts.to_numpy()
    else:
        listed = [int(t) if t.isascii() and t.isdigit() and len(t) < 18 else 0 for t in texts]
        indices = np.array(listed, dtype=np.int64)
    return np.where((indices >= 1) & (indices <= size), indices - 1, -1)


def _dense(text: str, head: _Head, label: str, progress: Progress) -> Entries:
    n, m = head.sizes
    values = []
    for line, content in data_lines(text, "%"):
        if line <= head.line:
            continue
        for word in content.split():
            if not is_number(word) or not math.isfinite(float(word)):
                place = Place(label, line=line)
                raise GraphFileError(place, f"{shortened(word)} is not a finite decimal number")
            values.append(float(word))
    # Column after column; of a symmetric matrix only the part below the diagonal, with it if 1.
    column, row = np.divmod(np.arange(n * m), n)
    if head.mirrored:
        kept = row >= column if head.mirrored > 0 else row > column
        row, column = row[kept], column[kept]
    if len(values) != len(row):
        raise GraphFileError(label, f"{len(row)} entries are declared, but {len(values)} are there")
    progress("parsing", len(text), len(text))
    return row, column, np.array(values)
