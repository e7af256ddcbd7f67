"""Entries of columns as they were given, from which encoders are fitted and refitted.

Numbers need no encoder. For all other columns the entries are kept beside their encoded numbers:
when nodes are forgotten, encoders are fitted again without them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from gradraker.attributes.columns import is_missing

Entries = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class RawColumn:
    """Entries (n,) of a column: None, numbers, texts and dates."""

    entries: Entries
    is_categorical: bool = False  # by the type of the column

    def select(self, rows: NDArray[np.int64]) -> "RawColumn":
        """Return the entries of some nodes."""
        return RawColumn(self.entries[rows], self.is_categorical)

    def resize(self, n: int) -> "RawColumn":
        """Return the column with missing entries added, up to n."""
        added = np.full(n - len(self.entries), None, dtype=object)
        return RawColumn(np.concatenate([self.entries, added]), self.is_categorical)

    def replace(self, rows: NDArray[np.int64], entries: Sequence[Any]) -> "RawColumn":
        """Return the column with some entries replaced."""
        replaced = self.entries.copy()
        replaced[rows] = to_entries(entries)
        return RawColumn(replaced, self.is_categorical)


def to_raw_column(series: nw.Series[Any]) -> RawColumn:
    """Return the entries of a column of a frame."""
    is_categorical = series.dtype in (nw.Categorical, nw.Enum)
    return RawColumn(to_entries(series.to_list()), is_categorical)


def to_entries(entries: Sequence[Any]) -> Entries:
    """Return entries as plain numbers, texts and dates; None where one is missing."""
    found = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):
        found[i] = _to_plain(entry)
    return found


def _to_plain(entry: Any) -> Any:
    if is_missing(entry):
        return None
    if isinstance(entry, np.generic):
        entry = entry.item()
    if isinstance(entry, timedelta):
        return entry.total_seconds()
    if isinstance(entry, datetime):  # pandas has a subclass
        return entry.to_pydatetime(warn=False) if hasattr(entry, "to_pydatetime") else entry
    if isinstance(entry, bool | int | date):
        return entry
    if isinstance(entry, float | Decimal) and math.isfinite(entry):
        return float(entry)
    return str(entry)


def has_only(entries: Entries, *types: type) -> bool:
    """Whether there are entries, and all of them have one of these types."""
    filled = [entry for entry in entries if entry is not None]
    return bool(filled) and all(isinstance(entry, types) for entry in filled)


def dump_entry(entry: Any) -> Any:
    """Return an entry as JSON can hold it."""
    if isinstance(entry, datetime):
        return {"datetime": entry.isoformat()}
    return {"date": entry.isoformat()} if isinstance(entry, date) else entry


def restore_entry(item: Any) -> Any:
    """Make an entry from data of a file, checked."""
    if isinstance(item, dict) and len(item) == 1:
        (kind, text), *_ = item.items()
        if kind in ("date", "datetime") and isinstance(text, str):
            return date.fromisoformat(text) if kind == "date" else datetime.fromisoformat(text)
    is_plain = item is None or isinstance(item, str | bool | int | float)
    if not is_plain or (isinstance(item, float) and not math.isfinite(item)):
        raise ValueError(f"the entry of a column is {item!r}")
    return item
