"""Measure how predictions depend on the kernel variance: GNMSE over σ², many splits, all cores.

All variances of a repeat share its split, frequencies and orders. Four optimisations make it fast.
Without one of them it takes this many times as long on Temperature, Cora-Con, Email and Wikipedia
(``benchmarks/bench_sweep.py``, 2 cores): threads over variances 1.1, 1.8, 1.8 and 1.8; computing
equal rows once 1.0, 2.4, 1.2 and 1.1; keeping features between epochs 1.5 on each; a dense search
for the distances of small matrices 1.2 on Temperature.
"""

import hashlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from gradraker._compiled.fourier_lms import add_sweep_errors, train_sweep
from gradraker._files import is_stream
from gradraker._locks import lock_file
from gradraker._validation import check_choice, check_count, check_fraction, check_learning_rate
from gradraker.datasets import GraphDataset, split_nodes
from gradraker.exceptions import ArgumentError, SweepError, SweepFileError
from gradraker.features import FrequencyTable, compute_projections, to_row_arrays
from gradraker.features.engine import DEVICES, choose_engine, parallel_for
from gradraker.features.engines.cuda import CudaEngine
from gradraker.kernels import get_kernel
from gradraker.kernels.distances.canonical_rows import group_equal_rows
from gradraker.kernels.shift_invariant import compute_ranges, find_extreme_pairs
from gradraker.linear.lms import draw_epoch_orders
from gradraker.sweep.sweep_result import Checkpoint, Repeat, SweepResult
from gradraker.sweep.versions import VERSIONS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Features of all training rows are kept between epochs if they are smaller than this; a thread
# holds those of one variance at a time. Larger ones are recomputed, chunk by chunk.
KEPT_BYTES = 64 << 20
CHUNK_BYTES = 4 << 20
# Matrices with at most this many entries are searched faster as dense ones.
DENSE_ENTRIES = 10_000
# With fewer sines in a block, a second thread costs more than it saves.
_MIN_SINES_PER_BLOCK = 20_000
# With fewer sines in a repeat, moving them to a device takes longer than the CPU does.
MIN_SINES_FOR_DEVICE = 1_000_000
# The default grid: its size, and the factor by which it extends beyond the ranges.
_N_VARIANCES = 40
_MARGIN = 4.0
# Repeats that run on a device at once; with more, Python threads wait for each other.
_DEVICE_JOBS = 4
# How often a worker checks whether its parent is alive.
_PARENT_CHECK_SECONDS = 0.5


class Sweep(NamedTuple):
    """A graph with scaled values, and the settings of each repeat.

    It is a tuple because Dask stores large objects of other types on a single worker: if that
    worker died, the repeats on all others would fail.
    """

    indptr: Integers
    indices: NDArray[np.int32]
    weights: Floats
    values: Floats
    sigma2: Floats
    fraction: float
    n_frequencies: int
    learning_rate: float
    n_epochs: int
    kernel: str
    random_state: int

    @property
    def adjacency(self) -> csr_array:
        """The graph, (n, n)."""
        n = self.values.size
        return csr_array((self.weights, self.indices, self.indptr), shape=(n, n))


class Draw(NamedTuple):
    """The random choices of one repeat.

    Frequencies and orders follow from ``seed`` as in ``SKGRegressor(random_state=seed)``.
    """

    known: Integers
    unknown: Integers
    seed: int


