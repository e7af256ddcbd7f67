"""Products on an NVIDIA GPU, through CuPy and our own kernels.

CuPy's arrays have NumPy's functions, so solvers run on them unchanged. cuSPARSE's product, which
CuPy and PyTorch call, is replaced: it reads the factor by columns, and ours by rows of 16 bytes.
"""

import threading
from contextlib import AbstractContextManager
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.exceptions import NoDeviceError
from gradraker.features.engine import CpuEngine, pad_columns
from gradraker.features.engines.cuda_source import (
    ENTRIES,
    LONG_ROW,
    SOURCE,
    SWEEP_SOURCE,
    THREADS,
    list_names,
)

Floats = NDArray[np.float64]

_C_TYPES = {4: "float", 8: "double"}  # by the bytes of a number
_MOST_BLOCKS = 1024  # of a sum over all rows
# Share of the free memory that columns may take.
_MEMORY_SHARE = 0.5


class CudaMatrix(NamedTuple):
    """A sparse matrix by rows on the GPU."""

    indptr: Any
    indices: Any
    data: Any
    long_rows: Any


@cache
def _find_width(vector: int, n_columns: int) -> int:
    """Threads for the columns of a row, each with ``vector`` of them."""
    return max(c for c in ENTRIES if c * vector <= max(vector, n_columns))


@cache
def make_cuda_engine() -> "CudaEngine":
    """Return the engine of the GPU in use; raise NoDeviceError if there is none.

    All models of a process share it, because kernels take seconds to compile.
    """
    try:
        import cupy
    except ImportError as error:
        raise NoDeviceError("CuPy is not installed: pip install 'gradraker[cuda]'") from error
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise NoDeviceError(f"CuPy finds no GPU ({error})") from error
    if n_devices == 0:
        raise NoDeviceError("CuPy finds no GPU")
    return CudaEngine(cupy)


