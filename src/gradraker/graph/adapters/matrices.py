"""Edges of matrices, of arrays of edges, and of lists of edges."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.graph.adapters.tables import numbers
from gradraker.graph.edges import EdgeList
from gradraker.graph.graph_options import Asked
from gradraker.graph.names import Names, distinct, name_array, numbered_names


def matrix_edges(matrix: Any, asked: Asked) -> EdgeList:
    """Return the nonzero entries of a sparse matrix: entry (i, j) is an edge from i to j."""
    _refuse_column(asked, "a matrix")
    if matrix.ndim != 2:
        raise ValueError(
            f"graph must be a matrix, got a sparse array of {matrix.ndim} dimension(s)"
        )
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"graph must be a matrix of real numbers, got dtype {matrix.dtype}")
    entries = sp.coo_array(matrix)
    source, target = (np.asarray(part) for part in entries.coords)
    return entry_edges(source, target, entries.data.astype(np.float64), entries.shape, asked)


def array_edges(array: Any, asked: Asked) -> EdgeList:
    """Return the edges of an array, which is a matrix or a list of edges.

    An array of k×2 or k×3 entries is a list of edges, any other is a matrix; 2×2 and 3×3
    could be both, and so must be told.
    """
    dense = np.asarray(array)
    if dense.ndim != 2:
        raise ValueError(
            f"graph must be a matrix or an array of edges (k×2 or k×3), got shape {dense.shape}"
        )
    n_rows, n_columns = dense.shape
    numeric = dense.dtype.kind in "biufc"
    kind = asked.kind
    if kind is None:
        if numeric and dense.shape in ((2, 2), (3, 3)):
            raise ValueError(
                f"graph is an array of {n_rows}×{n_columns}, which can be a matrix or a list of "
                f"{n_rows} edges: pass kind='matrix' or kind='edges'"
            )
        kind = "edges" if n_columns in (2, 3) or not numeric else "matrix"
    if kind == "edges":
        if n_columns not in (2, 3):
            raise ValueError(
                "an array of edges must have 2 or 3 columns (source, target, weight), "
                f"got {n_columns}"
            )
        return _columns(list(dense.T), asked)
    if dense.dtype.kind not in "biuf":
        raise ValueError(f"graph must be a matrix of real numbers, got dtype {dense.dtype}")
    _refuse_column(asked, "a matrix")
    source, target = np.nonzero(dense)
    return entry_edges(source, target, dense[source, target].astype(np.float64), dense.shape, asked)


def row_edges(graph: Any, asked: Asked) -> EdgeList:
    """Return the edges of a list of (source, target) or (source, target, weight)."""
    rows = [tuple(row) if isinstance(row, list | np.ndarray) else row for row in graph]
    sizes = {len(row) if isinstance(row, tuple) else -1 for row in rows}
    if not rows:
        return _columns([[], []], asked)
    if sizes != {2} and sizes != {3}:
        size = len(rows[0]) if isinstance(rows[0], tuple) and len(rows[0]) in (2, 3) else 2
        i, row = next(
            (i, r) for i, r in enumerate(rows) if not isinstance(r, tuple) or len(r) != size
        )
        raise ValueError(
            "graph must be a list of edges, all (source, target) or all (source, target, weight); "
            f"entry {i} is {row!r}"
        )
    return _columns([list(column) for column in zip(*rows, strict=True)], asked)


def _columns(columns: list[Any], asked: Asked) -> EdgeList:
    _refuse_column(asked, "a list of edges without column names")
    if asked.names is not None:
        raise ValueError("names is given, but a list of edges names its nodes itself: leave it out")
    source = name_array(columns[0], argument="source")
    target = name_array(columns[1], argument="target")
    nodes, (sources, targets) = distinct([source, target])
    weights = None
    if len(columns) == 3 and asked.weight is None:
        weights = numbers(columns[2], what="the third column, the weight,")
    return EdgeList(sources, targets, weights, nodes)


def entry_edges(
    source: NDArray[Any],
    target: NDArray[Any],
    weight: NDArray[np.float64],
    shape: tuple[int, int],
    asked: Asked,
) -> EdgeList:
    """Return the entries of a matrix of this shape as edges; zeros are none."""
    kept = weight != 0.0  # NaN is kept, to be refused with its edge named
    if not kept.all():
        source, target, weight = source[kept], target[kept], weight[kept]
    nodes, references = _matrix_names(shape, asked.names)
    weights = weight if asked.weight is None else None
    return EdgeList(source, target, weights, nodes, references=references, complete=True)


def _matrix_names(shape: tuple[int, int], names: Any) -> tuple[Names, Names | None]:
    if shape[0] == shape[1]:
        return numbered_names(names, shape[0]), None
    if names is None:
        return numbered_names(None, shape[0]), numbered_names(None, shape[1])
    if not isinstance(names, tuple) or len(names) != 2:
        raise ValueError(
            f"names must be a pair (names of rows, names of columns) for a matrix of shape "
            f"{shape}, got {names!r}"
        )
    return numbered_names(names[0], shape[0]), numbered_names(names[1], shape[1])


def _refuse_column(asked: Asked, what: str) -> None:
    if asked.weight is not None and asked.weight is not False:
        raise ValueError(f"weight must be None or False for {what}, got {asked.weight!r}")