def sigma2_sweep(
    data: Any,
    y: ArrayLike | None = None,
    *,
    sigma2: Sequence[float] | Floats | None = None,
    n_repeats: int = 10,
    fraction: float = 0.4,
    n_frequencies: int = 200,
    learning_rate: float = 0.1,
    n_epochs: int = 3,
    kernel: str = "gaussian",
    random_state: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    device: str = "cpu",
) -> SweepResult:
    """Measure GNMSE of SKG over the kernel variance σ², repeated with new splits of the nodes.

    A repeat draws the known nodes, which are also the referencing nodes, trains on them, and
    predicts the others. All variances of a repeat share its split, frequencies and orders.

    Parameters
    ----------
    data : GraphDataset, or {array-like, sparse matrix} of shape (n, n)
        A graph. Values are scaled to [0, 1] over all nodes, as in the paper.
    y : array-like of shape (n,), optional
        Values of the nodes, if ``data`` is a matrix.
    sigma2 : sequence of floats, optional
        Variances, rising. By default 40 on a logarithmic scale that cover the four ranges of the
        first repeat and extend beyond them by a factor of 4 on both sides.
    n_repeats : int, default=10
        R.
    fraction : float, default=0.4
        Share of the nodes that is known.
    n_frequencies : int, default=200
        D.
    learning_rate : float, default=0.1
        η.
    n_epochs : int, default=3
        E.
    kernel : {"gaussian", "laplacian", "cauchy"}, default="gaussian"
        Kernel.
    random_state : int, default=0
        Seed; repeat r depends on it and on r only.
    n_jobs : int, optional
        Worker processes of joblib, each with its share of the cores; -1 is one per core. By
        default those of ``joblib.parallel_config``, else this process, with threads on all cores.
    checkpoint : path-like, optional
        File of results, JSON lines. Each repeat is appended when it is done; the same call
        continues where it stopped, also with a larger ``n_repeats``.
    progress : callable, optional
        Called with a word, the number of repeats done and ``n_repeats``.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where all variances of a repeat are trained: ``"cuda"`` uses an NVIDIA GPU, with several
        repeats at once on threads of this process; ``"auto"`` uses one if there is one.

    Returns
    -------
    SweepResult

    Notes
    -----
    Repeat r draws its split, then a seed s, from ``numpy.random.default_rng([random_state, r])``.
    Its GNMSE at a variance is that of ``SKGRegressor(sigma2=..., random_state=s)``. Results do not
    depend on ``n_jobs`` or on interruptions.

    Examples
    --------
    >>> from gradraker import load_temperature, sigma2_sweep
    >>> result = sigma2_sweep(load_temperature(), n_repeats=20)
    >>> result
    SweepResult: Temperature-Jan, 40 variances from ... to ..., 20 repeats, D = 200, η = 0.1, E = 3
      smallest GNMSE 0.03... ± 0.00... at σ² = ...
      σ²_ed = ... (median), GNMSE there 0.03...
    >>> result.gnmse.shape
    (20, 40)
    """
    dataset = _to_dataset(data, y)
    sweep = Sweep(
        *to_row_arrays(dataset.adjacency),
        _scale_values(dataset),
        np.empty(0),
        check_fraction("fraction", fraction),
        check_count("n_frequencies", n_frequencies),
        check_learning_rate(learning_rate),
        check_count("n_epochs", n_epochs),
        get_kernel(kernel).name,
        check_count("random_state", random_state, at_least=0),
    )
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise ArgumentError("n_jobs", "None or an integer other than 0", n_jobs)
    _check_splits(sweep, check_count("n_repeats", n_repeats))
    sweep = sweep._replace(sigma2=_make_grid(sweep) if sigma2 is None else _check_grid(sigma2))
    settings = _describe(sweep, dataset, n_repeats)
    report = progress or (lambda stage, n_done, total: None)
    run = partial(_run, sweep, n_jobs=n_jobs)
    if check_choice("device", device, DEVICES) != "cpu":
        engine: Any = choose_engine(device)
        if engine.name != "cpu":
            run = partial(_run_on_device, sweep, engine)
    if checkpoint is None:
        return _run_all(run, settings, None, report)

    def refuse() -> None:
        problem = "is written by another sweep that is running: wait for it, or name another file"
        raise SweepFileError(os.fspath(checkpoint), problem)

    # Devices and FIFOs have no lock.
    with nullcontext() if is_stream(checkpoint) else lock_file(checkpoint, on_wait=refuse):
        return _run_all(run, settings, Checkpoint(checkpoint, settings), report)


