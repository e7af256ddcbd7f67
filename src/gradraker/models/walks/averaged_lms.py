"""SKG's own update on the features of blocks, centred and with averaged iterates.

θ ← θ + 2η (y − θᵀz) z costs O(F) a node, where ridge takes O(F²). The order of the nodes counts.
The values y and the constant 1 are learned side by side: with m the mean of the known values, a
prediction is m + θ̄(y − m)ᵀz = m (1 − θ̄(1)ᵀz) + θ̄(y)ᵀz, so that the centre can move while
nodes arrive, and the weights of the values still sum to 1.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.adjoint import run_averaged_adjoint_pass, run_averaged_lms_pass
from gradraker.features.parallel import parallel_for
from gradraker.models.walks.blocks import RandomBlocks
from gradraker.models.walks.choice import Choice

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# Iterates count like t³: those of the last fifth have half of the weight.
_DECAY = 3.0
_CHUNK = 512


class LmsSolution:
    """A pass of least mean squares over nodes in the order in which they came.

    The first ``n_first`` known nodes are gone through ``n_epochs`` times, in an order that depends
    on their names only; nodes that come later once each.
    """

    def __init__(
        self,
        blocks: RandomBlocks,
        known: Rows,
        Y: Matrix,
        choice: Choice,
        *,
        n_first: int,
        learning_rate: float,
        n_epochs: int,
    ) -> None:
        self.blocks, self.choice = blocks, choice
        self._settings = n_first, learning_rate, n_epochs
        self._start(known, Y)

    def _start(self, known: Rows, Y: Matrix) -> None:
        n_first, _, n_epochs = self._settings
        n_features = max(1, 2 * self.blocks.n_frequencies * len(self.choice.kernel))
        self.known = known
        self._theta = np.zeros((Y.shape[1] + 1, n_features))  # [K + 1, F]
        self._mean = np.zeros_like(self._theta)
        self._order: list[Rows] = []
        first = np.arange(n_first)[np.argsort(self.blocks.walks.rank[known[:n_first]])]
        self._errors = np.full((known.size, Y.shape[1]), np.nan)
        for _ in range(n_epochs):
            self._learn(first, Y)
        self._learn(np.arange(n_first, known.size), Y)
        self._finish(Y)

    def _learn(self, rows: Rows, Y: Matrix) -> None:
        targets = np.hstack([Y, np.ones((len(Y), 1))])  # [N, K + 1]
        seen = sum(part.size for part in self._order)
        for start in range(0, rows.size, _CHUNK):
            some = rows[start : start + _CHUNK]
            errors = np.empty((some.size, targets.shape[1]))
            run_averaged_lms_pass(
                self._features(self.known[some], self.blocks),
                targets[some],
                2.0 * self._settings[1],
                self._theta,
                self._mean,
                seen + start,
                _DECAY,
                errors,
            )
            # Centred as predictions are; what was predicted at the first sight of a node counts.
            centred = errors[:, :-1] - Y.mean(axis=0) * errors[:, -1:]
            new = np.isnan(self._errors[some, 0])
            self._errors[some[new]] = centred[new]
        if rows.size:
            self._order.append(rows)

    def _finish(self, Y: Matrix) -> None:
        self.Y = Y
        # The later half of the nodes, by first sight: the model was young before.
        sight = np.unique(np.concatenate(self._order), return_index=True)[1].argsort()
        self.left_out_rows = sight[sight.size // 2 :]
        self.residuals = self._errors[self.left_out_rows]

    def set_values(self, Y: Matrix) -> None:
        """Take other values (N, K) of the known nodes, and learn anew."""
        if not np.array_equal(Y, self.Y):
            self._start(self.known, Y)

    def grow(self, new: Rows, Y: Matrix) -> None:
        """Learn more nodes of the same graph; Y are the values of all, old ones first."""
        n_old = self.known.size
        if not np.array_equal(Y[:n_old], self.Y):
            self._start(np.concatenate([self.known, new]), Y)
            return
        self.known = np.concatenate([self.known, new])
        self._errors = np.vstack([self._errors, np.full((new.size, Y.shape[1]), np.nan)])
        self._learn(np.arange(n_old, self.known.size), Y)
        self._finish(Y)

    def predictions(self, rows: Rows, at: Any = None) -> Matrix:
        """Predictions of some rows, (n, K)."""
        blocks = self.blocks if at is None else at
        found = np.empty((rows.size, self.Y.shape[1]))
        centre = self.Y.mean(axis=0)
        for start in range(0, rows.size, _CHUNK):
            some = slice(start, start + _CHUNK)
            linear = self._features(rows[some], blocks) @ self._mean.T  # [rows, K + 1]
            found[some] = linear[:, :-1] + centre * (1.0 - linear[:, -1:])
        return found

    def weights(self, rows: Rows, at: Any = None) -> Matrix:
        """Weights of the known values in predictions, (n, N)."""
        stars = self._features(rows, self.blocks if at is None else at)  # [n, F]
        Z = self._features(self.known, self.blocks)  # [N, F]
        order = np.concatenate(self._order)
        by_time = np.empty((rows.size, order.size))  # [n, T]
        share = _shares(order.size)

        def compute(start: int, stop: int) -> None:
            for row in range(start, stop):
                run_averaged_adjoint_pass(
                    Z, order, 2.0 * self._settings[1], share, stars[row], by_time[row]
                )

        parallel_for(compute, rows.size, 1)
        found = np.zeros((rows.size, self.known.size))
        np.add.at(found.T, order, by_time.T)
        found += (1.0 - found.sum(axis=1, keepdims=True)) / self.known.size
        return found

    def shifts(self, rows: Rows, at: Any = None) -> Iterator[tuple[slice, Matrix]]:
        """Yield (rows, 0): errors of nodes before they were learned need no refit."""
        for start in range(0, rows.size, _CHUNK):
            some = slice(start, min(start + _CHUNK, rows.size))
            yield some, np.zeros((some.stop - some.start, self.left_out_rows.size))

    def _features(self, rows: Rows, blocks: RandomBlocks) -> Matrix:
        kernel = self.choice.kernel
        return blocks.features(kernel, rows) if kernel else np.zeros((rows.size, 1))


def _shares(n: int) -> Matrix:
    """How much the iterate of each time counts in the average."""
    share = np.empty(n)
    rest = 1.0
    for t in range(n, 0, -1):
        rate = (_DECAY + 1.0) / (t + _DECAY)
        share[t - 1] = rest * rate
        rest *= 1.0 - rate
    return share