class CudaEngine(CpuEngine):
    """Arrays of CuPy on the GPU in use, and products by our own kernels."""

    name = "cuda"
    wants_close_nodes = False  # reordering on the CPU takes longer than all products here

    def __init__(self, cupy: Any) -> None:
        self.xp = cupy
        self.memory_errors = (cupy.cuda.memory.OutOfMemoryError,)
        self._kernels: dict[tuple[int, int], dict[tuple[str, int], Any]] = {}
        self._threads = threading.local()

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return make_cuda_engine, ()  # modules and kernels cannot be pickled

    # -- arrays --------------------------------------------------------------------

    def load(self, X: NDArray[Any], dtype: Any) -> Any:
        """Copy an array to the GPU."""
        return self.xp.asarray(np.ascontiguousarray(X, dtype=dtype))

    def load_rows(self, rows: NDArray[np.int64]) -> Any:
        """Copy numbers of rows to the GPU."""
        return self.xp.asarray(rows)

    def fetch(self, X: Any) -> NDArray[Any]:
        """Copy an array from the GPU."""
        return np.asarray(self.xp.asnumpy(X))

    def load_sparse(self, A: csr_array, dtype: Any) -> CudaMatrix:
        """Copy a matrix to the GPU, with 32-bit column numbers."""
        long_rows = np.flatnonzero(np.diff(A.indptr) > LONG_ROW).astype(np.int64)
        return CudaMatrix(
            self.xp.asarray(A.indptr.astype(np.int64, copy=False)),
            self.xp.asarray(A.indices.astype(np.int32, copy=False)),
            self.xp.asarray(A.data.astype(dtype, copy=False)),
            self.xp.asarray(long_rows),
        )

    # -- memory --------------------------------------------------------------------

    def measure_memory(self) -> tuple[int, int]:
        """Bytes of free and of total GPU memory, within the limit of CuPy's pool if it has one."""
        pool = self.xp.get_default_memory_pool()
        free, total = self.xp.cuda.runtime.memGetInfo()
        free, limit = int(free) + int(pool.free_bytes()), int(pool.get_limit())
        if limit:
            return max(0, min(free, limit - int(pool.used_bytes()))), min(int(total), limit)
        return free, int(total)

    def free_memory(self) -> None:
        """Give memory that no array uses back to the GPU."""
        self.xp.get_default_memory_pool().free_all_blocks()

    def count_columns(self, n_rows: int, dtype: Any, n_copies: int) -> int:
        """Columns of n rows that fit into half the free memory, 4 at least."""
        each = n_copies * max(1, n_rows) * np.dtype(dtype).itemsize
        return max(4, int(_MEMORY_SHARE * self.measure_memory()[0] / each) // 4 * 4)

    # -- products ------------------------------------------------------------------

    def multiply(
        self,
        A: Any,
        X: Any,
        n_columns: int,
        product: Any,
        factor: float = 1.0,
        kept: float = 0.0,
        weights: NDArray[Any] | None = None,
        sums: Any = None,
    ) -> None:
        """Write factor A X + kept · product into ``product``, and add that to ``sums``."""
        self._write_product(A, X, n_columns, product, factor, kept)
        for number, row in enumerate(() if weights is None else weights):
            if row.any():
                own = self.load(row[:n_columns], sums.dtype)
                sums[number][:, :n_columns] += own * product[:, :n_columns]

    def _write_product(
        self, A: CudaMatrix, X: Any, n_columns: int, product: Any, factor: float, kept: float
    ) -> None:
        if not product.flags.c_contiguous:
            own = self.xp.ascontiguousarray(product)
            self._write_product(A, X, n_columns, own, factor, kept)
            product[...] = own
            return
        X = self.xp.ascontiguousarray(X)
        most = min(pad_columns(n_columns), X.shape[1], product.shape[1])
        start = 0
        while start < most:
            start += self._multiply_columns(A, X, product, start, most, factor, kept)

    def _multiply_columns(
        self, A: CudaMatrix, X: Any, Y: Any, start: int, stop: int, factor: float, kept: float
    ) -> int:
        """Multiply some columns from ``start`` on; return how many."""
        ldx, ldy = X.shape[1], Y.shape[1]
        vector = 16 // X.itemsize
        if ldx % vector or ldy % vector or start % vector or stop - start < vector:
            vector = 1
        c = _find_width(vector, stop - start)
        kernels = self._get_kernels(X.itemsize, vector)
        dtype = X.dtype.type
        n_rows = A.indptr.size - 1
        lanes = c * ENTRIES[c]
        target = Y.reshape(-1)[start:]
        sizes = (np.int64(ldx), target, np.int64(ldy), dtype(factor), dtype(kept))
        matrix = (A.indptr, A.indices, A.data, X.reshape(-1)[start:])
        blocks = -(-n_rows * lanes // THREADS)
        kernels["rows", c](
            (blocks,), (THREADS,), (*matrix, *sizes, np.int64(n_rows), np.int64(LONG_ROW))
        )
        if A.long_rows.size:
            kernels["long", c]((A.long_rows.size,), (THREADS,), (A.long_rows, *matrix, *sizes))
        return int(c * vector)

    def sum_products(self, A: Any, B: Any) -> Any:
        """Inner products of columns, summed in double precision."""
        A, B = self.xp.ascontiguousarray(A), self.xp.ascontiguousarray(B)
        n, k = A.shape
        blocks = max(1, min(_MOST_BLOCKS, n * min(k, THREADS) // (4 * THREADS)))
        sums = self.xp.empty((blocks, k), dtype=np.float64)
        totals = self.xp.empty(k, dtype=np.float64)
        grid = (blocks, -(-k // THREADS))
        self._sums[A.itemsize](grid, (THREADS,), (A, B, np.int64(n), np.int32(k), sums))
        self._sums[0]((k,), (THREADS,), (sums, np.int32(blocks), np.int32(k), totals))
        return totals

    def invert_factor(self, H: Any) -> Any:
        """Inverse of the lower Cholesky factor; CuPy raises on failure only if asked to."""
        from cupyx import errstate
        from cupyx.scipy.linalg import solve_triangular

        with errstate(linalg="raise"):
            L = self.xp.linalg.cholesky(H)
        return self.xp.tril(solve_triangular(L, self.xp.eye(len(L)), lower=True))

    # -- sweeps --------------------------------------------------------------------

    def train_sweep(
        self, P: Floats, scales: Floats, rows: NDArray[np.int64], values: Floats, step: float
    ) -> Any:
        """θ (S, 2D) of each variance after steps on ``rows`` of the projections P (n, D)."""
        n_frequencies = P.shape[1]
        theta = self.xp.empty((scales.size, 2 * n_frequencies))
        arrays = [self.xp.asarray(array) for array in (P, scales, rows, values)]
        self._sweeps.get_function("train_sweep")(
            (scales.size,),
            (THREADS,),
            (*arrays, np.int64(rows.size), np.int32(n_frequencies), np.float64(step), theta),
            shared_mem=8 * (2 * n_frequencies + 16),
        )
        return theta

    def compute_sweep_errors(
        self, P: Floats, scales: Floats, rows: NDArray[np.int64], values: Floats, theta: Any
    ) -> Floats:
        """Sum of squared errors of each variance (S,) on ``values`` of ``rows`` of P."""
        n, n_frequencies = P.shape
        found = self.xp.empty((scales.size, n))
        arrays = [self.xp.asarray(array) for array in (P, scales)]
        self._sweeps.get_function("predict_sweep")(
            (-(-32 * n // THREADS), scales.size),
            (THREADS,),
            (*arrays, theta, np.int64(n), np.int32(n_frequencies), found),
        )
        errors = self.xp.asarray(values) - found[:, self.xp.asarray(rows)]
        return self.fetch((errors * errors).sum(axis=1))

    def use_own_stream(self) -> AbstractContextManager[Any]:
        """Return a context whose work runs concurrently with that of other threads."""
        if not hasattr(self._threads, "stream"):
            self._threads.stream = self.xp.cuda.Stream(non_blocking=True)
        return self._threads.stream  # type: ignore[no-any-return]

    @cached_property
    def _sweeps(self) -> Any:
        return self.xp.RawModule(code=SWEEP_SOURCE)

    def _get_kernels(self, itemsize: int, vector: int) -> dict[tuple[str, int], Any]:
        if (itemsize, vector) not in self._kernels:
            names = list_names(_C_TYPES[itemsize], vector)
            module = self._compile(tuple(names.values()))
            self._kernels[itemsize, vector] = {
                key: module.get_function(name) for key, name in names.items()
            }
        return self._kernels[itemsize, vector]

    @cached_property
    def _sums(self) -> dict[int, Any]:
        """Kernels by the size of a number, and at 0 the one that adds up their results."""
        names = {size: f"sum_products<{c_type}>" for size, c_type in _C_TYPES.items()}
        names[0] = "add_sums"
        module = self._compile(tuple(names.values()))
        return {size: module.get_function(name) for size, name in names.items()}

    def _compile(self, names: tuple[str, ...]) -> Any:
        return self.xp.RawModule(code=SOURCE, options=("-std=c++14",), name_expressions=names)
