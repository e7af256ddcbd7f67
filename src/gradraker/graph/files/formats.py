"""Edges from files that are no text tables: Parquet, Matrix Market, GraphML."""

import io
from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy.io import mmread

from gradraker.graph.asked import Asked
from gradraker.graph.edges import EdgeList
from gradraker.graph.files.content import Content
from gradraker.graph.files.errors import GraphFileError, Place
from gradraker.graph.files.lines import as_integers
from gradraker.graph.kinds import graph_edges
from gradraker.graph.matrices import array_edges, matrix_edges

# Row and column numbers of a sparse matrix are 32-bit unless it has more entries than that.
_LARGEST_SIZE = 2**31 - 1


def parquet_table(content: Content) -> Any:
    """Return a Parquet file as a polars data frame."""
    pl = _imported("polars", "Parquet files", "tables", content.label)
    try:
        return pl.read_parquet(io.BytesIO(content.data))
    except (Exception, pl.exceptions.PanicException) as error:
        raise GraphFileError(
            content.label, f"it is no readable Parquet file ({_first(error)})"
        ) from None


def matrix_market_edges(content: Content, weight: Hashable) -> EdgeList:
    """Return the entries of a Matrix Market file; nodes have the numbers of the file, from 1."""
    n, m = _declared_shape(content)
    numbers = np.arange(1, max(n, m) + 1)
    names: Any = numbers if n == m else (numbers[:n], numbers[:m])
    try:
        matrix = mmread(io.BytesIO(content.data), spmatrix=False)
        if isinstance(matrix, np.ndarray):
            return array_edges(matrix, Asked(weight, names, "matrix"))
        return matrix_edges(matrix, Asked(weight, names))
    except (ValueError, OverflowError, TypeError, MemoryError, OSError) as error:
        raise GraphFileError(
            content.label, f"it is no readable Matrix Market file ({_first(error)})"
        ) from None


def _declared_shape(content: Content) -> tuple[int, int]:
    """Rows and columns as the file declares them, checked before memory is asked for them."""
    for line, text in enumerate(io.BytesIO(content.data), start=1):
        if text.startswith(b"%") or not text.strip():
            continue
        sizes = text.split()
        if len(sizes) not in (2, 3) or not all(size.isdigit() and len(size) < 20 for size in sizes):
            break
        n, m, *entries = map(int, sizes)
        # An entry takes at least four bytes, "1 1" and a line end; one of a dense matrix two.
        needed = 4 * entries[0] if entries else 2 * n * m
        if max(n, m) > _LARGEST_SIZE or needed > len(content.data) + 4:
            raise GraphFileError(
                Place(content.label, line=line),
                f"a matrix of {n}×{m} is declared, but the file is too short for it",
            )
        return n, m
    raise GraphFileError(content.label, "it is no readable Matrix Market file (sizes are missing)")


def graphml_edges(content: Content, weight: Hashable) -> EdgeList:
    """Return the edges of a GraphML file, read by networkx."""
    networkx = _imported("networkx", "GraphML files", "networkx", content.label)
    try:
        graph = networkx.read_graphml(io.BytesIO(content.data))
    except Exception as error:
        raise GraphFileError(
            content.label, f"it is no readable GraphML file ({_first(error)})"
        ) from None
    try:
        edges = graph_edges(graph, Asked(weight))
    except (ValueError, TypeError) as error:
        raise GraphFileError(content.label, _first(error)) from None
    names = [str(name) for name in edges.nodes.tolist()]
    whole = as_integers([names]) if all(names) else None
    nodes = np.fromiter(names, dtype=object, count=len(names)) if whole is None else whole[0]
    return EdgeList(
        edges.source, edges.target, edges.weight, nodes, directed=edges.directed, complete=True
    )


def _imported(module: str, what: str, extra: str, label: str) -> Any:
    try:
        return __import__(module)
    except ImportError:
        raise GraphFileError(
            label, f"{what} are read with {module}: pip install 'gradraker[{extra}]'"
        ) from None


def _first(error: BaseException) -> str:
    """The first line of a message, since one sentence is promised."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
