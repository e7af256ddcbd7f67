"""Least mean squares: sequential training of a linear model on features, equations (2) to (4).

Contribution weights: a prediction as a weighted sum of the values that were learned from.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.utils import check_array

from gradraker._compiled.adjoint import run_adjoint_pass, run_kernel_adjoint_pass
from gradraker._compiled.fourier_lms import run_held_out_pass, run_lms_pass
from gradraker._validation import check_learning_rate
from gradraker.features import RowArrays, compute_fourier_features, iterate_feature_chunks
from gradraker.features.engine import parallel_for
from gradraker.kernels.distances.canonical_rows import group_equal_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Up to this size the features of all rows are kept between epochs.
_KEPT_BYTES = 256 << 20
# The weights by time of a batch of predicted nodes take less than this.
_BATCH_BYTES = 64 << 20
# Steps per block: enough for matrix products, few enough for the triangular solve.
_BLOCK = 256
# With less work, another thread costs more than it saves.
_MULTIPLIES_PER_THREAD = 1_000_000


def draw_epoch_orders(seed: int, n_rows: int, n_epochs: int, *, shuffle: bool) -> list[Ints]:
    """Draw the order in which ``fit`` visits the rows in each epoch."""
    rng = np.random.default_rng([seed, 1])
    in_order = np.arange(n_rows)
    return [rng.permutation(n_rows) if shuffle else in_order for _ in range(n_epochs)]


def train(
    rows: RowArrays,
    Y: Floats,
    theta: Floats,
    *,
    units: NDArray[np.float32],
    scale: float,
    learning_rate: float,
    orders: Iterable[Ints],
    dtype: Any = np.float64,
) -> int:
    """Train ``theta`` in place, one row at a time, and return the number of steps.

    Each step is θ ← θ + 2η (y − θᵀz) z. The result depends on the sequence of rows only,
    not on how it is split into chunks or epochs.

    Parameters
    ----------
    rows : RowArrays
        Adjacency vectors of n nodes.
    Y : array of shape (n, K)
        Values.
    theta : array of shape (K, 2D)
        Parameters, changed in place.
    units : float32 array of shape (M, D)
        Unit frequencies.
    scale : float
        1/σ.
    learning_rate : float
        η.
    orders : iterable of int64 arrays
        Rows of each epoch, in the order of training.
    dtype : dtype
        Type of the features; sums are always float64.
    """
    orders = list(orders)
    n_features = theta.shape[1]
    n_steps = 0
    small = Y.shape[0] * n_features * np.dtype(dtype).itemsize <= _KEPT_BYTES
    if len(orders) > 1 and small:
        Z = compute_fourier_features(rows, units, scale, dtype=dtype)  # [n, 2D]
        for order in orders:
            run_lms_pass(Z, order, Y, 2.0 * learning_rate, theta)
            n_steps += order.size
        return n_steps
    for order in orders:
        for chunk, Z in iterate_feature_chunks(rows, units, scale, order=order, dtype=dtype):
            run_lms_pass(Z, np.arange(chunk.size), Y[chunk], 2.0 * learning_rate, theta)
            n_steps += chunk.size
    return n_steps


class Fold(NamedTuple):
    """Rows to train on, in the order of all epochs, and held-out rows to predict."""

    order: Ints
    held_out: Ints


def make_folds(n: int, *, n_folds: int, n_epochs: int, rng: np.random.Generator) -> list[Fold]:
    """Split n rows at random into ``n_folds`` held-out sets; the others train in random orders."""
    shuffled = rng.permutation(n)
    folds = []
    for held_out in np.array_split(shuffled, n_folds):
        others = np.setdiff1d(shuffled, held_out)
        order = np.concatenate([rng.permutation(others) for _ in range(n_epochs)])
        folds.append(Fold(order, held_out))
    return folds


def predict_held_out(
    P: Floats,
    Y: Floats,
    *,
    sigma2: Sequence[float] | Floats,
    folds: Sequence[Fold],
    learning_rate: float,
) -> Floats:
    """Predict the held-out rows of all folds at each variance.

    Parameters
    ----------
    P : array of shape (n, D)
        Projections X Ξ on unit frequencies.
    Y : array of shape (n, K)
        Values; a fold does not use those of its held-out rows.
    sigma2 : sequence of S floats
        Variances.
    folds : sequence of Fold
        Models to train at each variance; a row is held out in at most one of them.
    learning_rate : float
        η.

    Returns
    -------
    ndarray of shape (S, n, K)
        NaN for rows that no fold holds out.
    """
    variances = np.asarray(sigma2, dtype=np.float64)
    orders, order_ends = _concatenate([fold.order for fold in folds])
    held_out, held_out_ends = _concatenate([fold.held_out for fold in folds])
    predictions = np.full((variances.size, *Y.shape), np.nan)  # [S, n, K]
    step = 2.0 * learning_rate

    def run(start: int, stop: int) -> None:
        for s in range(start, stop):
            scale = float(1.0 / np.sqrt(variances[s]))
            run_held_out_pass(
                P, scale, orders, order_ends, held_out, held_out_ends, Y, step, predictions[s]
            )

    parallel_for(run, variances.size, 1)
    return predictions


def _concatenate(parts: list[Ints]) -> tuple[Ints, Ints]:
    return np.concatenate(parts).astype(np.int64), np.cumsum([part.size for part in parts])


def measure_spreads(Y: Floats) -> Floats:
    """Range of each target; its magnitude if it does not vary, or 1 if that is 0."""
    spreads = Y.max(axis=0) - Y.min(axis=0)
    spreads = np.where(spreads > 0.0, spreads, np.abs(Y[0]))
    return np.where((spreads > 0.0) & np.isfinite(spreads), spreads, 1.0)


def weigh_candidates(errors: Floats) -> Floats:
    """Weight in [0, 1] of each candidate, from squared errors (S, n) of held-out nodes."""
    best = int(np.argmin(errors.sum(axis=1)))
    excess = errors - errors[best]
    delta = excess.sum(axis=1)
    spread = np.sqrt(errors.shape[1]) * excess.std(axis=1)
    # Without spread all errors differ by the same amount: the candidate is equal or surely worse.
    ratio = np.divide(delta, spread, out=np.where(delta > 0.0, np.inf, 0.0), where=spread > 0.0)
    return np.asarray(np.exp(-0.5 * ratio**2))


# -- contribution weights --------------------------------------------------------------------------


def contribution_weights(
    Z: ArrayLike, order: ArrayLike, z_star: ArrayLike, learning_rate: float | ArrayLike
) -> Floats:
    """Contribution weights F_{i,T+1} of the paper, equation (fijdef), without its O(T²).

    The prediction for a node with features z* after training on rows ``order`` of Z is
    Σ_t F_t y[order[t]] (claim 3). The weights come from one pass backwards in time: start with
    v = z*, and for t = T, …, 1 set F_t = 2η z_tᵀv and v ← v − F_t z_t. That takes O(TD)
    operations and O(T + D) memory for one predicted node; many predicted nodes go through
    blocks of matrix products.

    Parameters
    ----------
    Z : array-like of shape (n, 2D)
        Features of the known nodes.
    order : array-like of T ints
        Rows of Z in the order of training, all epochs.
    z_star : array-like of shape (2D,) or (m, 2D)
        Features of one predicted node or of m of them.
    learning_rate : float or array-like of T floats
        η in (0, 1): the same at all times, or one for each.

    Returns
    -------
    ndarray of shape (T,) or (m, T)
        Weight of the value learned at each time.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.explain import contribution_weights
    >>> Z = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> contribution_weights(Z, [0, 1, 0], [1.0, 0.0], learning_rate=0.25)
    array([0.25, 0.  , 0.5 ])
    """
    features = _check_features("Z", Z)
    stars = _check_features("z_star", np.atleast_2d(z_star))
    if features.shape[1] != stars.shape[1]:
        raise ValueError(f"z_star has {stars.shape[1]} features, but Z has {features.shape[1]}")
    rows = check_order(order, features.shape[0])
    steps = 2.0 * _check_rates(learning_rate, rows.size)  # [T]
    weights = np.empty((stars.shape[0], rows.size))  # [m, T]
    if stars.shape[0] == 1:
        run_adjoint_pass(features, rows, steps, stars[0].copy(), weights[0])
    else:
        _fill_weights_of_many(features, rows, steps, stars, weights)
    return weights[0] if np.ndim(z_star) == 1 else weights


def iterate_weight_batches(
    Z: Floats, order: Ints, stars: Floats, rates: Floats
) -> Iterator[tuple[slice, Floats]]:
    """Yield predicted nodes and their contribution weights (·, T), some nodes at a time."""
    size = max(1, _BATCH_BYTES // (8 * max(1, order.size)))
    for start in range(0, stars.shape[0], size):
        batch = slice(start, start + size)
        yield batch, contribution_weights(Z, order, stars[batch], rates)


def sum_weights_by_node(
    Z: Floats, order: Ints, stars: Floats, rates: Floats, factors: Floats | None = None
) -> Floats:
    """Contribution weights summed over the steps of each known node, (m, n).

    With ``factors`` (T,) the weight of each step is multiplied first.
    """
    factors = np.ones(order.size) if factors is None else factors
    shape = Z.shape[0], order.size
    times = csr_array((factors, (order, np.arange(order.size))), shape)  # [n, T]
    weights = np.empty((stars.shape[0], Z.shape[0]))
    for batch, by_time in iterate_weight_batches(Z, order, stars, rates):
        weights[batch] = (times @ by_time.T).T
    return weights


class _PredictedNodes(NamedTuple):
    """Distinct features of known and predicted nodes, and which node has which."""

    Z: Floats  # [n, 2D]
    order: Ints  # [T]
    steps: Floats  # [T]
    stars: Floats  # [m, 2D]
    numbers: Ints  # row of stars of each predicted node


def _fill_weights_of_many(
    Z: Floats, order: Ints, steps: Floats, stars: Floats, weights: Floats
) -> None:
    """Weights of many predicted nodes, by the method that needs the fewest operations.

    Many nodes of a sparse graph have equal adjacency vectors: each is computed once.
    """
    first, number = group_equal_rows(Z)
    first_stars, number_of_star = group_equal_rows(stars)
    Z, stars = Z[first], stars[first_stars]
    many = _PredictedNodes(Z, number[order], steps, stars, number_of_star)
    (n, width), m, n_steps = Z.shape, stars.shape[0], order.size
    # Operations of each method, in units of those of a matrix product.
    costs = {
        _run_one_by_one: 3 * n_steps * width * 2 * m,
        _solve_blocks: n_steps * width * (2 * m + _BLOCK),
    }
    # Only if the kernel matrix is not larger than Z.
    if n <= width and n_steps > 0 and np.all(steps == steps[0]):
        costs[_run_kernel_passes] = n * width * (n + m) + 2 * n_steps * n * m
    min(costs, key=lambda method: costs[method])(many, weights)


def _run_one_by_one(many: _PredictedNodes, weights: Floats) -> None:
    """One pass for each predicted node."""

    def compute(star: int, out: Floats) -> None:
        run_adjoint_pass(many.Z, many.order, many.steps, many.stars[star].copy(), out)

    _compute_each(many, compute, many.Z.shape[1], weights)


def _run_kernel_passes(many: _PredictedNodes, weights: Floats) -> None:
    """The recursion on products zᵀz, which are computed once: nodes return in every epoch."""
    K = many.Z @ many.Z.T  # [n, n]
    P = many.stars @ many.Z.T  # [m, n]

    def compute(star: int, out: Floats) -> None:
        run_kernel_adjoint_pass(K, many.order, many.steps[0], P[star], out)

    _compute_each(many, compute, many.Z.shape[0], weights)


def _compute_each(
    many: _PredictedNodes, compute: Callable[[int, Floats], None], width: int, weights: Floats
) -> None:
    """Compute the weights of each distinct predicted node, on a few threads."""
    shape = many.stars.shape[0], many.order.size
    found = weights if shape == weights.shape else np.empty(shape)  # [m, T]

    def loop(start: int, stop: int) -> None:
        for star in range(start, stop):
            compute(star, found[star])

    parallel_for(loop, found.shape[0], 1 + _MULTIPLIES_PER_THREAD // (1 + many.order.size * width))
    if found is not weights:
        found.take(many.numbers, axis=0, out=weights, mode="clip")  # clip: without a copy


def _solve_blocks(many: _PredictedNodes, weights: Floats) -> None:
    """Blocks of steps as matrix products: (I + 2η·strict upper of Z_b Z_bᵀ) F_b = 2η Z_b V."""
    V = many.stars.T.copy()  # [2D, m]
    for stop in range(many.order.size, 0, -_BLOCK):
        times = slice(max(0, stop - _BLOCK), stop)
        Z_block = many.Z[many.order[times]]  # [b, 2D]
        F = _solve_block(Z_block @ Z_block.T, Z_block @ V, many.steps[times])  # [b, m]
        V -= Z_block.T @ F
        weights[:, times] = F.T[many.numbers]


def _solve_block(gram: Floats, products: Floats, steps: Floats) -> Floats:
    """Weights of one block from z_tᵀz_s (b, b) and z_tᵀV (b, m)."""
    step = steps[:, np.newaxis]
    system = np.triu(step * gram, 1)  # [b, b]
    np.fill_diagonal(system, 1.0)
    # Not SciPy's triangular solver: it brings its own BLAS, whose threads and NumPy's would wait
    # for each other. There is nothing below the diagonal to eliminate.
    return np.asarray(np.linalg.solve(system, step * products), dtype=np.float64)


def _check_features(name: str, Z: Any) -> Floats:
    return np.ascontiguousarray(check_array(Z, dtype=np.float64, input_name=name))


def check_order(order: ArrayLike, n_rows: int) -> Ints:
    """Return row numbers in the order of training, or raise an error that names the problem."""
    rows = np.asarray(order)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError(
            f"order must be a list of row numbers, got an array of type {rows.dtype} "
            f"and shape {rows.shape}"
        )
    if rows.size and not 0 <= rows.min() <= rows.max() < n_rows:
        raise ValueError(
            f"order must hold row numbers from 0 to {n_rows - 1}, "
            f"got numbers from {rows.min()} to {rows.max()}"
        )
    return rows.astype(np.int64)


def _check_rates(learning_rate: float | ArrayLike, n_steps: int) -> Floats:
    if np.ndim(learning_rate) == 0:
        return np.full(n_steps, check_learning_rate(learning_rate))
    rates = np.asarray(learning_rate, dtype=np.float64)
    if rates.shape != (n_steps,) or not np.all((rates > 0.0) & (rates < 1.0)):
        raise ValueError(
            f"learning_rate must be a number in (0, 1) or {n_steps} of them, one for each time, "
            f"got an array of shape {rates.shape}"
        )
    return rates
