"""Online use, one node at a time: river's verbs on an estimator with a frequency table."""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker._compiled.skg import learn_one, predict_one
from gradraker.features import FrequencyTable
from gradraker.learners.observed import Record
from gradraker.learners.parameters import check_learning_rate
from gradraker.learners.unchanged import unchanged_if_refused

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
    _record: Record | None
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
        coef = self.coef_
        theta = coef if coef.ndim == 2 else coef[None]  # [K, 2D]
        predictions = np.empty(theta.shape[0])
        scale = 1.0 / math.sqrt(self.sigma2_)
        predict_one(indices, weights, table.units, scale, theta, predictions)
        if not all(map(math.isfinite, predictions.tolist())):
            self._refuse(weights)
        return predictions if coef.ndim == 2 else float(predictions[0])

    @unchanged_if_refused
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
        values, shape = _finite_values(value)  # [K]
        if not hasattr(self, "coef_"):
            self._start_empty(shape)
        coef = self.coef_
        if coef.shape[:-1] != shape:
            raise ValueError(
                f"value has shape {shape}, but the model was trained on "
                f"values of shape {coef.shape[:-1]}"
            )
        step = 2.0 * check_learning_rate(self.learning_rate)
        table, indices = _look_up(names, self._table, add=True)
        theta = coef if shape else coef[None]  # [K, 2D], the same memory
        predictions = np.empty(values.size)
        scale = 1.0 / math.sqrt(self.sigma2_)
        if not learn_one(indices, weights, table.units, scale, step, values, theta, predictions):
            self._refuse(weights)
        self.n_seen_ += 1
        if self._record is not None:
            self._record.add_one(indices, weights, values, self.learning_rate)
        return predictions if shape else float(predictions[0])

    def _refuse(self, weights: NDArray[np.float64]) -> NoReturn:
        if not np.isfinite(weights).all():
            raise ValueError(f"neighbours must have finite weights, got {weights.tolist()}")
        raise ValueError(
            "the weights of neighbours or the value are too large: with "
            f"sigma2 = {self.sigma2_:g} the prediction or the step leaves the range of float64"
        )


def _names_and_weights(
    neighbours: Neighbours,
) -> tuple[Collection[Hashable], NDArray[np.float64]]:
    kind = type(neighbours)
    if kind is not list and kind is not tuple:
        if isinstance(neighbours, Mapping):
            return neighbours.keys(), _numbers("weights of neighbours", list(neighbours.values()))
        if isinstance(neighbours, str | bytes) or not isinstance(neighbours, Iterable):
            raise TypeError(
                "neighbours must be a mapping of names to weights or an iterable of names, "
                f"got {neighbours!r} of type {kind.__name__}"
            )
        neighbours = list(neighbours)
    n = len(neighbours)  # type: ignore[arg-type]
    return neighbours, _ONES[:n] if n <= _ONES.size else np.ones(n)  # type: ignore[return-value]


def _numbers(argument: str, values: Any) -> NDArray[np.float64]:
    """A number, or a list or array of them, as an array of shape (K,)."""
    try:
        numbers = np.array(values)
    except ValueError:  # lists of unequal lengths
        numbers = np.array(None)
    # Numbers that are written as strings are refused as well.
    if numbers.size > 0 and numbers.dtype.kind not in "fiub":
        raise TypeError(f"{argument} must be numbers, got {values!r}")
    if numbers.ndim > 1:
        raise ValueError(f"{argument} must have at most one dimension, got {values!r}")
    return numbers.astype(np.float64, copy=False).reshape(-1)


def _finite_values(value: ArrayLike) -> tuple[NDArray[np.float64], tuple[int, ...]]:
    """The values as an array of shape (K,), and the shape in which they came."""
    if isinstance(value, float) and math.isfinite(value):  # the usual case, 4 µs sooner
        return np.array([value]), ()
    values = _numbers("value", value)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"value must be a finite number or a 1-d array of them, got {value!r}")
    return values, np.shape(value)


def _look_up(
    names: Collection[Hashable], table: FrequencyTable, *, add: bool = False
) -> tuple[FrequencyTable, NDArray[np.int32]]:
    """A table that has the names, and their rows in it."""
    try:
        rows = np.fromiter(map(table.drawn_rows.__getitem__, names), np.int32, len(names))
    except (KeyError, TypeError):
        try:
            distinct = list(dict.fromkeys(names))
        except TypeError as error:
            raise TypeError(f"neighbours must have hashable names: {error}") from None
        if add:
            table.add_missing(distinct)
        elif not table.has_all(distinct):
            table = table.of_names(distinct)
        table.prepare_names(distinct)
        rows = np.fromiter(map(table.drawn_rows.__getitem__, names), np.int32, len(names))
    return table, rows
