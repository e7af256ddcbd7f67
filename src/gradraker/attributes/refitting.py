"""Attributes after some nodes are forgotten: encoders are fitted again without them."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gradraker.attributes.columns import Column, NumberColumn
from gradraker.attributes.forms import FEWEST_RECORDS, is_full
from gradraker.attributes.table import AttributeTable, encode_columns
from gradraker.attributes.vectorizing import fit_column

Rows = NDArray[np.int64]


def keep_nodes(table: AttributeTable, kept: Rows) -> AttributeTable | None:
    """Return the table as if only the kept nodes had ever been given.

    Encoders are fitted again on the kept nodes among those that they were fitted on; if there are
    none, on all kept nodes. None if no kept node has attributes.
    """
    left = table.select(kept)
    if not left.given.any():
        return None
    if left.given.sum() == table.given.sum():
        return left
    if not left.is_learned.any():
        left = replace(left, is_learned=left.given)
    try:
        return _fit_again(left)
    except ValueError:  # later entries do not fit encoders of the remaining first ones
        return _fit_again(replace(left, is_learned=left.given))


def _fit_again(table: AttributeTable) -> AttributeTable:
    if table.source in ("named", "words"):
        table = _drop_empty_columns(table)
    if table.source in ("named", "sparse"):
        table = _choose_density(table)
    return table if table.columns is None else _fit_columns_again(table, table.columns)


def _fit_columns_again(table: AttributeTable, columns: tuple[Column, ...]) -> AttributeTable:
    """Fit the encoders of a frame on the entries of learned nodes, and encode those of all."""
    learned, given = np.flatnonzero(table.is_learned), np.flatnonzero(table.given)
    ends = np.cumsum([len(column.outputs) for column in columns])[:-1]
    numbers = np.split(table.matrix[given], ends, axis=1)
    fitted, entries = [], []
    for column, own in zip(columns, numbers, strict=True):
        raw = table.raw.get(column.name)
        fitted.append(column if raw is None else fit_column(column.name, raw.select(learned)))
        entries.append(own[:, 0] if raw is None else raw.entries[given])
    names = tuple(name for column in fitted for name in column.outputs)
    matrix = np.full((len(table.given), len(names)), np.nan)
    matrix[given] = encode_columns(fitted, entries)
    return replace(table, matrix=matrix, names=names, columns=tuple(fitted))


def _drop_empty_columns(table: AttributeTable) -> AttributeTable:
    """Drop words, and columns of records, that no learned node has."""
    own = table.matrix[np.flatnonzero(table.is_learned)]
    if table.columns is None:
        is_kept = np.zeros(len(table.names), dtype=np.bool_)
        is_kept[csr_array(own).indices] = True
        names = tuple(n for n, kept in zip(table.names, is_kept, strict=True) if kept)
        return replace(table, matrix=table.matrix[:, np.flatnonzero(is_kept)], names=names)
    columns, outputs = [], []
    for i, column in enumerate(table.columns):
        if _has_entries(table, column, own[:, np.flatnonzero(table.sources == i)]):
            columns.append(column)
            outputs.append(i)
    kept = np.flatnonzero(np.isin(table.sources, outputs))
    return replace(
        table,
        matrix=table.matrix[:, kept],
        names=tuple(table.names[j] for j in kept),
        columns=tuple(columns),
        raw={column.name: table.raw[column.name] for column in columns if column.name in table.raw},
    )


def _has_entries(table: AttributeTable, column: Column, numbers: Any) -> bool:
    if column.name not in table.raw:
        return not bool(np.isnan(numbers).all())
    return any(entry is not None for entry in table.raw[column.name].entries[table.is_learned])


def _choose_density(table: AttributeTable) -> AttributeTable:
    """Store named numbers or a sparse matrix as columns or as words, as a first reading would."""
    if table.raw:
        return table
    own = table.matrix[np.flatnonzero(table.is_learned)]
    if issparse(own):
        counts = np.diff(own.indptr)
    else:
        counts = np.sum(~np.isnan(own) if table.source == "named" else own != 0.0, axis=1)
    n_rows = int((counts > 0).sum()) if table.source == "named" else len(counts)
    is_dense = is_full(n_rows, own.shape[1], int(counts.sum()))
    if table.source == "named":
        is_dense = is_dense and n_rows >= FEWEST_RECORDS
    if is_dense != table.is_sparse:
        return table
    if not is_dense:
        return replace(table, matrix=_to_words(table.matrix), columns=None)
    columns = tuple(map(NumberColumn, table.names)) if table.source == "named" else None
    return replace(table, matrix=_to_numbers(table), columns=columns)


def _to_words(matrix: NDArray[np.float64]) -> csr_array:
    """A sparse matrix of the entries that are not missing."""
    rows, columns = np.nonzero(~np.isnan(matrix))
    return csr_array((matrix[rows, columns], (rows, columns)), shape=matrix.shape)


def _to_numbers(table: AttributeTable) -> NDArray[np.float64]:
    """A dense matrix; named numbers that a node does not have are missing."""
    if table.source == "sparse":
        return np.where(table.given[:, np.newaxis], table.matrix.toarray(), np.nan)
    entries = csr_array(table.matrix).tocoo()
    matrix = np.full(table.matrix.shape, np.nan)
    matrix[entries.row, entries.col] = entries.data
    return matrix
