"""A stand-in for CuPy on NumPy: the kernels of the GPU, by name, as slow functions.

So what is written in Python about the GPU (which kernel is taken for which columns, what is handed
to it, where results go) runs without one. The kernels themselves need a GPU.
"""

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

THREADS = 256


class OutOfMemoryError(Exception):
    """As CuPy's."""


def _multiply(
    rows: Any, width: int, matrix: tuple[Any, ...], sizes: tuple[Any, ...], n_rows: int
) -> None:
    (indptr, indices, data, X), (ldx, Y, ldy, factor, kept) = matrix, sizes
    n = (X.size - width) // int(ldx) + 1
    others = as_strided(X, (n, width), (int(ldx) * X.itemsize, X.itemsize))
    place = as_strided(Y, (n_rows, width), (int(ldy) * Y.itemsize, Y.itemsize))
    for row in rows:
        entries = slice(indptr[row], indptr[row + 1])
        product = factor * (data[entries] @ others[indices[entries]])
        place[row] = product + kept * place[row] if kept else product


class _Kernel:
    def __init__(self, name: str) -> None:
        self.name, self.numbers = name.split("<")[0], [int(d) for d in re.findall(r" (\d+)", name)]
        self.type = {"float": np.float32, "double": np.float64}.get(
            name.partition("<")[2].rstrip(">").split(",")[0]
        )

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: Any) -> None:
        assert block == (THREADS,)
        if self.name == "add_sums":
            sums, n, k, totals = arguments
            assert (grid, sums.shape, totals.shape) == ((k,), (n, k), (k,))
            totals[:] = sums.sum(axis=0)
        elif self.name == "sum_products":
            A, B, n, k, sums = arguments
            assert (A.dtype, A.shape, B.shape) == (self.type, (n, k), (n, k))
            assert grid == (len(sums), -(-k // THREADS))
            sums[:] = 0.0
            sums[0] = (A.astype(np.float64) * B).sum(axis=0)
        elif self.name == "multiply_rows":
            *both, n_rows, longest = arguments
            assert both[2].dtype == self.type
            assert grid[0] * THREADS >= n_rows * self.numbers[1] * self.numbers[2]
            short = np.flatnonzero(np.diff(both[0]) <= longest)
            _multiply(short, self.numbers[0] * self.numbers[1], both[:4], both[4:], n_rows)
        else:
            rows, *both = arguments
            assert grid == (rows.size,)
            width = self.numbers[0] * self.numbers[1]
            _multiply(rows, width, both[:4], both[4:], both[0].size - 1)


class _RawModule:
    def __init__(self, code: str, options: Any = (), name_expressions: Any = ()) -> None:
        self.names = name_expressions
        assert all(name.split("<")[0] in code for name in self.names)

    def get_function(self, name: str) -> _Kernel:
        assert name in self.names
        return _Kernel(name)


class FakeCupy:
    """NumPy's functions, and the few of CuPy's own that the engine uses."""

    RawModule = _RawModule
    asnumpy = staticmethod(np.asarray)

    def __init__(self, free: int = 10**9, limit: int = 0) -> None:
        runtime = SimpleNamespace(memGetInfo=lambda: (free, 2 * free))
        memory = SimpleNamespace(OutOfMemoryError=OutOfMemoryError)
        self.cuda = SimpleNamespace(runtime=runtime, memory=memory)
        self.pool = SimpleNamespace(
            free_bytes=lambda: 0,
            used_bytes=lambda: 0,
            get_limit=lambda: limit,
            free_all_blocks=lambda: None,
        )

    def get_default_memory_pool(self) -> Any:
        return self.pool

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)
