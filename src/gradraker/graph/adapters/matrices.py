"""Edges of matrices, sparse and dense, and of arrays of edges."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker._validation import check_sparse
from gradraker.exceptions import ArgumentError
from gradraker.graph.adapters.lists import from_columns
from gradraker.graph.edges import EdgeList, GraphOptions
from gradraker.graph.names import name_numbered_nodes


def from_dataset(data: Any, options: GraphOptions) -> EdgeList:
    """Return the edges of a ``GraphDataset``, with its names unless others are given."""
    names = list(data.node_names) if options.names is None else options.names
    return from_sparse(data.adjacency, options._replace(names=names))


def from_sparse(matrix: Any, options: GraphOptions) -> EdgeList:
    """Return the nonzero entries of a sparse matrix: entry (i, j) is an edge from i to j."""
    options.refuse_weight_name("a matrix")
    if matrix.ndim != 2:
        raise ValueError(
            f"graph must be a matrix, got a sparse array of {matrix.ndim} dimension(s)"
        )
    _check_real(matrix.dtype)
    check_sparse("graph", matrix)
    entries = sp.coo_array(matrix)
    source, target = (np.asarray(part) for part in entries.coords)
    return from_entries(source, target, entries.data.astype(np.float64), entries.shape, options)


def is_array(graph: Any) -> bool:
    """Whether a graph is an array, or lists of numbers that make one; tuples are edges."""
    if hasattr(graph, "__array__"):
        return True
    nested = isinstance(graph, list | tuple) and graph and isinstance(graph[0], list | np.ndarray)
    return bool(nested) and not any(
        isinstance(entry, str | bytes) for row in graph for entry in row
    )


def from_array(array: Any, options: GraphOptions) -> EdgeList:
    """Return the edges of an array, which is a matrix or a list of edges.

    An array of k×2 or k×3 entries is a list of edges, any other is a matrix; 2×2 and 3×3
    could be both, and need ``kind``.
    """
    dense = np.asarray(array)
    if dense.ndim != 2:
        raise ValueError(
            f"graph must be a matrix or an array of edges (k×2 or k×3), got shape {dense.shape}"
        )
    n_rows, n_columns = dense.shape
    numeric = dense.dtype.kind in "biufc"
    kind = options.kind
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
        return from_columns(list(dense.T), options)
    _check_real(dense.dtype)
    options.refuse_weight_name("a matrix")
    source, target = np.nonzero(dense)
    weights = dense[source, target].astype(np.float64)
    return from_entries(source, target, weights, dense.shape, options)


def from_entries(
    source: NDArray[Any],
    target: NDArray[Any],
    weight: NDArray[np.float64],
    shape: tuple[int, int],
    options: GraphOptions,
) -> EdgeList:
    """Return the entries of a matrix of this shape as edges; an entry of 0 is not an edge."""
    kept = weight != 0.0  # NaN is kept, to be refused with its edge named
    if not kept.all():
        source, target, weight = source[kept], target[kept], weight[kept]
    weights = weight if options.weight is None else None
    names = options.names
    if shape[0] == shape[1]:
        nodes, references = name_numbered_nodes(names, shape[0]), None
    else:
        if names is not None and not (isinstance(names, tuple) and len(names) == 2):
            pair = f"a pair (names of rows, names of columns) for a matrix of shape {shape}"
            raise ArgumentError("names", pair, names)
        row_names, column_names = (None, None) if names is None else names
        nodes = name_numbered_nodes(row_names, shape[0])
        references = name_numbered_nodes(column_names, shape[1])
    return EdgeList(source, target, weights, nodes, references=references, complete=True)


def _check_real(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf":
        raise ValueError(f"graph must be a matrix of real numbers, got dtype {dtype}")
