"""Attributes as users give them: frames, arrays, sparse matrices, mappings, triplets."""

from collections.abc import Hashable, Mapping
from typing import Any, Literal, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gradraker.exceptions import ArgumentError
from gradraker.graph.adapters.tables import to_table
from gradraker.graph.names import (
    Names,
    find_distinct,
    find_positions,
    find_repeated,
    to_name_array,
    to_plain_name,
)

# Headings of columns, in lower case.
NODE_HEADINGS = ("node", "nodes", "node_id", "id", "name")
_ATTRIBUTE = ("attribute", "feature", "word", "term", "key")
_VALUE = ("value", "weight", "count", "number")
# Columns of dense attributes, beyond which a sparse matrix is asked for.
MOST_DENSE_COLUMNS = 10_000
# Columns of sparse attributes.
MOST_COLUMNS = 2_000_000
# Mappings of names to numbers are columns, not words, if there are so many nodes and so few names,
# and more than this part of all nodes has each of them.
_FEWEST_RECORDS, _MOST_RECORD_COLUMNS, _FILLED = 3, 200, 0.7
_FORMS = (
    "a data frame, an array or sparse matrix with one row per node, a mapping from nodes to "
    "vectors or to bags of words, or a table of node, attribute and value"
)

Columns = dict[str, nw.Series[Any]]
Form = Literal["columns", "words"]


class GivenAttributes(NamedTuple):
    """Attributes before they are encoded: columns of a frame, or a matrix of numbers."""

    nodes: Names | None  # [m]; None: in the order of the nodes
    columns: Columns | None
    matrix: Any  # [m, d] float64 or csr_array, or None
    names: tuple[str, ...] | None  # of the columns of the matrix
    is_partial: bool = False  # whether columns that are absent are missing

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        if self.nodes is not None:
            return len(self.nodes)
        if self.columns is not None:
            return len(next(iter(self.columns.values()))) if self.columns else 0
        return int(self.matrix.shape[0])


def read_attributes(
    attributes: Any, graph_nodes: Names, form: Form | None = None
) -> GivenAttributes:
    """Read attributes in any form; ``form`` settles what named numbers are.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.attributes.forms import read_attributes
    >>> read_attributes({"a": {"red": 1, "old": 2}, "b": ["red"]}, np.array(["a", "b"])).names
    ('red', 'old')
    """
    table = to_table(attributes)
    if table is not None:
        return _read_table(attributes, table, graph_nodes)
    if isinstance(attributes, Mapping):
        return _read_mapping(attributes, form)
    if isinstance(attributes, str | bytes):
        raise ArgumentError("attributes", _FORMS, attributes)
    if issparse(attributes):
        return GivenAttributes(None, None, check_numbers(csr_array(attributes)), None)
    matrix = _to_matrix(attributes)
    return GivenAttributes(None, None, matrix, None)


