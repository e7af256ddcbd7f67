"""Online use, one node at a time: river's verbs on an estimator with a frequency table."""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker._compiled.skg import learn_one, predict_one
from gradraker.features import FrequencyTable
from gradraker.learners.parameters import check_learning_rate

Neighbours = Mapping[Any, float] | Iterable[Hashable]

# Weights of neighbours given without weights.
_ONES = np.ones(1024)


class OneNodeMixin:
    """``predict_one`` and ``learn_one`` for SKG: no arrays, new references are simply new.

    The class that uses it has ``coef_``, ``sigma2_``, ``n_seen_``, ``learning_rate``,
    ``_table`` and ``_start_empty``.
    """

    coef_: NDArray[np.float64]
    learning_rate: float
    n_seen_: int
    sigma2_: float
    _table: FrequencyTable

    def _start_empty(self, targets: tuple[int, ...]) -> None:
        raise NotImplementedError

    def predict_one(self, neighbours: Neighbours) -> float | NDArray[np.float64]:
        """Predict the value of one node from its neighbours.

        Parameters
        ----------
        neighbours : mapping of reference name to weight, or iterable of reference names
            Names without weights have weight 1; a name given twice counts twice. Names never
            seen are allowed, and the model does not change.

        Returns
        -------
        float, or ndarray of shape (n_targets,)
            0 before anything was learned (θ₀ = 0).
        """
        names, weights = _names_and_weights(neighbours)
        if not hasattr(self, "coef_"):
            return 0.0
        table, indices = _look_up(names, self._table)
        theta = self.coef_.reshape(-1, self.coef_.shape[-1])  # [K, 2D]
        predictions = np.empty(theta.shape[0])
        scale = 1.0 / math.sqrt(self.sigma2_)
        predict_one(indices, weights, table.units, scale, theta, predictions)
        return self._checked(predictions, weights)

    def learn_one(self, neighbours: Neighbours, value: ArrayLike) -> float | NDArray[np.float64]:
        """Learn the value of one node: one step of training.

        Parameters
        ----------
        neighbours : mapping of reference name to weight, or iterable of reference names
            As in :meth:`predict_one`; names never seen become referencing nodes.
        value : float, or array-like of shape (n_targets,)
            The value of the node.

        Returns
        -------
        float, or ndarray of shape (n_targets,)
            The prediction made before the value was used, so that a stream can be
            predicted, scored and learned at the cost of learning it.

        Examples
        --------
        >>> from gradraker import SKGRegressor
        >>> model = SKGRegressor(sigma2=1.0, random_state=0)
        >>> model.learn_one(["Alice", "Bob"], 3.0)
        0.0
        >>> round(model.predict_one(["Alice", "Bob"]), 6)
        0.6
        >>> round(model.learn_one({"Alice": 1.0, "Bob": 1.0}, 3.0), 6)
        0.6
        """
        names, weights = _names_and_weights(neighbours)
        values = _finite_values(value)  # [K]
        if not hasattr(self, "coef_"):
            self._start_empty(np.shape(value))
        if self.coef_.ndim != 1 + np.ndim(value) or self.coef_.size != values.size * self._width:
            raise ValueError(
                f"value has shape {np.shape(value)}, but the model was trained on "
                f"values of shape {self.coef_.shape[:-1]}"
            )
        step = 2.0 * check_learning_rate(self.learning_rate)
        table, indices = _look_up(names, self._table, add=True)
        theta = self.coef_.reshape(-1, self.coef_.shape[-1])  # [K, 2D], the same memory
        predictions = np.empty(theta.shape[0])
        scale = 1.0 / math.sqrt(self.sigma2_)
        learn_one(indices, weights, table.units, scale, step, values, theta, predictions)
        result = self._checked(predictions, weights)
        self.n_seen_ += 1
        return result

    @property
    def _width(self) -> int:
        return 2 * self._table.n_frequencies

    def _checked(
        self, predictions: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> float | NDArray[np.float64]:
        if self.coef_.ndim == 1:
            prediction = float(predictions[0])
            if math.isfinite(prediction):
                return prediction
        elif np.isfinite(predictions).all():
            return predictions
        # The compiled loop learns nothing when a prediction is not finite.
        if not np.isfinite(weights).all():
            raise ValueError(f"neighbours must have finite weights, got {weights.tolist()}")
        raise ValueError(
            f"neighbours have weights too large for sigma2 = {self.sigma2_:g}: "
            "their projection leaves the range of float64"
        )


def _names_and_weights(
    neighbours: Neighbours,
) -> tuple[Collection[Hashable], NDArray[np.float64]]:
    kind = type(neighbours)
    if kind is not list and kind is not tuple:
        if isinstance(neighbours, Mapping):
            return neighbours.keys(), np.fromiter(neighbours.values(), np.float64, len(neighbours))
        if isinstance(neighbours, str | bytes) or not isinstance(neighbours, Iterable):
            raise TypeError(
                "neighbours must be a mapping of names to weights or an iterable of names, "
                f"got {neighbours!r} of type {kind.__name__}"
            )
        neighbours = list(neighbours)
    n = len(neighbours)  # type: ignore[arg-type]
    return neighbours, _ONES[:n] if n <= _ONES.size else np.ones(n)  # type: ignore[return-value]


def _finite_values(value: ArrayLike) -> NDArray[np.float64]:
    """The values as an array of shape (K,)."""
    try:
        if isinstance(value, str | bytes):
            raise TypeError
        values = np.array(value, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise TypeError(f"value must be a number or an array of numbers, got {value!r}") from None
    if np.ndim(value) > 1 or not np.isfinite(values).all():
        raise ValueError(f"value must be a finite number or a 1-d array of them, got {value!r}")
    return values


def _look_up(
    names: Collection[Hashable], table: FrequencyTable, *, add: bool = False
) -> tuple[FrequencyTable, NDArray[np.int32]]:
    """A table that has the names, and their rows in it."""
    try:
        rows = np.fromiter(map(table.drawn_rows.__getitem__, names), np.int32, len(names))
    except KeyError:
        distinct = list(dict.fromkeys(names))
        if add:
            table.add_missing(distinct)
        elif not table.has_all(distinct):
            table = table.of_names(distinct)
        table.prepare_names(distinct)
        rows = np.fromiter(map(table.drawn_rows.__getitem__, names), np.int32, len(names))
    return table, rows
