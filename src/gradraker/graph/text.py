"""Texts that stand for numbers or names: one set of rules for tables and files."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gradraker.graph.names import Names, find_distinct, find_distinct_integers

if TYPE_CHECKING:
    import polars as pl

# Patterns that Python and polars read alike. "inf", "nan" and "1_000" are not decimal numbers.
NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_INTEGER = r"^(?:0|-?[1-9][0-9]*)$"
# Words that tables write for an unknown number, in lower case.
MISSING = ("", "na", "n/a", "nan", "null", "none")
_NOT_FINITE = ("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")


def is_number(text: str) -> bool:
    """Whether a text is a plain decimal number."""
    return re.match(NUMBER, text) is not None


def is_value(text: str) -> bool:
    """Whether a text is a number, finite or not, or says that one is missing."""
    return is_number(text) or text.casefold() in (*MISSING, *_NOT_FINITE)


def to_integers(columns: Sequence["pl.Series"]) -> list["pl.Series"] | None:
    """Return texts as int64 if each is an integer in its shortest form, so that nothing is lost."""
    import polars as pl

    if not all(column.str.contains(_INTEGER).all() for column in columns):
        return None
    converted = [column.cast(pl.Int64, strict=False) for column in columns]
    return None if any(column.null_count() for column in converted) else converted


def find_distinct_texts(columns: Sequence["pl.Series"]) -> tuple[Names, list[NDArray[np.int64]]]:
    """Return the sorted distinct texts of columns, and their positions for each column.

    Each text is hashed to 64 bits and the hashes are numbered as integers, which takes a
    fraction of the time of comparing texts; that equal hashes mean equal texts is then checked.
    """
    import polars as pl

    texts = pl.concat([column.alias("text") for column in columns], rechunk=True)
    hashes, codes = find_distinct_integers(texts.hash().to_numpy())
    where = np.empty(len(hashes), dtype=np.int64)
    where[codes] = np.arange(len(codes))
    found = texts.gather(where)
    if not (found.gather(codes) == texts).all():  # two texts with one hash
        return find_distinct([np.array(column.to_list(), dtype=object) for column in columns])
    order = found.arg_sort().to_numpy()
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    names = np.array(found.gather(order).to_list(), dtype=object)
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return names, np.split(position[codes], ends)
