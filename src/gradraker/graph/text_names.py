"""Number the distinct texts of polars columns without making a Python string of each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.graph.names import Names, distinct_integers


def distinct_text(
    columns: Sequence[Any],
) -> tuple[Names, list[NDArray[np.int64]]] | None:
    """Return the sorted distinct texts of polars columns, and their positions for each column.

    None if these are not polars columns of text without nulls.

    Each text is hashed to 64 bits and the hashes are numbered as integers, which takes a
    fraction of the time of comparing texts; that equal hashes mean equal texts is then checked.
    """
    if not all(type(column).__module__.startswith("polars.") for column in columns):
        return None
    import polars as pl

    if any(column.dtype != pl.String or column.null_count() for column in columns):
        return None
    texts = pl.concat([column.alias("text") for column in columns], rechunk=True)
    hashes, codes = distinct_integers(texts.hash().to_numpy())
    where = np.empty(len(hashes), dtype=np.int64)
    where[codes] = np.arange(len(codes))
    found = texts.gather(where)
    if not (found.gather(codes) == texts).all():
        return None  # two texts with one hash: leave it to the exact way
    order = found.arg_sort().to_numpy()
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    names = np.fromiter(found.gather(order).to_list(), dtype=object, count=len(order))
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return names, np.split(position[codes], ends)
