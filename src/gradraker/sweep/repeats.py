"""One repeat of a sweep, in this process or in a worker: all variances on one split of the nodes.

The variances share the split, frequencies and orders. Four optimisations make it fast. Without one
of them it takes this many times as long on Temperature, Cora-Con, Email and Wikipedia
(``benchmarks/bench_sweep.py``, 2 cores): threads over variances 1.1, 1.8, 1.8 and 1.8; computing
equal rows once 1.0, 2.4, 1.2 and 1.1; keeping features between epochs 1.5 on each; a dense search
for the distances of small matrices 1.2 on Temperature.
"""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker._compiled.fourier_lms import add_sweep_errors, train_sweep
from gradraker.features import FrequencyTable, compute_projections, to_row_arrays
from gradraker.features.engine import parallel_for
from gradraker.features.engines.cuda import CudaEngine
from gradraker.kernels.distances.canonical_rows import group_equal_rows
from gradraker.kernels.shift_invariant import compute_ranges, find_extreme_pairs
from gradraker.linear.lms import draw_epoch_orders
from gradraker.sweep.sweep_result import Repeat, draw_repeat

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
