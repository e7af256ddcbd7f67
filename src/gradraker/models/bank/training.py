"""Train and evaluate all members of a bank: one projection for all variances of a family.

Members do not depend on each other, so each thread takes one, and the result does not depend
on the number of threads.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker._compiled.fourier_lms import predict_member_rows, run_member_pass
from gradraker.features import RowArrays, compute_projections, to_row_arrays
from gradraker.features.engine import count_threads, parallel_for
from gradraker.linear.hedge import Hedge

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Projections of a chunk stay in the shared cache while members go through them.
_CHUNK_BYTES = 4 << 20
# Features of all rows are kept between epochs if those of all threads take less than this:
# fetching more from memory is hardly quicker than computing them again.
_KEPT_FEATURES = 128 << 20
# Projections of all rows are kept between epochs if they take less than this.
_KEPT_PROJECTIONS = 256 << 20
# With less work, another thread costs more than it saves.
_FEATURES_PER_THREAD = 50_000


class Group(NamedTuple):
    """Members that share a projection: one view, one family."""

    rows: RowArrays
    units: NDArray[np.float32]  # [M, D]
    members: list[int]


class Bank(NamedTuple):
    """All members of a bank on the current rows."""

    groups: list[Group]
    scales: list[float]  # 1/σ of each member
    n_frequencies: int
    dtype: Any  # of the features; sums are always float64

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.groups[0].rows.indptr.size - 1


def select_view_rows(rows: RowArrays, view_of_column: Ints, number: int) -> RowArrays:
    """The entries of rows that lie in the columns of a view; columns keep their numbers."""
    chosen = view_of_column[rows.indices] == number
    counts = np.append(0, np.cumsum(chosen))
    return RowArrays(counts[rows.indptr], rows.indices[chosen], rows.data[chosen])


def select_view_matrix(X: Any, view_of_column: Ints, number: int) -> csr_array:
    """The same of a matrix, with its shape and type."""
    indptr, indices, data = select_view_rows(to_row_arrays(X), view_of_column, number)
    return csr_array((data.astype(X.dtype), indices, indptr), shape=X.shape)


def train_bank(
    bank: Bank,
    Y: Floats,
    theta: Floats,
    hedge: Hedge,
    *,
    learning_rate: float,
    orders: Sequence[Ints],
    keep_weights: bool = False,
) -> Floats:
    """Train all members in place, one row at a time, and add up their losses.

    Each member takes the step θ ← (1 − 2ημ) θ + 2η (y − θᵀz) z on its own error. The result
    depends on the sequence of rows only, not on how it is cut into chunks or epochs.

    Parameters
    ----------
    bank : Bank
        Rows, unit frequencies and variances.
    Y : array of shape (n, K)
        Values.
    theta : array of shape (P, K, 2D)
        Parameters, changed in place.
    hedge : Hedge
        Losses of the members, changed in place.
    learning_rate : float
        η.
    orders : sequence of int64 arrays
        The rows of each epoch, in the order of training.
    keep_weights : bool
        Whether to return the weights that each step was predicted with.

    Returns
    -------
    ndarray of shape (T, P), or (0, P)
    """
    step, keep = 2.0 * learning_rate, 1.0 - 2.0 * learning_rate * hedge.regularization
    history = []
    for chunk in _iterate_chunks(bank, orders):
        predictions, norms = _train_on(bank, chunk, Y[chunk.numbers], theta, step, keep)
        values = Y[chunk.numbers[chunk.order]]
        history.append(hedge.update(predictions, norms, values, keep_weights=keep_weights))
    return np.concatenate(history)


class _Chunk(NamedTuple):
    """Training steps that each member takes in order."""

    numbers: Ints  # rows whose projections are available
    projected: list[Floats]  # [n, D] for each group
    order: Ints  # [T], as positions among these
    n_kept: int = 1  # features that are kept: of all n rows, or of one at a time


def _iterate_chunks(bank: Bank, orders: Sequence[Ints]) -> Iterator[_Chunk]:
    """Split the steps of all epochs into chunks.

    They are one chunk if the features of all rows can be kept, else a chunk is part of an epoch.
    """
    row_bytes, all_rows = 8 * bank.n_frequencies, np.arange(bank.n_rows)
    size = max(1, _CHUNK_BYTES // row_bytes)
    parts = (order[i : i + size] for order in orders for i in range(0, order.size, size))
    if len(orders) == 1 or bank.n_rows * row_bytes * len(bank.groups) > _KEPT_PROJECTIONS:
        for part in parts:
            projected = [compute_projections(_take_features(g, part), g.units) for g in bank.groups]
            yield _Chunk(part, projected, np.arange(part.size))
        return
    projected = [compute_projections(group.rows, group.units) for group in bank.groups]
    if bank.n_rows * 2 * row_bytes * min(count_threads(), len(bank.scales)) <= _KEPT_FEATURES:
        yield _Chunk(all_rows, projected, np.concatenate(orders), bank.n_rows)
    else:
        yield from (_Chunk(all_rows, projected, part) for part in parts)


def _train_on(
    bank: Bank, chunk: _Chunk, Y: Floats, theta: Floats, step: float, keep: float
) -> tuple[Floats, Floats]:
    """Train on a chunk; return predictions (P, T, K) and ‖θ‖² (P, T) of members at each step."""
    order = chunk.order
    predictions = np.empty((theta.shape[0], order.size, Y.shape[1]))
    norms = np.empty((theta.shape[0], order.size))

    def train(m: int, P: Floats, Z: NDArray[Any]) -> None:
        outputs = predictions[m], norms[m]
        run_member_pass(P, order, bank.scales[m], Y, step, keep, theta[m], Z, *outputs)

    _run_members(bank, chunk, train)
    return predictions, norms


def iterate_predictions(bank: Bank, theta: Floats) -> Iterator[tuple[Ints, Floats]]:
    """Yield (rows of a chunk, predictions θᵀz of each member for them, (P, chunk, K))."""
    for chunk in _iterate_chunks(bank, [np.arange(bank.n_rows)]):
        yield chunk.numbers, _predict_member(bank, chunk, theta)


def _predict_member(bank: Bank, chunk: _Chunk, theta: Floats) -> Floats:
    predictions = np.empty((theta.shape[0], chunk.numbers.size, theta.shape[1]))

    def predict(m: int, P: Floats, Z: NDArray[Any]) -> None:
        predict_member_rows(P, bank.scales[m], theta[m], Z[0], predictions[m])

    _run_members(bank, chunk, predict)
    return predictions


def _run_members(
    bank: Bank, chunk: _Chunk, work: Callable[[int, Floats, NDArray[Any]], None]
) -> None:
    """Call ``work(member, its projections, work space for features)`` on a few threads."""
    members = [(m, P) for g, P in zip(bank.groups, chunk.projected, strict=True) for m in g.members]

    spaces: deque[NDArray[Any]] = deque()  # one per thread: new memory costs as much as a pass

    def loop(start: int, stop: int) -> None:
        try:
            Z = spaces.pop()
        except IndexError:  # all are in use
            Z = np.empty((chunk.n_kept, 2 * bank.n_frequencies), dtype=bank.dtype)
        for m, P in members[start:stop]:
            work(m, P, Z)
        spaces.append(Z)

    features_per_member = chunk.order.size * bank.n_frequencies
    parallel_for(loop, len(members), 1 + _FEATURES_PER_THREAD // features_per_member)


def _take_features(group: Group, numbers: Ints) -> RowArrays:
    """Rows of the given numbers; entries keep their order."""
    if (np.diff(numbers) == 1).all():  # no copy for rows in their own order
        return group.rows._replace(indptr=group.rows.indptr[numbers[0] : numbers[-1] + 2])
    shape = (group.rows.indptr.size - 1, group.units.shape[0])
    indptr, indices, data = group.rows
    taken = csr_array((data, indices, indptr), shape=shape)[numbers]
    return RowArrays(
        taken.indptr.astype(np.int64, copy=False),
        taken.indices.astype(np.int32, copy=False),
        taken.data,
    )