def _run_all(
    run: Callable[[list[int]], Any],
    settings: dict[str, Any],
    file: Checkpoint | None,
    report: Callable[[str, int, int], None],
) -> SweepResult:
    """Run the missing repeats, and append each to the file when it is done."""
    n_repeats = settings["n_repeats"]
    done: dict[int, Repeat] = {} if file is None else file.done
    report("sweeping", len(done), n_repeats)
    for repeat in run([r for r in range(n_repeats) if r not in done]):
        done[repeat.number] = repeat
        if file is not None:
            file.add(repeat)
        report("sweeping", len(done), n_repeats)
    if file is not None:
        file.write()
    return SweepResult.from_repeats(settings, list(done.values()))


def _run(sweep: Sweep, todo: list[int], n_jobs: int | None) -> Any:
    """Yield repeats as they are done, by the configured backend of joblib."""
    if not todo:
        return iter(())
    backend, _ = get_active_backend()
    # Workers use the number of threads that their backend gives them (features.engine); a backend
    # that gives none starts one worker per core, so these use no threads.
    threads = effective_n_jobs(n_jobs) == 1 or backend.supports_inner_max_num_threads
    if n_jobs is not None and n_jobs > len(todo):
        n_jobs = len(todo)  # every worker gets a task, which tells it the id of its parent
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    parent = os.getpid()
    return parallel(delayed(_run_in_worker)(sweep, r, threads, parent) for r in todo)


def _run_on_device(sweep: Sweep, engine: CudaEngine, todo: list[int]) -> Any:
    """Yield repeats as they are done; while one trains, threads prepare others."""
    parallel = Parallel(n_jobs=_DEVICE_JOBS, backend="threading", return_as="generator_unordered")
    return parallel(delayed(run_repeat)(sweep, r, threads=False, engine=engine) for r in todo)


def _run_in_worker(sweep: Sweep, repeat: int, threads: bool, parent: int) -> Repeat:
    end_with_parent(parent)
    return run_repeat(sweep, repeat, threads=threads)


