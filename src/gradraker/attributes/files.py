"""Attributes of nodes as state and arrays of a model file."""

from typing import Any, get_args

import numpy as np
from scipy.sparse import csr_array

from gradraker.attributes.columns import ARRAYS, Arrays, Column, dump_column, restore_column
from gradraker.attributes.entries import RawColumn, dump_entry, restore_entry
from gradraker.attributes.forms import MOST_COLUMNS, Source
from gradraker.attributes.table import AttributeTable
from gradraker.graph.edges import restore_csr

_PREFIX = "attributes_"
_COLUMN = "attribute_column_{}_{}"


def dump_attributes(table: AttributeTable) -> tuple[dict[str, Any], Arrays]:
    """Return a table as :func:`restore_attributes` takes it."""
    state: dict[str, Any] = {
        "names": list(table.names) if table.is_named else len(table.names),
        "is_sparse": table.is_sparse,
        "columns": None,
        "source": table.source,
        "raw": {
            name: {
                "entries": [dump_entry(entry) for entry in column.entries],
                "is_categorical": column.is_categorical,
            }
            for name, column in table.raw.items()
        },
    }
    arrays: Arrays = {_PREFIX + "given": table.given, _PREFIX + "learned": table.is_learned}
    if table.is_sparse:
        matrix = csr_array(table.matrix)
        arrays |= {
            _PREFIX + "data": matrix.data,
            _PREFIX + "indices": matrix.indices.astype(np.int64),
            _PREFIX + "indptr": matrix.indptr.astype(np.int64),
        }
    else:
        arrays[_PREFIX + "matrix"] = table.matrix
    if table.columns is not None:
        state["columns"] = []
        for i, column in enumerate(table.columns):
            item, own = dump_column(column)
            state["columns"].append(item)
            arrays |= {_COLUMN.format(i, name): array for name, array in own.items()}
    return state, arrays


def restore_attributes(state: dict[str, Any], arrays: Arrays, n: int) -> AttributeTable:
    """Make the table of n nodes that a file describes, checked."""
    columns = None
    if state["columns"] is not None:
        columns = tuple(
            restore_column(item, _select_arrays(i, arrays))
            for i, item in enumerate(state["columns"])
        )
        names = tuple(name for column in columns for name in column.outputs)
    elif isinstance(state["names"], list):
        names = tuple(map(str, state["names"]))
    else:
        width = state["names"]
        if type(width) is not int or not 0 < width <= MOST_COLUMNS:
            raise ValueError(f"the number of attributes is {width!r}")
        names = ()
    is_named = columns is not None or isinstance(state["names"], list)
    given, learned = arrays[_PREFIX + "given"], arrays[_PREFIX + "learned"]
    if any(flags.dtype != np.bool_ or flags.shape != (n,) for flags in (given, learned)):
        raise ValueError("the attributes do not fit the nodes")
    if state["source"] not in get_args(Source) or bool((learned & ~given).any()):
        raise ValueError("the attributes are not consistent")
    d = len(names) if is_named else int(state["names"])
    if state["is_sparse"]:
        matrix: Any = restore_csr(arrays, _PREFIX, (n, d), "attributes")
    else:
        matrix = arrays[_PREFIX + "matrix"].astype(np.float64, casting="safe")
        if matrix.shape != (n, d) or np.isinf(matrix).any():
            raise ValueError("the attributes are not consistent")
    if not is_named:  # as many as the matrix really has
        names = tuple(f"x{i}" for i in range(d))
    raw = _restore_raw(state["raw"], columns, n)
    return AttributeTable(matrix, given, names, columns, is_named, state["source"], raw, learned)


def _restore_raw(
    items: dict[str, Any], columns: tuple[Column, ...] | None, n: int
) -> dict[str, RawColumn]:
    """Entries (n,) of columns that are not numbers; every encoder except of numbers needs them."""
    encoded = {column.name for column in columns or () if column.kind != "number"}
    if not encoded <= set(items) <= {column.name for column in columns or ()}:
        raise ValueError("the entries of columns do not fit their encoders")
    found = {}
    for name, item in items.items():
        entries = np.empty(n, dtype=object)
        if len(item["entries"]) != n:
            raise ValueError("the entries of a column do not fit the nodes")
        for i, entry in enumerate(item["entries"]):
            entries[i] = restore_entry(entry)
        found[name] = RawColumn(entries, bool(item["is_categorical"]))
    return found


def _select_arrays(i: int, arrays: Arrays) -> Arrays:
    names = ((name, _COLUMN.format(i, name)) for name in ARRAYS)
    return {name: arrays[key] for name, key in names if key in arrays}
