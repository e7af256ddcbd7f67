"""The walk over a graph on disk: its entries in a file beside those of the graph."""

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gradraker.features.row_blocks import RowBlocks
from gradraker.models.walks.operators.chains import invert_root, weigh_lazy_loops


def build_disk_walk(folder: Path, W: csr_array, walk: str, dtype: Any) -> csr_array:
    """T = D⁻¹ᐟ² (±W + I) D⁻¹ᐟ² of a mapped matrix W with a full diagonal, mapped as well.

    Its file is there as a whole or not at all, and is used again by all that map the graph. In a
    folder that cannot be written, the file is a temporary one.
    """
    path = folder / f"{walk}.{np.dtype(dtype).str[1:]}"
    if not (path.exists() and path.stat().st_size == W.nnz * np.dtype(dtype).itemsize):
        try:
            descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=folder)
        except OSError:
            with tempfile.TemporaryFile() as temporary:
                _write(temporary, W, walk, dtype)
                temporary.flush()
                return _map(W, temporary, dtype)
        try:
            with open(descriptor, "wb") as file:
                _write(file, W, walk, dtype)
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    return _map(W, path, dtype)


def _write(file: Any, W: csr_array, walk: str, dtype: Any) -> None:
    sign = -1.0 if walk == "alternating" else 1.0
    sums = RowBlocks(W).sum(axis=1)
    loops = np.ones(sums.size)
    if walk == "lazy":
        loops = weigh_lazy_loops(loops, sums)
    roots = invert_root(sums + loops)
    for rows, block in RowBlocks(W).iterate():
        data = sign * block.data
        owners = np.repeat(np.arange(rows.start, rows.stop), np.diff(block.indptr))
        is_loop = owners == block.indices
        data[is_loop] += loops[owners[is_loop]]
        data *= roots[owners]
        data *= roots[block.indices]
        data.astype(dtype).tofile(file)


def _map(W: csr_array, file: Any, dtype: Any) -> csr_array:
    T = csr_array(W.shape, dtype=dtype)
    T.indptr, T.indices = W.indptr, W.indices
    T.data = np.asarray(np.memmap(file, dtype=dtype, mode="r"))
    T.has_sorted_indices = T.has_canonical_format = True
    return T
