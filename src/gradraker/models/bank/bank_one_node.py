"""Online use of a bank of kernels, one node at a time: river's verbs."""

from collections.abc import Collection, Hashable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from gradraker._locks import rollback_on_error
from gradraker.features import to_row_arrays
from gradraker.models.bank.fitted_bank import LearnedBank
from gradraker.models.bank.frequency_tables import FamilyTables
from gradraker.models.row_model import check_same_features
from gradraker.models.skg.one_node import (
    Neighbours,
    Value,
    check_value,
    list_distinct_names,
    split_neighbours,
)


class OneNodeBank(LearnedBank):
    """``predict_one`` and ``learn_one`` for a bank: those of SKG, for all members at once."""

    def _start_empty(self, targets: tuple[int, ...]) -> None:
        """Start without rows, for the first node of :meth:`learn_one`."""
        raise NotImplementedError

    def predict_one(self, neighbours: Neighbours) -> Value:
        """Predict the value of one node from its neighbours.

        Parameters
        ----------
        neighbours
            As in :meth:`SKGRegressor.predict_one`; names never seen are allowed without views.

        Returns
        -------
        float, or ndarray of shape (n_targets,)
            0 before anything was learned (θ₀ = 0).
        """
        names, weights = split_neighbours(neighbours)
        if not hasattr(self, "coef_"):
            return 0.0
        distinct = list_distinct_names(names)
        self._check_new_names(distinct)
        known = self._table.has_all(distinct)
        table = self._table if known else self._table.select_names(distinct)
        return self._predict_row(_make_row(names, weights, table), table)

    def learn_one(self, neighbours: Neighbours, value: ArrayLike) -> Value:
        """Learn the value of one node: one step of all members and of their weights.

        It is :meth:`partial_fit` with one row, bit for bit.

        Parameters
        ----------
        neighbours, value
            As in :meth:`SKGRegressor.learn_one`.

        Returns
        -------
        float, or ndarray of shape (n_targets,)
            The prediction made before the value was used.

        Examples
        --------
        >>> from gradraker import GradrakerRegressor
        >>> model = GradrakerRegressor(kernels=[0.5, 2.0, 8.0], random_state=0)
        >>> model.learn_one(["Alice", "Bob"], 3.0)
        0.0
        >>> round(model.learn_one(["Alice", "Bob"], 3.0), 6)
        0.6
        """
        names, weights = split_neighbours(neighbours)
        return self._learn_one(names, weights, check_value(value))

    @rollback_on_error
    def _learn_one(
        self, names: Collection[Hashable], weights: NDArray[np.float64], value: Value
    ) -> Value:
        self.check_parameters()
        if not hasattr(self, "coef_"):
            self._start_empty(np.shape(value))
        check_same_features(self)
        if np.shape(value) != self._targets:
            raise ValueError(
                f"value has shape {np.shape(value)}, but the model was trained on "
                f"values of shape {self._targets}"
            )
        distinct = list_distinct_names(names)
        self._check_new_names(distinct)
        self._table.add_missing(distinct)
        row = _make_row(names, weights, self._table)
        prediction = self._predict_row(row, self._table)
        self._train(row, np.array([value]), [np.arange(1)], None)
        return prediction

    def _predict_row(self, row: csr_array, table: FamilyTables) -> Value:
        rows = to_row_arrays(row)
        bank = self._make_bank(rows, table, np.float64)
        (prediction,) = self._combine_members(bank)
        return prediction if self._targets else float(prediction)


def _make_row(
    names: Collection[Hashable], weights: NDArray[np.float64], table: FamilyTables
) -> csr_array:
    if not np.isfinite(weights).all():
        raise ValueError(f"neighbours must have finite weights, got {weights.tolist()}")
    parts = (weights, table.find_rows(names), np.array([0, len(names)]))
    return csr_array(parts, shape=(1, len(table)))
