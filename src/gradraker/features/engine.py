"""Run long computations: rows in blocks on threads, arrays on an engine, pieces on a cluster.

An engine, of the CPU or a GPU, has an array module ``xp`` with NumPy's interface, makes sparse
matrices of its own from SciPy's, multiplies them with dense ones, and moves arrays in and out: a
small interface that other engines can implement. A caller may watch the progress.
"""

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import config
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array
from threadpoolctl import ThreadpoolController

from gradraker._compiled.sparse_product import multiply_rows
from gradraker.exceptions import DeviceMemoryError, DeviceWarning, NoDeviceError

# On a busy machine, where a thread may start late, short blocks share the work evenly.
_BLOCKS_PER_THREAD = 4
# With fewer rows, linear algebra takes less time than setting its threads; with more rows, several
# threads are faster even if they wait for each other.
_FEWEST_FOR_ONE_THREAD, _MOST_FOR_ONE_THREAD = 128, 4000
# Multiplications in a block of rows: with fewer, a second thread costs more than it saves.
_PRODUCTS_PER_BLOCK = 100_000
_ANY_NUMBER = 1 << 30
# Called with data that all pieces share, and with a piece.
Task = Callable[[Any, Any], Any]
Mapper = Callable[[Task, Any, Sequence[Any]], list[Any]]
_MAPPER: ContextVar[Mapper | None] = ContextVar("mapper", default=None)
# Called with the stage, the amount done, and the total.
Watcher = Callable[[str, int, int], object]
_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def count_threads() -> int:
    """Return how many threads to use: as many as there are cores, at most NUMBA_NUM_THREADS.

    joblib's worker processes set NUMBA_NUM_THREADS to their share of the cores.
    """
    granted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(granted or 1, int(config.NUMBA_NUM_THREADS)))  # type: ignore[attr-defined]


@lru_cache(maxsize=1)
def get_pool(process: int, n_helpers: int) -> ThreadPoolExecutor:
    """Return the helper threads of a process; the main thread does a share of the work itself."""
    # Cached, because starting a thread takes 0.1 ms, and milliseconds on a busy machine; per
    # process, because threads do not survive a fork. Threads start when there is work.
    return ThreadPoolExecutor(n_helpers, thread_name_prefix="gradraker")


