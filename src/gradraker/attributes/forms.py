"""Attributes as users give them: frames, arrays, sparse matrices, mappings, triplets."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gradraker.attributes.columns import is_missing
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
# Largest number of dense columns; beyond it a sparse matrix is required.
MOST_DENSE_COLUMNS = 10_000
# Largest number of sparse columns.
MOST_COLUMNS = 2_000_000
# Mappings of names to numbers are columns, not words, if there are at least this many nodes, at
# most this many names, and more than this share of all entries is filled.
FEWEST_RECORDS, _MOST_RECORD_COLUMNS, _FILLED_SHARE = 3, 200, 0.7
_ENTRIES = (str, bool, int, float, date, timedelta, Decimal, np.generic)
_FORMS = (
    "a data frame, an array or sparse matrix with one row per node, a mapping from nodes to "
    "vectors or to bags of words, or a table of node, attribute and value"
)

Columns = dict[str, nw.Series[Any]]
Form = Literal["columns", "words"]
# The form of the given attributes. Named numbers are columns if most nodes have each of them, and
# words otherwise; a sparse matrix that is nearly full becomes dense; lists of words are words.
Source = Literal["frame", "array", "sparse", "named", "words"]


class GivenAttributes(NamedTuple):
    """Attributes before they are encoded: columns of a frame, or a matrix of numbers."""

    nodes: Names | None  # [m]; None: in the order of the nodes
    columns: Columns | None
    matrix: Any  # [m, d] float64 or csr_array, or None
    names: tuple[str, ...] | None  # of the columns of the matrix
    source: Source = "array"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        if self.nodes is not None:
            return len(self.nodes)
        if self.columns is not None:
            return len(next(iter(self.columns.values()))) if self.columns else 0
        return int(self.matrix.shape[0])


def read_attributes(
    attributes: Any, graph_nodes: Names, form: Form | None = None, columns: Collection[str] = ()
) -> GivenAttributes:
    """Read attributes in any form; ``form`` decides whether named numbers are columns or words.

    ``columns`` are those of earlier attributes: an additional one holds the names of nodes.
    """
    table = to_table(attributes)
    if table is None:
        attributes = _to_frame(attributes)
        table = to_table(attributes)
    if table is not None:
        return _read_table(attributes, table, graph_nodes, form, columns)
    if isinstance(attributes, Mapping):
        return _read_mapping(attributes, form)
    if isinstance(attributes, str | bytes):
        raise ArgumentError("attributes", _FORMS, attributes)
    if issparse(attributes):
        matrix = check_numbers(csr_array(attributes))
        n, d = matrix.shape
        return GivenAttributes(
            None, None, matrix.toarray() if is_full(n, d, matrix.nnz) else matrix, None, "sparse"
        )
    if _has_triplets(attributes):
        nodes, words, values = zip(*attributes, strict=True)
        return _read_triplets(nodes, words, values, form)
    return GivenAttributes(None, None, _to_matrix(attributes), None)


def _to_frame(attributes: Any) -> Any:
    """A frame from a Series with an index, and from a lazy frame."""
    found = nw.from_native(attributes, allow_series=True, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        return found.collect().to_native()
    if isinstance(found, nw.Series) and nw.maybe_get_index(found) is not None:
        return attributes.to_frame(name="x0" if attributes.name is None else attributes.name)
    return attributes


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
    """Refuse infinite numbers, and more columns than allowed."""
    data = matrix.data if issparse(matrix) else matrix
    if issparse(matrix) and np.isnan(data.astype(np.float64)).any():
        raise ValueError("attributes is sparse and holds NaN: leave missing entries out")
    if np.isinf(np.asarray(data, dtype=np.float64)).any():
        row, column = (int(places[0]) for places in (abs(matrix) == np.inf).nonzero())
        raise ValueError(
            f"attributes holds an infinite number in row {row}, column {column}: give finite "
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


# -- mappings --------------------------------------------------------------------------------


def _read_mapping(attributes: Mapping[Hashable, Any], form: Form | None) -> GivenAttributes:
    if not attributes:
        raise ArgumentError("attributes", "attributes of one node at least", attributes)
    nodes = to_name_array(list(attributes), argument="attributes")
    entries = list(attributes.values())
    if all(isinstance(entry, str) for entry in entries if entry is not None):
        return _read_records(nodes, [{"text": entry} for entry in entries])
    are_named = all(isinstance(entry, Mapping) for entry in entries if entry is not None)
    if are_named and (form == "columns" or (form is None and _has_records(entries))):
        return _read_records(nodes, entries)
    if all(_is_bag(entry) for entry in entries if entry is not None):
        source: Source = "named" if are_named else "words"
        return _read_bags(nodes, entries, source, may_be_empty=form is not None)
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
    """Whether most nodes have each named attribute, or some attributes are texts."""
    filled = [entry for entry in entries if entry]
    names = {name for entry in filled for name in entry}
    if any(isinstance(value, str | bool) for entry in filled for value in entry.values()):
        return True
    n_entries = sum(value is not None for entry in filled for value in entry.values())
    return len(filled) >= FEWEST_RECORDS and is_full(len(filled), len(names), n_entries)


def is_full(n_rows: int, n_columns: int, n_entries: int) -> bool:
    """Whether a matrix has few columns, and most of its entries are filled."""
    return n_columns <= _MOST_RECORD_COLUMNS and n_entries > _FILLED_SHARE * n_rows * n_columns


def _read_records(nodes: Names, entries: list[Any]) -> GivenAttributes:
    """One column per name; entries that a node does not have are missing."""
    import polars as pl  # loads slowly

    names = list(dict.fromkeys(str(name) for entry in entries for name in entry or {}))
    records = [{str(name): value for name, value in (entry or {}).items()} for entry in entries]
    columns = {}
    for name in names:
        listed = [record.get(name) for record in records]
        unfit = [x for x in listed if not (isinstance(x, _ENTRIES) or is_missing(x))]
        if unfit:
            raise ValueError(
                f"attributes holds {unfit[0]!r} of {name!r}: give numbers, texts, booleans or dates"
            )
        try:
            series = pl.Series(name, listed)
        except TypeError:  # of several types
            series = pl.Series(name, listed, dtype=pl.Object)
        columns[name] = nw.from_native(series, series_only=True)
    return GivenAttributes(nodes, columns, None, None, "named")


def _is_bag(entry: Any) -> bool:
    if isinstance(entry, Mapping):
        return True
    is_collection = isinstance(entry, list | tuple | set | frozenset)
    return is_collection and all(isinstance(word, str) for word in entry)


def _read_bags(
    nodes: Names, entries: list[Any], source: Source, *, may_be_empty: bool
) -> GivenAttributes:
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
    matrix = _make_sparse(data, rows, columns, (len(entries), len(words)))
    return GivenAttributes(nodes, None, matrix, tuple(words), source)


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


def _read_table(
    native: Any,
    table: nw.DataFrame[Any],
    graph_nodes: Names,
    form: Form | None,
    before: Collection[str],
) -> GivenAttributes:
    if not len(table):
        raise ValueError("attributes is a table without rows")
    columns = {str(name): _infer_type(table[:, i]) for i, name in enumerate(table.columns)}
    if len(columns) < len(table.columns):
        raise ValueError("attributes has two columns of one name: give each column its own name")
    added = [name for name in columns if name not in before]
    node = _find_node_column(columns, graph_nodes)
    if node is None and len(added) == 1 and before and columns[added[0]].dtype == nw.String:
        node = added[0]
    others = {name: series for name, series in columns.items() if name != node}
    if node is not None:
        nodes = to_name_array(columns[node].to_list(), argument="attributes")
        triplets = _find_triplets(others, is_repeated=find_repeated(nodes) is not None)
        if triplets is not None:
            words, values = triplets
            return _read_triplets(columns[node].to_list(), words.to_list(), values.to_list(), form)
    else:
        nodes = _get_index(native, table, graph_nodes)
    if not others:
        raise ValueError("attributes is a table without a column beside the names of nodes")
    repeated = find_repeated(nodes)
    if repeated is not None:
        raise ValueError(
            f"attributes holds two rows for node {to_plain_name(repeated)!r}: give one row per node"
        )
    return GivenAttributes(nodes, others, None, None, "frame")


def _infer_type(series: nw.Series[Any]) -> nw.Series[Any]:
    """Give a column of objects of pandas the type of its entries, if they have one type."""
    if series.dtype != nw.Object:
        return series
    native = series.to_native()
    return nw.from_native(native.infer_objects(), series_only=True)


def _find_node_column(columns: Columns, graph_nodes: Names) -> str | None:
    """The column with a heading for nodes, else one of texts that are all names of nodes."""
    headings = {name.lower(): name for name in columns}
    named = next((headings[name] for name in NODE_HEADINGS if name in headings), None)
    if named is not None or graph_nodes.dtype == np.int64:
        return named
    for name, series in columns.items():
        if series.dtype == nw.String and not series.is_null().any():
            names = to_name_array(series.to_list(), argument="attributes")
            if (find_positions(names, graph_nodes) >= 0).all():
                return name
    return None


def _find_triplets(
    others: Columns, *, is_repeated: bool
) -> tuple[nw.Series[Any], nw.Series[Any]] | None:
    """Columns of attributes and values, by their names, or by their types if nodes repeat."""
    if len(others) != 2:
        return None
    headings = {name.lower(): series for name, series in others.items()}
    words = next((headings[name] for name in _ATTRIBUTE if name in headings), None)
    values = next((headings[name] for name in _VALUE if name in headings), None)
    if words is not None and values is not None:
        return words, values
    texts = [series for series in others.values() if series.dtype == nw.String]
    numbers = [series for series in others.values() if series.dtype.is_numeric()]
    return (texts[0], numbers[0]) if is_repeated and texts and numbers else None


def _get_index(native: Any, table: nw.DataFrame[Any], graph_nodes: Names) -> Names:
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


# -- triplets --------------------------------------------------------------------------------


def _has_triplets(attributes: Any) -> bool:
    """Whether attributes are a list of (node, attribute, value), and not a list of numbers."""
    return isinstance(attributes, list | tuple) and all(
        isinstance(row, list | tuple) and len(row) == 3 and isinstance(row[1], str)
        for row in attributes
    )


def _read_triplets(
    nodes: Sequence[Any], words: Sequence[Any], values: Sequence[Any], form: Form | None
) -> GivenAttributes:
    """Columns of numbers if most nodes have each of them, else counts of words."""
    names, (rows,) = find_distinct([to_name_array(list(nodes), argument="attributes")])
    places: dict[str, int] = {}
    columns = [places.setdefault(str(word), len(places)) for word in words]
    if form == "columns" or (form is None and len(places) <= _MOST_RECORD_COLUMNS):
        entries: list[dict[str, Any]] = [{} for _ in names]
        for row, word, value in zip(rows.tolist(), words, values, strict=True):
            entries[row][str(word)] = value
        if form == "columns" or _has_records(entries):
            return _read_records(names, entries)
    matrix = _make_sparse(values, rows, columns, (len(names), len(places)))
    return GivenAttributes(names, None, matrix, tuple(places), "named")
