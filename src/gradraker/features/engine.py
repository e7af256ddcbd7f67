"""The array operations behind walk operators: one narrow seam, so that other engines fit behind it.

An engine has an array module ``xp`` with NumPy's interface, makes sparse matrices of its own from
SciPy's, multiplies them with dense ones, and moves arrays in and out.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array

from gradraker._compiled.sparse_product import multiply_rows
from gradraker.exceptions import DeviceMemoryError, DeviceWarning, NoDeviceError
from gradraker.features.parallel import parallel_for

# Multiplications in a block of rows: with fewer, a second thread costs more than it saves.
_PRODUCTS_PER_BLOCK = 100_000
_ANY_NUMBER = 1 << 30


def pad_columns(n_columns: int) -> int:
    """Return the number of columns, not less than these, that compiled loops are fastest with.

    Examples
    --------
    >>> from gradraker.features.engine import pad_columns
    >>> [pad_columns(k) for k in (1, 2, 5, 12, 20)]
    [1, 4, 8, 16, 32]
    """
    for good in (1, 4, 8):
        if n_columns <= good:
            return good
    return -(-n_columns // 16) * 16


class LoadedMatrix(NamedTuple):
    """A sparse matrix by rows, in the precision of the products."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[Any]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.indptr.size - 1


class CpuEngine:
    """NumPy and compiled loops on all cores. Engines of other machines derive from it.

    Attributes
    ----------
    name : str
        "cpu" or "cuda".
    xp : module
        The module of arrays: NumPy, or one with its functions.
    memory_errors : tuple of types
        Errors that say that the engine's memory is full.
    wants_close_nodes : bool
        Whether products gain more from linked nodes that lie close together than moving them takes.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from gradraker.features.engine import CpuEngine
    >>> engine = CpuEngine()
    >>> A = engine.load_sparse(csr_array([[0.0, 2.0], [1.0, 0.0]]), np.float32)
    >>> product = np.zeros((2, 2), dtype=np.float32)
    >>> engine.multiply(A, np.array([[1.0, 5.0], [3.0, 7.0]], dtype=np.float32), 1, product)
    >>> product
    array([[6., 0.],
           [1., 0.]], dtype=float32)
    >>> engine.multiply(A, np.ones((2, 1), dtype=np.float32), 1, product[:, :1].copy())
    """

    name = "cpu"
    xp: Any = np
    memory_errors: tuple[type[BaseException], ...] = ()
    wants_close_nodes = True

    def load_sparse(self, A: csr_array, dtype: Any) -> Any:
        """Make the engine's own sparse matrix.

        Its column numbers have 32 bits: they are half of what a product reads.
        """
        return LoadedMatrix(
            A.indptr.astype(np.int64, copy=False),
            A.indices.astype(np.int32, copy=False),
            A.data.astype(dtype, copy=False),
        )

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
        """Write factor A X + kept · product into the first ``n_columns`` columns of ``product``.

        Then add weights[k] · product to sums[k], for ``weights`` (s, columns) of NumPy and ``sums``
        (s, n, columns) on the engine. What is in other columns may change.
        """
        matrix: LoadedMatrix = A
        if not product.flags.c_contiguous:
            own = np.ascontiguousarray(product)
            self.multiply(A, X, n_columns, own, factor, kept, weights, sums)
            product[...] = own
            return
        X = np.ascontiguousarray(X)
        n_columns = min(pad_columns(n_columns), X.shape[1], product.shape[1])
        n, work = matrix.n_rows, matrix.data.size * n_columns
        if weights is None:
            weights = sums = np.empty((0, 1), dtype=matrix.data.dtype)
        flat = sums.reshape(-1, sums.shape[-1])

        def multiply(start: int, stop: int) -> None:
            multiply_rows(*matrix, X, n_columns, factor, kept, start, stop, product, weights, flat)

        parallel_for(multiply, n, max(1, n * _PRODUCTS_PER_BLOCK // max(1, work)))

    def sum_products(self, A: Any, B: Any) -> Any:
        """Inner products of the columns of A and B (n, k), summed in double precision."""
        return np.einsum("ij,ij->j", A, B, dtype=np.float64)

    def invert_factor(self, H: Any) -> Any:
        """L⁻¹ of H = LLᵀ (n, n); LinAlgError where H is not positive definite."""
        L = np.linalg.cholesky(H)
        return np.asarray(solve_triangular(L, np.eye(len(L)), lower=True))

    def load(self, X: NDArray[Any], dtype: Any) -> Any:
        """Move an array to the engine."""
        return np.ascontiguousarray(X, dtype=dtype)

    def load_rows(self, rows: NDArray[np.int64]) -> Any:
        """Move numbers of rows, which arrays of the engine are indexed by, to the engine."""
        return rows

    def fetch(self, X: Any) -> NDArray[Any]:
        """Move an array from the engine to NumPy."""
        return np.asarray(X)

    def make_array(self, shape: tuple[int, int], dtype: Any) -> NDArray[Any]:
        """Make an array of NumPy for random vectors, not filled, where there is room for it."""
        return np.empty(shape, dtype=dtype)

    def count_columns(self, n_rows: int, dtype: Any, n_copies: int) -> int:
        """Columns of so many rows that are held in so many copies in the memory that is free."""
        return _ANY_NUMBER


Engine: TypeAlias = CpuEngine


def _make_cuda_engine() -> Engine:
    from gradraker.features.engines.cuda import make_cuda_engine  # which derives from the CPU's

    return make_cuda_engine()


ENGINES: dict[str, Callable[[], Engine]] = {"cpu": CpuEngine, "cuda": _make_cuda_engine}
DEVICES = ("cpu", "cuda", "auto")


def choose_engine(device: str) -> Engine:
    """Return the engine of a device; "auto" takes a GPU where there is one.

    Examples
    --------
    >>> from gradraker.features.engine import choose_engine
    >>> choose_engine("cpu").name
    'cpu'
    """
    if device != "auto":
        return ENGINES[device]()
    try:
        return ENGINES["cuda"]()
    except NoDeviceError as error:
        warnings.warn(f"device='auto' takes the CPU: {error.reason}", DeviceWarning, stacklevel=2)
        return ENGINES["cpu"]()


@contextmanager
def report_memory(engine: Any, n_nodes: int, n_entries: int) -> Iterator[None]:
    """Turn an engine's errors for lack of memory into ours, with the sizes."""
    try:
        yield
    except engine.memory_errors as error:
        free, total = engine.measure_memory()
        engine.free_memory()
        raise DeviceMemoryError(engine.name, n_nodes, n_entries, free, total) from error