def parallel_for(loop: Callable[[int, int], None], n_rows: int, rows_per_block: int) -> None:
    """Call ``loop(start, stop)`` on contiguous blocks that make up [0, n_rows).

    A block has at least ``rows_per_block`` rows, so a small task runs on this thread alone. The
    loop must release the GIL, and must compute each row independently of the others.
    """
    n_blocks = n_rows // max(1, rows_per_block)
    n_threads = count_threads() if n_blocks > 1 else 1
    n_parts = min(n_threads, n_blocks)
    if n_parts <= 1:
        loop(0, n_rows)
        return
    n_blocks = min(n_blocks, _BLOCKS_PER_THREAD * n_parts)
    cuts = [n_rows * block // n_blocks for block in range(n_blocks + 1)]
    blocks = deque(pairwise(cuts))

    def work() -> None:
        while blocks:
            try:
                start, stop = blocks.popleft()
            except IndexError:  # another thread took the last one
                return
            loop(start, stop)

    pool = get_pool(os.getpid(), n_threads - 1)
    helpers = [pool.submit(work) for _ in range(n_parts - 1)]
    try:
        work()
    finally:
        blocks.clear()  # after an error all threads stop
        for helper in helpers:
            if not helper.cancel():  # it has begun, so one of its blocks may not be ready
                helper.result()


def split_range(n: int, size: int) -> Iterator[slice]:
    """Yield slices of at most ``size`` that make up [0, n).

    Examples
    --------
    >>> from gradraker.features.engine import split_range
    >>> list(split_range(5, 3))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def use_one_blas_thread(n_rows: int | None = None) -> AbstractContextManager[Any]:
    """Use one BLAS thread in a ``with`` block: for small matrices, or always without ``n_rows``.

    A decomposition is thousands of short products, and the threads of BLAS wait for each other
    after each one: if another process uses a core, up to thirty times as long as they compute.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.features.engine import use_one_blas_thread
    >>> with use_one_blas_thread(500):
    ...     np.linalg.inv(2.0 * np.eye(500))[0, 0].item()
    0.5
    """
    if n_rows is not None and not _FEWEST_FOR_ONE_THREAD <= n_rows <= _MOST_FOR_ONE_THREAD:
        return nullcontext()
    return _find_libraries().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _find_libraries() -> ThreadpoolController:
    return ThreadpoolController()  # finding them takes some ten milliseconds


@contextmanager
def use_mapper(mapper: Mapper) -> Iterator[None]:
    """Give pieces of fits in a ``with`` block to ``mapper``, which returns results in order."""
    token = _MAPPER.set(mapper)
    try:
        yield
    finally:
        _MAPPER.reset(token)


def has_mapper() -> bool:
    """Whether a mapper is in use, such as a cluster, so that more pieces at once pay off."""
    return _MAPPER.get() is not None


def map_pieces(task: Task, shared: Any, pieces: Sequence[Any]) -> list[Any]:
    """Return ``task(shared, piece)`` of each piece; a mapper may compute them elsewhere.

    Examples
    --------
    >>> from gradraker.features.engine import map_pieces
    >>> map_pieces(lambda shared, piece: shared * piece, 10, [1, 2])
    [10, 20]
    """
    mapper = _MAPPER.get()
    if mapper is None or len(pieces) < 2:
        return [task(shared, piece) for piece in pieces]
    return mapper(task, shared, pieces)


@contextmanager
def watch_progress(watcher: Watcher) -> Iterator[None]:
    """Call ``watcher(stage, done, total)`` during long computations in this context.

    Node models report the stages of a fit: kernels that are compared, known nodes that are walked
    from, iterations of a solve. An error that the watcher raises stops the fit, and the model stays
    as it was.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> from gradraker.models import watch_progress
    >>> data = load_temperature()
    >>> stages = set()
    >>> with watch_progress(lambda stage, done, total: stages.add(stage)):
    ...     model = NodeRegressor(solver="operators").fit(data, data.values)
    >>> sorted(stages)
    ['choosing a kernel', 'solving', 'walking from known nodes']
    """
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def tell_progress(stage: str, done: int, total: int) -> None:
    """Call the watcher, if there is one."""
    watcher = _WATCHER.get()
    if watcher is not None:
        watcher(stage, done, total)


# -- engines ---------------------------------------------------------------------------------------


def pad_columns(n_columns: int) -> int:
    """Return the number of columns, at least ``n_columns``, that compiled loops handle fastest.

    Examples
    --------
    >>> from gradraker.features.engine import pad_columns
    >>> [pad_columns(k) for k in (1, 2, 5, 12, 20)]
    [1, 4, 8, 16, 32]
    """
    for width in (1, 4, 8):
        if n_columns <= width:
            return width
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
    """NumPy and compiled loops on all cores. Other engines derive from it.

    Attributes
    ----------
    name : str
        "cpu" or "cuda".
    xp : module
        The module of arrays: NumPy, or one with its functions.
    memory_errors : tuple of types
        Errors that the engine raises when its memory is full.
    wants_close_nodes : bool
        Whether reordering nodes, so that linked ones are close in memory, saves time in products.

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

        Its column numbers have 32 bits, since they are half of the memory that a product reads.
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
        (s, n, columns) on the engine. Other columns may be overwritten.
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
        """L⁻¹ of H = LLᵀ (n, n); LinAlgError if H is not positive definite."""
        L = np.linalg.cholesky(H)
        return np.asarray(solve_triangular(L, np.eye(len(L)), lower=True))

    def load(self, X: NDArray[Any], dtype: Any) -> Any:
        """Move an array to the engine."""
        return np.ascontiguousarray(X, dtype=dtype)

    def load_rows(self, rows: NDArray[np.int64]) -> Any:
        """Move row numbers to the engine, as indices of its arrays."""
        return rows

    def fetch(self, X: Any) -> NDArray[Any]:
        """Move an array from the engine to NumPy."""
        return np.asarray(X)

    def make_array(self, shape: tuple[int, int], dtype: Any) -> NDArray[Any]:
        """Make an empty array of NumPy for random vectors, in memory or in a file."""
        return np.empty(shape, dtype=dtype)

    def count_columns(self, n_rows: int, dtype: Any, n_copies: int) -> int:
        """Number of columns of ``n_rows`` rows of which ``n_copies`` fit in the free memory."""
        return _ANY_NUMBER


Engine: TypeAlias = CpuEngine


def _make_cuda_engine() -> Engine:
    from gradraker.features.engines.cuda import make_cuda_engine  # which imports this file

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
    """Turn an engine's out-of-memory errors into DeviceMemoryError, with the sizes."""
    try:
        yield
    except engine.memory_errors as error:
        free, total = engine.measure_memory()
        engine.free_memory()
        raise DeviceMemoryError(engine.name, n_nodes, n_entries, free, total) from error