def _to_matrix(attributes: Any) -> NDArray[np.float64]:
    try:
        matrix = np.asarray(attributes, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError("attributes", f"{_FORMS}, of numbers", attributes) from None
    if matrix.ndim == 1 and matrix.size:
        matrix = matrix[:, np.newaxis]
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise ArgumentError("attributes", _FORMS, f"an array of shape {matrix.shape}")
    check_numbers(matrix)
    return matrix


def check_numbers(matrix: Any) -> Any:
    """Refuse numbers that are infinite, and more dense columns than memory is meant for."""
    data = matrix.data if issparse(matrix) else matrix
    if issparse(matrix) and np.isnan(data.astype(np.float64)).any():
        raise ValueError("attributes is sparse and holds NaN: leave missing entries out")
    if np.isinf(np.asarray(data, dtype=np.float64)).any():
        dense = matrix.tocoo() if issparse(matrix) else None
        at = np.argwhere(np.isinf(matrix))[0] if dense is None else _find_infinite(dense)
        raise ValueError(
            f"attributes holds an infinite number in row {at[0]}, column {at[1]}: give finite "
            "numbers, NaN where one is missing"
        )
    if not issparse(matrix) and matrix.shape[1] > MOST_DENSE_COLUMNS:
        raise ValueError(
            f"attributes has {matrix.shape[1]} dense columns, but at most {MOST_DENSE_COLUMNS} are "
            "taken: give a scipy sparse matrix, or a mapping from nodes to bags of words"
        )
    if matrix.shape[1] > MOST_COLUMNS:
        raise ValueError(
            f"attributes has {matrix.shape[1]} columns, but at most {MOST_COLUMNS} are taken: drop "
            "rare words, or hash them"
        )
    return matrix.astype(np.float64) if issparse(matrix) else matrix


def _find_infinite(entries: Any) -> tuple[int, int]:
    i = int(np.flatnonzero(np.isinf(entries.data))[0])
    return int(entries.row[i]), int(entries.col[i])


# -- mappings --------------------------------------------------------------------------------


def _read_mapping(attributes: Mapping[Hashable, Any], form: Form | None) -> GivenAttributes:
    if not attributes:
        raise ArgumentError("attributes", "attributes of one node at least", attributes)
    nodes = to_name_array(list(attributes), argument="attributes")
    entries = list(attributes.values())
    are_named = all(isinstance(entry, Mapping) for entry in entries if entry is not None)
    if are_named and (form == "columns" or (form is None and _has_records(entries))):
        return _read_records(nodes, entries)
    if all(_is_bag(entry) for entry in entries if entry is not None):
        return _read_bags(nodes, entries, may_be_empty=form is not None)
    if any(_is_bag(entry) for entry in entries):
        raise ValueError(
            "attributes maps some nodes to vectors and some to bags of words: give one or the other"
        )
    lengths = {len(np.atleast_1d(entry)) for entry in entries if entry is not None}
    if len(lengths) > 1:
        raise ValueError(
            f"attributes maps nodes to vectors of {min(lengths)} and {max(lengths)} numbers: all "
            "must have the same length"
        )
    missing = np.full(lengths.pop(), np.nan)
    rows = [missing if entry is None else np.atleast_1d(entry) for entry in entries]
    return GivenAttributes(nodes, None, _to_matrix(rows), None)


def _has_records(entries: list[Any]) -> bool:
    """Whether nodes have named attributes, most of them each, or texts among them."""
    filled = [entry for entry in entries if entry]
    names = {name for entry in filled for name in entry}
    if any(isinstance(value, str | bool) for entry in filled for value in entry.values()):
        return True
    n_entries = sum(map(len, filled))
    is_table = len(names) <= _MOST_RECORD_COLUMNS and len(filled) >= _FEWEST_RECORDS
    return is_table and n_entries > _FILLED * len(filled) * len(names)


def _read_records(nodes: Names, entries: list[Any]) -> GivenAttributes:
    """A column per name; what a node does not have is missing."""
    import polars as pl  # loads slowly

    names = list(dict.fromkeys(str(name) for entry in entries for name in entry or {}))
    records = [{str(name): value for name, value in (entry or {}).items()} for entry in entries]
    columns = {}
    for name in names:
        listed = [record.get(name) for record in records]
        try:
            series = pl.Series(name, listed)
        except TypeError:
            series = pl.Series(name, [None if x is None else str(x) for x in listed])
        if series.dtype == pl.Object or series.dtype.is_nested():
            value = next(one for one in listed if one is not None)
            raise ValueError(
                f"attributes holds {value!r} of {name!r}: give numbers, texts, booleans or dates"
            )
        columns[name] = nw.from_native(series, series_only=True)
    return GivenAttributes(nodes, columns, None, None, is_partial=True)


def _is_bag(entry: Any) -> bool:
    if isinstance(entry, Mapping):
        return True
    is_collection = isinstance(entry, list | tuple | set | frozenset)
    return is_collection and all(isinstance(word, str) for word in entry)


def _read_bags(nodes: Names, entries: list[Any], *, may_be_empty: bool) -> GivenAttributes:
    words: dict[str, int] = {}
    rows, columns, data = [], [], []
    for row, entry in enumerate(entries):
        bag = {} if entry is None else entry
        counted = bag.items() if isinstance(bag, Mapping) else ((word, 1.0) for word in bag)
        for word, count in counted:
            rows.append(row)
            columns.append(words.setdefault(str(word), len(words)))
            data.append(count)
    if not words and not may_be_empty:
        raise ValueError("attributes maps nodes to bags of words that are all empty")
    return GivenAttributes(
        nodes, None, _make_sparse(data, rows, columns, (len(entries), len(words))), tuple(words)
    )


def _make_sparse(data: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> csr_array:
    try:
        numbers = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        text = next((entry for entry in data if isinstance(entry, str)), data[0])
        raise ValueError(
            f"attributes holds {text!r} where the count of a word must be a number"
        ) from None
    matrix = csr_array((numbers, (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    return csr_array(check_numbers(matrix))


# -- tables ----------------------------------------------------------------------------------


def _read_table(native: Any, table: nw.DataFrame[Any], graph_nodes: Names) -> GivenAttributes:
    if not len(table):
        raise ValueError("attributes is a table without rows")
    headings = {str(name).lower(): name for name in table.columns}
    node = next((headings[name] for name in NODE_HEADINGS if name in headings), None)
    if node is not None and headings.keys() >= {str(node).lower()} and len(headings) == 3:
        attribute = next((headings[name] for name in _ATTRIBUTE if name in headings), None)
        value = next((headings[name] for name in _VALUE if name in headings), None)
        if attribute is not None and value is not None:
            return _read_triplets(table, node, attribute, value)
    nodes = _find_node_names(native, table, node, graph_nodes)
    columns = {str(name): table[name] for name in table.columns if name != node}
    if not columns:
        raise ValueError("attributes is a table without a column beside the names of nodes")
    _check_distinct_nodes(nodes)
    return GivenAttributes(nodes, columns, None, None)


def _find_node_names(
    native: Any, table: nw.DataFrame[Any], node: str | None, graph_nodes: Names
) -> Names:
    if node is not None:
        return to_name_array(table[node].to_list(), argument="attributes")
    index = nw.maybe_get_index(table)
    if index is not None:
        names = to_name_array(index.tolist(), argument="attributes")
        if graph_nodes.dtype == names.dtype and (find_positions(names, graph_nodes) >= 0).any():
            return names
        is_numbered = type(native.index).__name__ == "RangeIndex"
        if not is_numbered:
            return names
    raise ValueError(
        f"attributes is a table whose columns are {', '.join(map(str, table.columns[:8]))}: call "
        "the column with the names of nodes 'node', or make it the index"
    )


def _check_distinct_nodes(nodes: Names) -> None:
    repeated = find_repeated(nodes)
    if repeated is not None:
        raise ValueError(
            f"attributes holds two rows for node {to_plain_name(repeated)!r}: give one row per node"
        )


def _read_triplets(
    table: nw.DataFrame[Any], node: str, attribute: str, value: str
) -> GivenAttributes:
    listed = to_name_array(table[node].to_list(), argument="attributes")
    nodes, (rows,) = find_distinct([listed])
    words: dict[str, int] = {}
    columns = [words.setdefault(str(word), len(words)) for word in table[attribute].to_list()]
    shape = (len(nodes), len(words))
    matrix = _make_sparse(table[value].to_list(), rows, columns, shape)
    return GivenAttributes(nodes, None, matrix, tuple(words))
