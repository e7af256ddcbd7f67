"""Edges of files → the matrix |A| + |A|ᵀ in a folder, in memory that does not grow with edges."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import GraphFileError
from gradraker.graph.adapters.columns import EdgeColumns
from gradraker.graph.disk_graph import MOST_ENTRIES, DiskGraph, open_disk_graph, write_manifest
from gradraker.io.content import Progress
from gradraker.io.disk.numbering import MOST_MARKED, MarkedNames, Numbering, SortedNames
from gradraker.io.disk.parts import iterate_edges
from gradraker.io.disk.sorting import Buckets
from gradraker.io.text_table import TextOptions

# Edges that are held in memory at once.
_EDGES_AT_ONCE = 1 << 21


def build_disk_graph(
    parts: Sequence[Path],
    folder: str | os.PathLike[str],
    wanted: EdgeColumns,
    options: TextOptions,
    progress: Progress,
) -> DiskGraph:
    """Build a graph in a folder, completely or not at all.

    The edges are copied with their names, which are then numbered; entries are distributed over
    buckets of rows, and each bucket is sorted in memory.
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FileExistsError(f"on_disk must be a folder that is new or empty, got {str(target)!r}")
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        with _Spill(work) as spilled:
            for number, part in enumerate(parts):
                progress("reading", number, len(parts))
                for batch in iterate_edges(part, wanted, options):
                    spilled.add(batch.source, batch.target, batch.weight)
        if spilled.n_edges == 0:
            raise GraphFileError(str(parts[0]), "the files hold no edge")
        _sort(spilled, work, progress)
        spilled.remove()
        if target.exists():
            target.rmdir()
        os.replace(work, target)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return open_disk_graph(target)


class _Spill:
    """Edges in the order of the input, in files of plain numbers."""

    def __init__(self, folder: Path) -> None:
        self._paths = [folder / name for name in ("source", "target", "weight")]
        self._files = [open(path, "wb") for path in self._paths]  # noqa: SIM115
        self.n_edges = 0
        self.low, self.high = 0, 0
        self.is_weighted: bool | None = None

    def add(self, source: Any, target: Any, weight: Any) -> None:
        if source.size == 0:
            return
        if self.is_weighted is None:
            self.is_weighted = weight is not None
            self.low = self.high = int(source[0])
        if self.is_weighted != (weight is not None):
            raise GraphFileError("the files", "some have a column of weights and others have none")
        for ends in (source, target):
            self.low, self.high = min(self.low, int(ends.min())), max(self.high, int(ends.max()))
        for file, numbers in zip(self._files, (source, target, weight), strict=True):
            if numbers is not None:
                np.ascontiguousarray(numbers).tofile(file)
        self.n_edges += int(source.size)

    def __enter__(self) -> "_Spill":
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._files:
            file.close()

    def remove(self) -> None:
        for path in self._paths:
            path.unlink()

    def iterate(self, *, weights: bool = False) -> Iterator[tuple[Any, Any, Any]]:
        """Yield sources, targets and weights."""
        for start in range(0, self.n_edges, _EDGES_AT_ONCE):
            arrays = [
                np.fromfile(path, dtype=dtype, count=_EDGES_AT_ONCE, offset=8 * start)
                if path is not self._paths[2] or (weights and self.is_weighted)
                else None
                for path, dtype in zip(self._paths, (np.int64, np.int64, np.float64), strict=True)
            ]
            yield arrays[0], arrays[1], arrays[2]

    def iterate_names(self) -> Iterator[NDArray[np.int64]]:
        for source, target, _ in self.iterate():
            yield source
            yield target


def _number_names(spilled: _Spill) -> Numbering:
    if spilled.high - spilled.low < MOST_MARKED:
        return MarkedNames(spilled.iterate_names(), spilled.low, spilled.high)
    return SortedNames(spilled.iterate_names())


def _sort(spilled: _Spill, folder: Path, progress: Progress) -> None:
    """Write names, sizes of rows, columns and weights of |A| + |A|ᵀ with a full diagonal."""
    numbering = _number_names(spilled)
    names = numbering.list_names()
    names.tofile(folder / "nodes.i8")
    n = names.size
    del names
    if 2 * spilled.n_edges + n > MOST_ENTRIES:
        raise GraphFileError(
            "the files",
            f"{spilled.n_edges} edges make {2 * spilled.n_edges + n} entries, and a graph on disk "
            f"has at most {MOST_ENTRIES}",
        )
    counts = np.ones(n, dtype=np.int64)
    for source, target, _ in spilled.iterate():
        for ends in (source, target):
            counts += np.bincount(numbering.find(ends), minlength=n)
    buckets = Buckets(folder, counts, is_weighted=bool(spilled.is_weighted))
    try:
        for number, (source, target, weight) in enumerate(spilled.iterate(weights=True)):
            progress("sorting", number * _EDGES_AT_ONCE, spilled.n_edges)
            rows, columns = numbering.find(source), numbering.find(target)
            weights = None if weight is None else np.abs(weight).astype(np.float32)
            buckets.add(rows, columns, weights)
            buckets.add(columns, rows, weights)
    finally:
        buckets.close()
    del numbering
    _write_rows(buckets, n, folder)
    write_manifest(folder, n_nodes=n, n_edges=spilled.n_edges)


def _write_rows(buckets: Buckets, n: int, folder: Path) -> None:
    indptr = np.zeros(n + 1, dtype=np.int32)
    with open(folder / "indices.i4", "wb") as indices, open(folder / "weights.f4", "wb") as weights:
        start = 0
        for sizes, columns, summed in buckets.iterate_rows():
            rows = np.arange(start, start + sizes.size, dtype=np.int32)
            full = _fill_diagonal(rows, sizes, columns, summed)
            full[1].tofile(indices)
            full[2].tofile(weights)
            indptr[start + 1 : start + 1 + sizes.size] = full[0]
            start += sizes.size
    np.cumsum(indptr, out=indptr)
    indptr.tofile(folder / "indptr.i4")


def _fill_diagonal(
    rows: NDArray[np.int32],
    sizes: NDArray[np.int64],
    columns: NDArray[np.int32],
    weights: NDArray[np.float32],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Add an entry of 0 to the diagonal of each row that has none there."""
    owners = np.repeat(rows, sizes)
    has_loop = np.zeros(rows.size, dtype=np.bool_)
    has_loop[owners[owners == columns] - rows[0]] = True
    lacking = rows[~has_loop]
    # Before the first entry of its row that lies right of the diagonal.
    below = np.bincount(owners[columns < owners] - rows[0], minlength=rows.size)
    starts = np.cumsum(sizes) - sizes
    places = (starts + below)[~has_loop]
    sizes = sizes + ~has_loop
    return sizes, np.insert(columns, places, lacking), np.insert(weights, places, np.float32(0.0))
