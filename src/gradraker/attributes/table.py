"""Attributes of the nodes of a graph as one matrix, with the encoders of its columns."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from gradraker._fields import describe_fields
from gradraker.attributes.columns import Column, NumberColumn
from gradraker.attributes.entries import RawColumn, to_raw_column
from gradraker.attributes.forms import Form, GivenAttributes, Source, check_numbers, read_attributes
from gradraker.attributes.vectorizing import fit_column
from gradraker.exceptions import UnknownNodesError
from gradraker.graph.names import Names, check_same_type, find_positions

_MOST_LISTED = 5  # names of columns in a message


class AttributeWarning(UserWarning):
    """Attributes that are useless, or that leak the values."""


@describe_fields
@dataclass(frozen=True, eq=False)
class AttributeTable:
    """Attributes of all nodes: one row per node, whether its attributes are given, and encoders.

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> edges, known = [("a", "b"), ("b", "c")], {"a": 1.0, "c": 2.0}
    >>> model = NodeRegressor().fit(edges, known, attributes={"a": [1.0], "b": [2.0], "c": [3.0]})
    >>> model.attributes_
    AttributeTable: 1 numbers per node (number: 1)
    """

    matrix: Annotated[
        Any, "Numbers (n, d), NaN where one is missing; or a csr_array, without missing ones."
    ]
    given: Annotated[NDArray[np.bool_], "Whether each node (n,) came with attributes."]
    names: Annotated[tuple[str, ...], "Names of the columns."]
    columns: Annotated[
        tuple[Column, ...] | None,
        "Encoders of the columns of a frame; None for arrays, matrices and bags of words.",
    ]
    is_named: Annotated[bool, "Whether a user named the columns; those of arrays are numbers."]
    source: Annotated[Source, "The form in which the attributes were given."]
    raw: Annotated[
        dict[str, RawColumn], "Entries of the columns of a frame that are not numbers, by name."
    ]
    is_learned: Annotated[
        NDArray[np.bool_], "Whether encoders were fitted on the attributes of each node (n,)."
    ]

    @property
    def form(self) -> Form:
        """Whether mappings from nodes to named numbers are columns, or words."""
        return "words" if self.columns is None else "columns"

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns of a frame; none for other forms."""
        return tuple(column.name for column in self.columns or ())

    @property
    def sources(self) -> NDArray[np.int64]:
        """The number (d,) of the given column from which each column of the matrix comes."""
        if self.columns is None:
            return np.arange(len(self.names))
        widths = [len(column.outputs) for column in self.columns]
        return np.repeat(np.arange(len(widths)), widths)

    @property
    def are_apart(self) -> NDArray[np.bool_]:
        """Whether each column (d,) has a unit of its own: numbers, parts of dates."""
        if self.columns is None:
            return np.ones(len(self.names), dtype=np.bool_)
        listed = np.array([column.kind in ("number", "date") for column in self.columns])
        return np.asarray(listed[self.sources])

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is sparse: words, counts."""
        return bool(issparse(self.matrix))

    def describe(self) -> dict[str, Any]:
        """Return the counts and kinds of the columns, as a dict that JSON can hold."""
        kinds = dict(Counter(column.kind for column in self.columns or ()))
        if self.columns is None:
            kinds["count" if self.is_sparse else "number"] = len(self.names)
        return {
            "n_columns": len(self.names),
            "kinds": kinds,
            "columns": list(self.names[:100]),
            "n_nodes_with": int(self.given.sum()),
            "n_nodes_without": int((~self.given).sum()),
            "is_sparse": self.is_sparse,
        }

    def __repr__(self) -> str:
        return f"AttributeTable: {self.format_kinds()}"

    def format_kinds(self) -> str:
        """Return the counts and kinds of the columns as a text."""
        facts = self.describe()
        kinds = ", ".join(f"{kind}: {n}" for kind, n in facts["kinds"].items())
        without = facts["n_nodes_without"]
        missing = f"; {without} without" if without else ""
        return f"{facts['n_columns']} numbers per node ({kinds}){missing}"

    def resize(self, n: int) -> "AttributeTable":
        """Return the table with nodes without attributes added, up to n."""
        added = n - len(self.given)
        if added == 0:
            return self
        no_node = np.zeros(added, dtype=np.bool_)
        return replace(
            self,
            matrix=_stack(self.matrix, _make_missing(added, len(self.names), self.is_sparse)),
            given=np.concatenate([self.given, no_node]),
            raw={name: column.resize(n) for name, column in self.raw.items()},
            is_learned=np.concatenate([self.is_learned, no_node]),
        )

    def select(self, rows: NDArray[np.int64]) -> "AttributeTable":
        """Return the table of some nodes."""
        return replace(
            self,
            matrix=self.matrix[rows],
            given=self.given[rows],
            raw={name: column.select(rows) for name, column in self.raw.items()},
            is_learned=self.is_learned[rows],
        )

    def replace_rows(self, rows: NDArray[np.int64], given: GivenAttributes) -> "AttributeTable":
        """Return the table with the attributes of some nodes replaced or added."""
        encoded, is_given = self.encode(given), self.given.copy()
        is_given[rows] = True
        found = replace(self, given=is_given, raw=self._replace_raw(rows, given))
        if not self.is_sparse:
            matrix = self.matrix.copy()
            matrix[rows] = encoded
            return replace(found, matrix=matrix)
        place = np.arange(len(self.given))
        place[rows] = len(self.given) + np.arange(rows.size)
        return replace(found, matrix=_stack(self.matrix, encoded)[place])

    def _replace_raw(self, rows: NDArray[np.int64], given: GivenAttributes) -> dict[str, RawColumn]:
        """Entries, with those of some nodes replaced or added."""
        columns: dict[str, Any] = {}
        if given.columns is not None:
            columns = {name: series.to_list() for name, series in given.columns.items()}
        elif self.raw:
            columns = dict(zip(self.column_names, given.matrix.T, strict=True))
        all_missing = [None] * given.n_rows
        return {
            name: column.replace(rows, columns.get(name, all_missing))
            for name, column in self.raw.items()
        }

    def encode(self, given: GivenAttributes) -> Any:
        """Encode attributes that were given later, with the encoders of the first ones."""
        if given.columns is not None:
            return self._encode_columns(given)
        if self.columns is not None:
            if given.matrix.shape[1] == len(self.columns):
                return encode_columns(self.columns, list(given.matrix.T))
            raise ValueError(
                f"attributes has {given.matrix.shape[1]} columns without names, but there were "
                f"{len(self.columns)} columns at fit: {list_names(self.column_names)}"
            )
        matrix = given.matrix
        if given.names is not None and self.is_named:
            return self._select_words(given)
        if matrix.shape[1] != len(self.names):
            raise ValueError(
                f"attributes has {matrix.shape[1]} columns, but there were {len(self.names)} at fit"
            )
        if self.is_sparse:
            return csr_array(matrix)
        return matrix.toarray() if issparse(matrix) else matrix

    def _select_words(self, given: GivenAttributes) -> Any:
        """Columns of the table, by name; new words are ignored."""
        assert given.names is not None
        places = {name: i for i, name in enumerate(self.names)}
        known = [(i, places[name]) for i, name in enumerate(given.names) if name in places]
        if not known and given.matrix.nnz:
            raise ValueError(
                f"attributes holds none of the {len(self.names)} attributes at fit, but "
                f"{list_names(given.names)}"
            )
        entries = csr_array(given.matrix).tocsc()[:, [i for i, _ in known]].tocoo()
        columns = np.array([place for _, place in known], dtype=np.int64)[entries.col]
        shape = (given.n_rows, len(self.names))
        return csr_array((entries.data, (entries.row, columns)), shape=shape)

    def _encode_columns(self, given: GivenAttributes) -> Any:
        assert given.columns is not None
        if self.columns is None:
            raise ValueError(
                "attributes is a table, but came without names of columns at fit: give an array or "
                "a mapping as then"
            )
        expected = self.column_names
        missing = [name for name in expected if name not in given.columns]
        extra = [name for name in given.columns if name not in expected]
        if given.source == "named":  # columns that are absent are missing
            missing = []
        if missing or extra:
            parts = [f"lacks {list_names(missing)}"] if missing else []
            parts += [f"has {list_names(extra)}, which fit did not see"] if extra else []
            raise ValueError(f"attributes {' and '.join(parts)}: give the columns of fit")
        all_missing = [None] * given.n_rows
        return encode_columns(
            self.columns,
            [given.columns[n].to_list() if n in given.columns else all_missing for n in expected],
        )


def _make_missing(n: int, d: int, is_sparse: bool) -> Any:
    """Rows of nodes without attributes."""
    return csr_array((n, d)) if is_sparse else np.full((n, d), np.nan)


def _stack(first: Any, second: Any) -> Any:
    return csr_array(vstack([first, second])) if issparse(first) else np.vstack([first, second])


def encode_columns(columns: Sequence[Column], entries: Sequence[Any]) -> NDArray[np.float64]:
    """Entries of each column as numbers (n, d), checked."""
    parts = [column.encode(own) for column, own in zip(columns, entries, strict=True)]
    matrix = np.hstack(parts)
    for column, part in zip(columns, parts, strict=True):
        if np.isinf(part).any():
            raise ValueError(
                f"attributes holds an infinite number in column {column.name!r}: give finite "
                "numbers, NaN where one is missing"
            )
    check_numbers(matrix)
    return matrix


def learn_attributes(attributes: Any, nodes: Names) -> AttributeTable:
    """Read attributes of some nodes and fit their encoders.

    Parameters
    ----------
    attributes : frame, array, sparse matrix or mapping
        See :meth:`gradraker.NodeRegressor.fit`.
    nodes : sequence of n names
        The nodes of the graph; attributes without names are in their order.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.attributes import learn_attributes
    >>> learn_attributes({"a": [1.0, 2.0], "c": [0.5, np.nan]}, np.array(["a", "b", "c"]))
    AttributeTable: 2 numbers per node (number: 2); 1 without
    """
    given = read_attributes(attributes, nodes)
    return fit_table(given, find_rows(given, nodes, nodes), len(nodes))


def fit_table(given: GivenAttributes, rows: NDArray[np.int64], n: int) -> AttributeTable:
    """Fit the encoders of attributes, and encode them as rows of a table of n nodes."""
    columns, names, raw = None, given.names, {}
    if given.columns is not None:
        series = given.columns.items()
        raw = {name: to_raw_column(entry) for name, entry in series if not entry.dtype.is_numeric()}
        columns = tuple(
            fit_column(name, raw[name]) if name in raw else NumberColumn(name)
            for name in given.columns
        )
        names = tuple(name for column in columns for name in column.outputs)
    is_named = names is not None
    if names is None:
        names = tuple(f"x{i}" for i in range(given.matrix.shape[1]))
    no_node = np.zeros(n, dtype=np.bool_)
    table = AttributeTable(
        _make_missing(n, len(names), columns is None and issparse(given.matrix)),
        no_node,
        names,
        columns,
        is_named,
        given.source,
        {name: RawColumn(np.full(n, None), own.is_categorical) for name, own in raw.items()},
        no_node,
    ).replace_rows(rows, given)
    found = table.matrix[rows]
    if table.is_sparse and not found.nnz:
        raise ValueError("attributes holds no entry that is not 0: nothing can be learned")
    if not table.is_sparse and np.isnan(found).all():
        raise ValueError("attributes holds no number: all entries are missing")
    return replace(table, is_learned=table.given)


def find_rows(given: GivenAttributes, nodes: Names, order: Names) -> NDArray[np.int64]:
    """Rows of the nodes that attributes are given for."""
    if given.nodes is None:
        if given.n_rows != len(order):
            raise ValueError(
                f"attributes has {given.n_rows} rows, but there are {len(order)} nodes: give one "
                "row per node, or a frame or mapping that names the nodes"
            )
        return find_positions(order, nodes)
    rows = find_positions(given.nodes, nodes)
    unknown = given.nodes[rows < 0]
    if len(unknown):
        check_same_type(unknown, nodes, argument="attributes")
        raise UnknownNodesError(
            "attributes",
            unknown.tolist(),
            "pass unknown_nodes='ignore' to leave them out, or 'isolated' to take them for nodes "
            "without edges",
        )
    return rows


def find_repeats(matrix: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each column equals one before it."""
    seen: set[bytes] = set()
    found = np.zeros(matrix.shape[1], dtype=np.bool_)
    for j in range(matrix.shape[1]):
        key = np.ascontiguousarray(matrix[:, j] + 0.0).tobytes()
        found[j] = key in seen
        seen.add(key)
    return found


def list_names(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    listed = ", ".join(map(repr, names[:_MOST_LISTED]))
    return f"{listed} and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else listed