def _to_dataset(data: Any, y: ArrayLike | None) -> GraphDataset:
    if isinstance(data, GraphDataset):
        if y is not None:
            raise ValueError("y must be None if data is a GraphDataset, which has values")
        return data
    if y is None:
        raise ValueError(
            "y is None, but values are needed: give a GraphDataset, or a square matrix and y"
        )
    try:
        n_dimensions = len(data.shape) if issparse(data) else np.ndim(data)
    except ValueError:  # rows of different lengths
        n_dimensions = 0
    if n_dimensions != 2:
        raise ArgumentError("data", "a GraphDataset or a square matrix", data)
    try:
        values = np.atleast_1d(np.asarray(y, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ArgumentError("y", "one number per node", y) from error
    if np.isnan(values).any():
        raise ValueError(
            "y holds NaN, but a sweep needs the value of every node: leave nodes without a value "
            "out, data[known][:, known] and y[known]"
        )
    return GraphDataset(data, values, name="data")


def _scale_values(dataset: GraphDataset) -> Floats:
    values = dataset.scale_values()
    if not values.any():
        raise ValueError(
            f"the values of all {dataset.n_nodes} nodes are {dataset.values[0]:g}: there is "
            "nothing to predict"
        )
    return values


def _check_splits(sweep: Sweep, n_repeats: int) -> None:
    """Refuse splits that would fail in a late repeat, before any work."""
    for repeat in range(n_repeats):
        unknown = draw_repeat(sweep.values.size, sweep.fraction, sweep.random_state, repeat).unknown
        if not sweep.values[unknown].any():
            raise SweepError(
                f"in repeat {repeat} all {unknown.size} unknown nodes have the smallest value, so "
                "GNMSE would divide by 0",
                {"fraction": "lower", "random_state": "take another"},
            )


def _check_grid(sigma2: Any) -> Floats:
    try:
        grid = np.asarray(sigma2, dtype=np.float64)
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.ndim != 1 or grid.size == 0:
        raise ArgumentError("sigma2", "a sequence of numbers", sigma2)
    if not (np.isfinite(grid).all() and grid[0] > 0.0 and np.all(np.diff(grid) > 0.0)):
        raise ArgumentError("sigma2", "positive and rising", grid.tolist())
    return grid


def _make_grid(sweep: Sweep) -> Floats:
    """Make a grid of variances that covers the ranges of the first repeat."""
    known = draw_repeat(sweep.values.size, sweep.fraction, sweep.random_state, 0).known
    boundaries, _ = find_boundaries(
        sweep.adjacency[:, known][known], n_frequencies=sweep.n_frequencies, kernel=sweep.kernel
    )
    if np.isnan(boundaries).any():
        raise SweepError(
            "the known nodes of the first repeat all have the same edges, so there are no ranges "
            "to choose variances from",
            {"sigma2": "give", "fraction": "raise"},
        )
    return np.geomspace(boundaries[0] / _MARGIN, boundaries[2] * _MARGIN, _N_VARIANCES)


def _describe(sweep: Sweep, dataset: GraphDataset, n_repeats: int) -> dict[str, Any]:
    """Return the settings of the sweep, ready for JSON."""
    columns = sweep.indices.astype(np.int64)
    return {
        "data": {
            "name": dataset.name,
            "nodes": dataset.n_nodes,
            "edges": dataset.n_edges,
            "sha256_adjacency": _hash(sweep.indptr, columns, sweep.weights),
            "sha256_values": _hash(dataset.values),
        },
        "sigma2": sweep.sigma2.tolist(),
        "n_repeats": int(n_repeats),
        **dict(zip(Sweep._fields[5:], sweep[5:], strict=True)),  # fraction, …, random_state
        "versions": VERSIONS,
    }


def _hash(*arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()


@cache
def end_with_parent(parent: int) -> None:
    """End this process soon after its parent, if ``parent`` is the process id of its parent.

    A worker that waits for its next task does not notice that its parent has died. In any other
    process, such as the one that sends the tasks or a worker of a cluster, this does nothing.
    """
    own_parent = multiprocessing.parent_process()  # known even after it has ended
    if own_parent is not None and own_parent.pid == parent:
        threading.Thread(target=_exit_after_parent, args=(parent,), daemon=True).start()


def _exit_after_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_SECONDS)
    os._exit(1)  # works even while a compiled loop runs without the GIL


def draw_repeat(n: int, fraction: float, random_state: int, repeat: int) -> Draw:
    """Draw the split and the seed of a repeat; they do not depend on the number of repeats."""
    rng = np.random.default_rng([random_state, repeat])
    known, unknown = split_nodes(n, fraction, rng)
    return Draw(known, unknown, int(rng.integers(2**32)))


def run_repeat(
    sweep: Sweep, repeat: int, *, threads: bool = True, engine: CudaEngine | None = None
) -> Repeat:
    """Measure GNMSE at all variances for one split; ``threads`` spreads them over the cores.

    With an ``engine``, the variances are trained on a device, if there are enough sines to compute.
    """
    start = time.perf_counter()
    draw = draw_repeat(sweep.values.size, sweep.fraction, sweep.random_state, repeat)
    vectors = sweep.adjacency[:, draw.known]  # the known nodes are the referencing nodes
    vectors.sort_indices()  # sum in the order of columns, as the estimator does
    X, X_unknown = vectors[draw.known], vectors[draw.unknown]
    table = FrequencyTable(draw.seed, sweep.n_frequencies, sweep.kernel, n_numbered=X.shape[1])
    orders = draw_epoch_orders(draw.seed, X.shape[0], sweep.n_epochs, shuffle=True)
    values = sweep.values[draw.unknown]
    grid = _Grid(1.0 / np.sqrt(sweep.sigma2), table, threads)
    n_sines = X.shape[0] * sweep.n_frequencies * sweep.sigma2.size
    if engine is None or n_sines < MIN_SINES_FOR_DEVICE:
        theta = grid.train(X, sweep.values[draw.known], orders, sweep.learning_rate)
        errors = grid.compute_squared_errors(X_unknown, values, theta)
    else:
        order, rate = np.concatenate(orders), 2.0 * sweep.learning_rate
        with engine.use_own_stream():
            P, place = grid.project(X)
            steps = place[order], sweep.values[draw.known][order]
            theta = engine.train_sweep(P, grid.scales, *steps, rate)
            P, place = grid.project(X_unknown)
            errors = engine.compute_sweep_errors(P, grid.scales, place, values, theta)
    boundaries, distances = find_boundaries(
        X, n_frequencies=sweep.n_frequencies, kernel=sweep.kernel
    )
    gnmse = errors / np.sum(values**2)
    return Repeat(repeat, gnmse, boundaries, distances, time.perf_counter() - start)


class _Grid(NamedTuple):
    """All variances of a repeat, as scales 1/σ, with the frequencies that they share."""

    scales: Floats  # [S]
    table: FrequencyTable
    threads: bool

    def train(
        self, X: csr_array, y: Floats, orders: list[Integers], learning_rate: float
    ) -> Floats:
        """Train on rows of X in the given orders, and return θ of every variance, (S, 2D)."""
        theta = np.zeros((self.scales.size, 2 * self.table.n_frequencies))  # [S, 2D]
        for chunk, order in self._cut_orders(orders):
            P, place = self.project(X[chunk])
            rows, values = place[order], y[chunk[order]]
            self._run(train_sweep, P, rows, values, 2.0 * learning_rate, theta)
        return theta

    def compute_squared_errors(self, X: csr_array, y: Floats, theta: Floats) -> Floats:
        """Sum squared errors over rows, for every variance, (S,)."""
        errors = np.zeros(self.scales.size)  # [S]
        for chunk in self._cut(np.arange(y.size)):
            P, place = self.project(X[chunk])
            self._run(add_sweep_errors, P, place, y[chunk], theta, errors)
        return errors

    def _run(self, loop: Callable[..., None], P: Floats, *arguments: Any) -> None:
        """Run a compiled loop for all variances, some of them on each thread."""

        def run(start: int, stop: int) -> None:
            loop(P, self.scales, start, stop, *arguments)

        if self.threads:
            parallel_for(run, self.scales.size, -(-_MIN_SINES_PER_BLOCK // P.size))
        else:
            run(0, self.scales.size)

    def project(self, X: csr_array) -> tuple[Floats, Integers]:
        """Project the distinct rows, (n, D), and return the index of each row of X among them."""
        rows = to_row_arrays(X)
        units = self.table.prepare(rows.indices)
        # With few references many nodes have equal rows: 600 of 2222 are distinct in Cora-Con.
        first, place = group_equal_rows(X)
        if first.size < place.size:
            rows = to_row_arrays(X[first])
        return compute_projections(rows, units), place

    def _cut_orders(self, orders: list[Integers]) -> Iterator[tuple[Integers, Integers]]:
        """Yield rows whose features are computed together, and their order in training."""
        n = orders[0].size
        if 16 * n * self.table.n_frequencies <= KEPT_BYTES:
            yield np.arange(n), np.concatenate(orders)
            return
        for epoch in orders:
            for chunk in self._cut(epoch):
                yield chunk, np.arange(chunk.size)

    def _cut(self, rows: Integers) -> Iterator[Integers]:
        size = max(1, CHUNK_BYTES // (16 * self.table.n_frequencies))
        for start in range(0, rows.size, size):
            yield rows[start : start + size]


def find_boundaries(X: csr_array, *, n_frequencies: int, kernel: str) -> tuple[Floats, Floats]:
    """Find σ²_ce, σ²_ed, σ²_da, and the two distances behind them; NaN if all rows are equal."""
    small = X.shape[0] * X.shape[1] <= DENSE_ENTRIES
    try:
        pairs = find_extreme_pairs(X.toarray() if small else X, kernel=kernel)
    except ValueError:  # no two rows differ
        return np.full(3, np.nan), np.full(2, np.nan)
    ranges = compute_ranges(pairs, n_frequencies=n_frequencies)
    return np.array(ranges.boundaries), np.array([pairs.smallest_distance, pairs.largest_distance])
