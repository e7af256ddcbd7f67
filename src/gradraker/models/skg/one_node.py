"""Online use, one node at a time: river's methods on an estimator with a frequency table."""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any, NoReturn

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker._compiled.fourier_lms import learn_one, learn_value, predict_value
from gradraker._locks import rollback_on_error
from gradraker._validation import check_learning_rate
from gradraker.features import FrequencyTable, RowArrays, predict_linear
from gradraker.models.row_model import check_frequencies_known
from gradraker.models.skg.feature_learning import FeatureLearning

Neighbours = Mapping[Any, float] | Iterable[Hashable]
Value = float | NDArray[np.float64]

# Weights of neighbours given without weights.
_ONES = np.ones(1024)


class OneNodeSKG(FeatureLearning):
    """``predict_one`` and ``learn_one`` for SKG: nodes are given by names, which may be new."""

    def predict_one(self, neighbours: Neighbours) -> Value:
        """Predict the value of one node from its neighbours.

        Parameters
        ----------
        neighbours : mapping of reference name to weight, or iterable of reference names
            Names without weights have weight 1; a name given twice counts twice. New names
            are allowed, and the model does not change.

        Returns
        -------
        float, or ndarray of shape (n_targets,)
            0 before anything was learned (θ₀ = 0).
        """
        names, weights = split_neighbours(neighbours)
        if not hasattr(self, "coef_"):
            return 0.0
        check_frequencies_known(self._knows_frequencies)
        table, indices = _look_up(names, self._table)
        coef, scale = self.coef_, 1.0 / math.sqrt(self.sigma2_)
        if coef.ndim == 1:
            prediction = predict_value(indices, weights, table.units, scale, coef)
            return prediction if math.isfinite(prediction) else self._refuse(weights)
        row = RowArrays(np.array([0, indices.size]), indices, weights)
        predictions: Value = predict_linear(row, table.units, scale, theta=coef)[0]
        return predictions if np.isfinite(predictions).all() else self._refuse(weights)

    def learn_one(self, neighbours: Neighbours, value: ArrayLike) -> Value:
        """Learn the value of one node: one step of training.

        Parameters
        ----------
        neighbours : mapping of reference name to weight, or iterable of reference names
            As in :meth:`predict_one`; new names become referencing nodes.
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
        names, weights = split_neighbours(neighbours)
        checked = check_value(value)
        if hasattr(self, "coef_"):
            check_frequencies_known(self._knows_frequencies)
            indices = _find_drawn_rows(names, self._table)
            if indices is not None:
                return self._learn(indices, weights, checked)
        return self._learn_new(names, weights, checked)

    @rollback_on_error
    def _learn_new(
        self, names: Collection[Hashable], weights: NDArray[np.float64], value: Value
    ) -> Value:
        """Learn a node with new neighbours, such as the first node."""
        if not hasattr(self, "coef_"):
            self._start_empty(np.shape(value))
        _, indices = _look_up(names, self._table, add=True)
        return self._learn(indices, weights, value)

    def _learn(
        self, indices: NDArray[np.int32], weights: NDArray[np.float64], value: Value
    ) -> Value:
        """Take a step, or raise and leave the model as it was."""
        coef, units = self.coef_, self._table.units
        step = 2.0 * check_learning_rate(self._rate)
        scale = 1.0 / math.sqrt(self.sigma2_)
        prediction: Value
        if coef.ndim == 1 and isinstance(value, float):
            prediction = learn_value(indices, weights, units, scale, step, value, coef)
            taken = prediction == prediction  # NaN is not equal to itself
        elif not isinstance(value, float) and coef.shape[:-1] == value.shape:
            prediction = np.empty(value.size)
            taken = learn_one(indices, weights, units, scale, step, value, coef, prediction)
        else:
            raise ValueError(
                f"value has shape {np.shape(value)}, but the model was trained on "
                f"values of shape {coef.shape[:-1]}"
            )
        if not taken:
            self._refuse(weights)
        self.n_seen_ += 1
        if self._record is not None:
            self._record.add_one(indices, weights, value, self._rate)
        return prediction

    def _refuse(self, weights: NDArray[np.float64]) -> NoReturn:
        if not np.isfinite(weights).all():
            raise ValueError(f"neighbours must have finite weights, got {weights.tolist()}")
        raise ValueError(
            "the weights of neighbours or the value are too large: with "
            f"sigma2 = {self.sigma2_:g} the prediction or the step leaves the range of float64"
        )


def split_neighbours(neighbours: Neighbours) -> tuple[Collection[Hashable], NDArray[np.float64]]:
    """Names of neighbours, and their weights, 1 where none are given."""
    kind = type(neighbours)
    if kind is not list and kind is not tuple:
        if isinstance(neighbours, Mapping):
            return neighbours.keys(), _to_numbers(
                "weights of neighbours", list(neighbours.values())
            )
        series: Any = nw.from_native(neighbours, series_only=True, pass_through=True)
        index = nw.maybe_get_index(series) if isinstance(series, nw.Series) else None
        if index is not None:  # of a pandas Series, with the names
            return split_neighbours(dict(zip(index.tolist(), series.to_list(), strict=True)))
        if isinstance(neighbours, str | bytes) or not isinstance(neighbours, Iterable):
            raise TypeError(
                "neighbours must be a mapping of names to weights or an iterable of names, "
                f"got {neighbours!r} of type {kind.__name__}"
            )
        neighbours = list(neighbours)
    n = len(neighbours)  # type: ignore[arg-type]
    return neighbours, _ONES[:n] if n <= _ONES.size else np.ones(n)  # type: ignore[return-value]


def list_distinct_names(names: Iterable[Hashable]) -> list[Hashable]:
    """Each name once, in the order of its first use."""
    try:
        return list(dict.fromkeys(names))
    except TypeError as error:
        raise TypeError(f"neighbours must have hashable names: {error}") from None


def _to_numbers(argument: str, values: Any) -> NDArray[np.float64]:
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


def check_value(value: ArrayLike) -> Value:
    """A number as a float, several numbers as an array of shape (K,)."""
    if type(value) is float and math.isfinite(value):  # the usual case, which saves 4 µs
        return value
    values = _to_numbers("value", value)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"value must be a finite number or a 1-d array of them, got {value!r}")
    return values if np.ndim(value) > 0 else float(values[0])


def _find_drawn_rows(
    names: Collection[Hashable], table: FrequencyTable
) -> NDArray[np.int32] | None:
    """Rows of names whose frequencies are drawn, or None if there are others."""
    try:
        return np.fromiter(map(table.drawn_rows.__getitem__, names), np.int32, len(names))
    except (KeyError, TypeError):
        return None


def _look_up(
    names: Collection[Hashable], table: FrequencyTable, *, add: bool = False
) -> tuple[FrequencyTable, NDArray[np.int32]]:
    """A table that has the names, and their rows in it."""
    rows = _find_drawn_rows(names, table)
    if rows is None:
        distinct = list_distinct_names(names)
        if add:
            table.add_missing(distinct)
        elif not table.has_all(distinct):
            table = table.select_names(distinct)
        table.prepare_names(distinct)
        rows = np.fromiter(map(table.drawn_rows.__getitem__, names), np.int32, len(names))
    return table, rows
