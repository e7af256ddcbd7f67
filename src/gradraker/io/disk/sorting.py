"""Sort the entries of a matrix by rows on disk, in buckets of rows that fit in memory."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

# Entries in a bucket, which are sorted in memory: about 400 MB of working memory.
ENTRIES_PER_BUCKET = 1 << 23


class Buckets:
    """Files of entries (row, column, weight), each of a range of rows.

    Parameters
    ----------
    folder : path
        Where the files are.
    counts : int array of shape (n,)
        Entries in each row.
    is_weighted : bool
        Whether entries have weights; else each counts 1.
    """

    def __init__(self, folder: Path, counts: NDArray[np.int64], *, is_weighted: bool) -> None:
        ends = np.cumsum(counts)
        n_buckets = max(1, -(-int(ends[-1]) // ENTRIES_PER_BUCKET))
        marks = np.arange(1, n_buckets) * (int(ends[-1]) / n_buckets)
        cuts = np.unique(np.searchsorted(ends, marks, side="right"))
        self.bounds = np.unique(np.concatenate([[0], cuts, [counts.size]]))
        record = [("row", np.int32), ("column", np.int32)]
        self._record = np.dtype([*record, ("weight", np.float32)] if is_weighted else record)
        self._paths = [folder / f"bucket{i}" for i in range(self.bounds.size - 1)]
        self._files: list[BinaryIO] = [open(path, "wb") for path in self._paths]  # noqa: SIM115

    def add(
        self,
        rows: NDArray[np.int32],
        columns: NDArray[np.int32],
        weights: NDArray[np.float32] | None,
    ) -> None:
        """Write entries to the buckets of their rows."""
        numbers = np.searchsorted(self.bounds, rows, side="right") - 1
        small = np.min_scalar_type(len(self._paths))  # up to 16 bits are sorted in linear time
        order = np.argsort(numbers.astype(small), kind="stable")
        records = np.empty(rows.size, dtype=self._record)
        records["row"], records["column"] = rows[order], columns[order]
        if weights is not None:
            records["weight"] = weights[order]
        ends = np.cumsum(np.bincount(numbers, minlength=len(self._paths)))
        for file, start, stop in zip(self._files, [0, *ends[:-1]], ends, strict=True):
            records[start:stop].tofile(file)

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()

    def iterate_rows(
        self,
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]]:
        """Yield sizes of rows, columns and weights, with duplicates summed; removes the files."""
        self.close()
        for path, start, stop in zip(self._paths, self.bounds[:-1], self.bounds[1:], strict=True):
            records = np.fromfile(path, dtype=self._record)
            os.remove(path)
            yield _sort_entries(records, int(start), int(stop))


def _sort_entries(
    records: NDArray[np.void], start: int, stop: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    keys = records["row"].astype(np.int64)
    keys -= start
    keys <<= 32
    keys |= records["column"]
    weights = None
    if "weight" in (records.dtype.names or ()):
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], records["weight"][order].astype(np.float64)
    else:
        keys.sort()
    del records
    if keys.size == 0:
        return np.zeros(stop - start, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
    firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    if weights is None:
        summed = np.diff(np.append(firsts, keys.size))
    else:
        summed = np.add.reduceat(weights, firsts)
    distinct = keys[firsts]
    sizes = np.bincount(distinct >> 32, minlength=stop - start)
    return sizes, (distinct & 0xFFFFFFFF).astype(np.int32), summed.astype(np.float32)
