"""Align attributes with the nodes of a graph; warn of attributes that are useless or leak."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from scipy.stats import rankdata

from gradraker._validation import check_choice
from gradraker.attributes.forms import GivenAttributes, read_attributes
from gradraker.attributes.table import (
    AttributeTable,
    AttributeWarning,
    find_repeats,
    find_rows,
    fit_table,
    list_names,
)
from gradraker.graph.names import check_same_type, find_positions, to_plain_name
from gradraker.graph.node_graph import NodeGraph, append_isolated_nodes, append_new_nodes

# From this many known nodes on, an attribute that equals the values is not a coincidence.
_FEWEST_EQUAL = 5
# The same for an attribute that has only the order of the values, or that encodes the classes.
_FEWEST_IN_ORDER = 10
_TOLERANCE = 1e-9


def align_attributes(
    attributes: Any,
    graph: NodeGraph,
    added: NodeGraph,
    unknown_nodes: str,
    table: AttributeTable | None = None,
) -> tuple[NodeGraph, AttributeTable]:
    """Return attributes as a table of the nodes of a graph, added to those of an older table.

    Attributes without names are in the order of the nodes of ``added``, a part of the graph. With
    ``unknown_nodes="isolated"``, nodes that only attributes name join the graph, without edges.
    """
    check_choice("unknown_nodes", unknown_nodes, ("error", "ignore", "isolated"))
    form, columns = (None, ()) if table is None else (table.form, table.column_names)
    given = read_attributes(attributes, graph.nodes, form, columns)
    if given.nodes is not None and unknown_nodes != "error":
        is_unknown = find_positions(given.nodes, graph.nodes) < 0
        if is_unknown.any() and unknown_nodes == "isolated":
            check_same_type(given.nodes[is_unknown], graph.nodes, argument="attributes")
            graph = append_isolated_nodes(graph, given.nodes[is_unknown])
        elif is_unknown.any():
            given = _select_rows(given, np.flatnonzero(~is_unknown))
            if not given.n_rows:
                raise ValueError("attributes names no node of the graph")
    rows = find_rows(given, graph.nodes, added.nodes)
    if table is not None:
        return graph, table.resize(len(graph)).replace_rows(rows, given)
    table = fit_table(given, rows, len(graph))
    warn_of_columns(table)
    return graph, table


def append_described_nodes(
    graph: NodeGraph,
    links: Any,
    options: dict[str, Any],
    table: AttributeTable | None,
    attributes: Any,
) -> tuple[NodeGraph, AttributeTable | None]:
    """Add new nodes after those of a graph, given by their edges, by attributes, or by both."""
    if links is None and attributes is None:
        raise ValueError("predict_new needs links or attributes of new nodes, got None for both")
    if attributes is None:
        extended = append_new_nodes(graph, links, options)
        return extended, None if table is None else table.resize(len(extended))
    if table is None:
        raise ValueError("attributes: the model was fitted without any, so it takes none")
    has_links = links is not None and not (isinstance(links, Mapping) and not links)
    extended = append_new_nodes(graph, links, options) if has_links else graph
    given = read_attributes(attributes, extended.nodes, table.form, table.column_names)
    if given.nodes is None:
        if given.n_rows != len(extended) - len(graph):
            raise ValueError(
                f"attributes has {given.n_rows} rows, but links names {len(extended) - len(graph)} "
                "new nodes: give one row per new node, or a frame or mapping that names them"
            )
        rows = np.arange(len(graph), len(extended))
    else:
        positions = find_positions(given.nodes, extended.nodes)
        old = given.nodes[(positions >= 0) & (positions < len(graph))]
        if len(old):
            raise ValueError(
                f"attributes holds {to_plain_name(old[0])!r}, which the graph has already: "
                "partial_fit changes the attributes of nodes"
            )
        new = given.nodes[positions < 0]
        check_same_type(new, graph.nodes, argument="attributes")
        extended = append_isolated_nodes(extended, new)
        rows = find_positions(given.nodes, extended.nodes)
    return extended, table.resize(len(extended)).replace_rows(rows, given)


def _select_rows(given: GivenAttributes, rows: NDArray[np.int64]) -> GivenAttributes:
    assert given.nodes is not None
    return given._replace(
        nodes=given.nodes[rows],
        columns=None
        if given.columns is None
        else {name: series[rows.tolist()] for name, series in given.columns.items()},
        matrix=None if given.matrix is None else given.matrix[rows],
    )


def warn_of_columns(table: AttributeTable) -> None:
    """Warn of useless columns: all missing, constant, or equal to one before them."""
    if table.is_sparse:
        return
    matrix = table.matrix[table.given]
    empty = np.isnan(matrix).all(axis=0)
    filled = np.where(np.isnan(matrix), np.inf, matrix)
    constant = ~empty & (filled == filled[:1]).all(axis=0)
    repeats = find_repeats(matrix) & ~constant & ~empty
    for found, problem in (
        (empty, "are missing for all nodes"),
        (constant, "are the same for all nodes"),
        (repeats, "repeat a column before them"),
    ):
        names = _list_columns(table, found)
        if names:
            warnings.warn(
                f"attributes {list_names(names)} {problem} and are not used",
                AttributeWarning,
                stacklevel=2,
            )


def _list_columns(table: AttributeTable, found: NDArray[np.bool_]) -> list[str]:
    """Names of the given columns whose numbers are all in ``found``."""
    names = table.names if table.columns is None else table.column_names
    n_others = np.bincount(table.sources, weights=~found, minlength=len(names))
    return [name for name, n in zip(names, n_others, strict=True) if n == 0]


def warn_of_leaks(
    table: AttributeTable,
    rows: NDArray[np.int64],
    Y: NDArray[np.float64],
    *,
    are_classes: bool = False,
) -> None:
    """Warn of an attribute that equals the values (N, K) of known nodes, or has their order.

    For classes, warn of one that equals a class indicator or has a distinct number per class.
    """
    if rows.size < _FEWEST_EQUAL:
        return
    X = table.matrix[rows]
    found = _find_leak(X, Y)
    if found is None and not issparse(X) and rows.size >= _FEWEST_IN_ORDER:
        if are_classes:
            found = _find_code(X, Y.argmax(axis=1))
        elif len(np.unique(Y)) >= _FEWEST_IN_ORDER:
            found = _find_leak(rankdata(X, axis=0), rankdata(Y, axis=0))
    if found is not None:
        warnings.warn(
            f"attribute {table.names[found]!r} tells the value of every known node: if it was "
            "made from the values, it leaks, and errors are estimated far too small",
            AttributeWarning,
            stacklevel=2,
        )


def _find_leak(X: Any, Y: NDArray[np.float64]) -> int | None:
    """The first column that is a linear function of a target."""
    for target in Y.T:
        if np.ptp(target) == 0.0:
            continue
        for j in np.flatnonzero(np.abs(_correlate(X, target)) > 1.0 - _TOLERANCE):
            column = X[:, [j]].toarray()[:, 0] if issparse(X) else X[:, j]
            is_present = ~np.isnan(column)
            if is_present.sum() >= _FEWEST_EQUAL and np.ptp(target[is_present]) > 0.0:
                return int(j)
    return None


def _find_code(X: NDArray[np.float64], codes: NDArray[np.int64]) -> int | None:
    """The first column with a distinct number for each class."""
    n_classes = len(np.unique(codes))
    for j, column in enumerate(X.T):
        pairs = np.unique(np.column_stack([column, codes]), axis=0)
        if len(pairs) == n_classes == len(np.unique(column)) > 1:
            return j
    return None


def _correlate(X: Any, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlation of each column with values; missing numbers are ignored."""
    if issparse(X):
        X = csr_array(X)
        n = X.shape[0]
        mean = X.sum(axis=0) / n
        covariance = X.T @ (y - y.mean()) / n
        variance = X.multiply(X).sum(axis=0) / n - mean**2
        scale = np.sqrt(np.maximum(variance, 0.0)) * y.std()
    else:
        is_present = ~np.isnan(X)
        n = np.maximum(is_present.sum(axis=0), 1)
        filled = np.where(is_present, X, 0.0)
        largest = np.abs(filled).max(axis=0, initial=0.0)
        filled = filled / np.where(largest > 0.0, largest, 1.0)  # squares stay finite
        own = np.where(is_present, y[:, np.newaxis], 0.0)
        centred = np.where(is_present, filled - filled.sum(axis=0) / n, 0.0)
        target = np.where(is_present, own - own.sum(axis=0) / n, 0.0)
        covariance = (centred * target).sum(axis=0)
        scale = np.sqrt((centred**2).sum(axis=0) * (target**2).sum(axis=0))
    return np.asarray(np.divide(covariance, scale, out=np.zeros(X.shape[1]), where=scale > 1e-300))
