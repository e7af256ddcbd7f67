"""A trained bank of kernels: predictions, explanations, weights, losses, its file; single nodes."""

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from gradraker._locks import rollback_on_error
from gradraker._validation import check_projections, to_read_only
from gradraker.explain.bank_explanation import BankExplanation
from gradraker.explain.skg_explanation import LearnedRows
from gradraker.features import References, RowArrays, compute_fourier_features, to_row_arrays
from gradraker.kernels.shift_invariant import Sigma2Ranges
from gradraker.linear.hedge import Hedge, combine_predictions
from gradraker.linear.lms import sum_weights_by_node
from gradraker.models.bank.frequency_tables import FamilyTables
from gradraker.models.bank.members import BankMember, assign_views
from gradraker.models.bank.training import Bank, Group, iterate_predictions, select_view_rows
from gradraker.models.persistence.saving import Arrays, State
from gradraker.models.row_model import (
    RowModel,
    check_same_features,
    choose_names,
    find_row_names,
    get_learned_rows,
    prepare_rows,
)
from gradraker.models.row_state import dump_row_state
from gradraker.models.skg.one_node import (
    Neighbours,
    Value,
    check_value,
    list_distinct_names,
    split_neighbours,
)


class LearnedBank(RowModel):
    """The part of :class:`GradrakerRegressor` that does not start and train on many rows."""

    members_: tuple[BankMember, ...]
    sigma2_: NDArray[np.float64]
    _hedge: Hedge
    _history: list[NDArray[np.float64]] | None
    _ranges: dict[tuple[str, str], Sigma2Ranges]
    _table: FamilyTables
    _used: dict[str, Any]

    # -- prediction ------------------------------------------------------------

    def predict(self, X: Any, *, references: References = None) -> NDArray[np.float64]:
        """Predict the values of nodes with the weights at the end of training.

        Parameters
        ----------
        X, references
            As in :meth:`SKGRegressor.predict`; new names are allowed without views.

        Returns
        -------
        ndarray of shape (n,) or (n, n_targets)
        """
        return self._combine_members(self._prepare(X, references))

    def predict_members(self, X: Any, *, references: References = None) -> NDArray[np.float64]:
        """Predict the values of nodes with each member alone.

        Parameters
        ----------
        X, references
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (P, n) or (P, n, n_targets)
        """
        return self._predict_each(self._prepare(X, references))

    def explain(
        self,
        X: Any,
        *,
        references: References = None,
        node_names: Sequence[Hashable] | None = None,
        known_names: Sequence[Hashable] | None = None,
    ) -> BankExplanation:
        """Explain predictions as weighted sums of the known values.

        With the weights of the members as they are now, the sum is exact: Σ w̄ₚ Σ F_{p,i} yᵢ.
        The weights of the members depend on the values themselves, so the explanation does not
        tell what the prediction would be if a value were different, as that of one kernel does.

        Parameters
        ----------
        X, references, node_names, known_names
            As in :meth:`SKGRegressor.explain`.

        Returns
        -------
        gradraker.explain.BankExplanation

        Examples
        --------
        >>> from gradraker import GradrakerRegressor, load_temperature
        >>> data = load_temperature()
        >>> X, y = data.adjacency, data.scale_values()
        >>> model = GradrakerRegressor(random_state=0).fit(X[:60], y[:60])
        >>> explanation = model.explain(X[60:])
        >>> bool(abs(explanation.weights @ y[:60] - model.predict(X[60:])).max() < 1e-10)
        True
        """
        explained, learned = self._prepare(X, references), get_learned_rows(self)
        known = self._make_bank(learned.rows, self._table, np.float64)
        kernel_weights, member_predictions = self.kernel_weights_, self._predict_each(explained)
        weights = np.zeros((explained.n_rows, len(learned)))  # [n, n_known]
        for member, kernel_weight in enumerate(kernel_weights):
            if kernel_weight > 0.0:
                member_weights = self._compute_member_weights(learned, known, explained, member)
                weights += kernel_weight * member_weights
        names = find_row_names(X)
        return BankExplanation(
            weights=weights,
            values=to_read_only(learned.Y.reshape(-1, *self._targets)),
            prediction=combine_predictions(kernel_weights, member_predictions),
            node_names=choose_names("node_names", node_names, names, explained.n_rows),
            known_names=choose_names("known_names", known_names, learned.names, len(learned)),
            members=self.members_,
            kernel_weights=kernel_weights,
            member_predictions=member_predictions,
        )

    def _compute_member_weights(
        self, learned: LearnedRows, known: Bank, explained: Bank, member: int
    ) -> NDArray[np.float64]:
        """Contribution weights of one member by known node, (n, n_known)."""
        Z = _compute_features(known, member)
        # Features that were float32 in training are rounded the same way here.
        Z[learned.single] = Z[learned.single].astype(np.float32)
        stars = _compute_features(explained, member).astype(np.float64)
        # The step θ ← k θ + 2η (y − θᵀz) z with k = 1 − 2ημ is k times the step of a rate η/k, so
        # F_t is the weight at that rate times the product of all k from t on.
        keep = 1.0 - 2.0 * learned.rates * self._used["regularization"]  # [T]
        shrinking = np.cumprod(keep[::-1])[::-1]  # [T]
        return sum_weights_by_node(Z, learned.order, stars, learned.rates / keep, shrinking)

    def plot_weights(self, *, ax: Any = None) -> Any:
        """Draw the weights of the members against time; needs ``keep_weights=True``."""
        from gradraker.plotting import KernelWeightsDisplay

        return KernelWeightsDisplay.from_estimator(self, ax=ax)

    # -- one node at a time: the methods of river and SKG, for all members at once -----

    def _start_empty(self, targets: tuple[int, ...]) -> None:
        """Start without rows, for the first node of :meth:`learn_one`."""
        raise NotImplementedError

    def predict_one(self, neighbours: Neighbours) -> Value:
        """Predict the value of one node from its neighbours.

        Parameters
        ----------
        neighbours
            As in :meth:`SKGRegressor.predict_one`; new names are allowed without views.

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

    # -- files -----------------------------------------------------------------

    def dump_state(self) -> tuple[State, Arrays]:
        """Return the state and arrays of a file, besides the parameters."""
        state, arrays = dump_row_state(self)
        state |= {
            "members": [asdict(member) for member in self.members_],
            "ranges": [[view, family, asdict(r)] for (view, family), r in self._ranges.items()],
            "has_history": self._history is not None,
        }
        arrays |= {"losses": self._hedge.losses, "totals": self._hedge.totals}
        if self._history is not None:
            arrays["weights_history_"] = self.weights_history_
        return state, arrays

    # -- learned quantities ----------------------------------------------------

    @property
    def kernel_weights_(self) -> NDArray[np.float64]:
        """Weights of the members for the next prediction, (P,)."""
        check_is_fitted(self, "coef_")
        return self._hedge.compute_member_weights()

    @property
    def member_losses_(self) -> NDArray[np.float64]:
        """Sum of the losses of each member over all training steps, (P,)."""
        check_is_fitted(self, "coef_")
        return self._hedge.losses.copy()

    @property
    def loss_(self) -> float:
        """Sum of the squared errors of the bank over all training steps."""
        check_is_fitted(self, "coef_")
        return float(self._hedge.totals[0])

    @property
    def regret_bound_(self) -> float:
        """Upper bound of ``loss_ - member_losses_.min()``; infinite if λ is too large."""
        check_is_fitted(self, "coef_")
        return self._hedge.compute_regret_bound()

    @property
    def weights_history_(self) -> NDArray[np.float64]:
        """Weights that the node of each training step was predicted with, (n_steps, P)."""
        check_is_fitted(self, "coef_")
        if self._history is None:
            raise AttributeError("weights_history_ was not kept: set keep_weights=True and fit")
        if len(self._history) > 1:
            self._history = [np.concatenate(self._history)]
        return self._history[0]

    @property
    def ranges_(self) -> list[Sigma2Ranges]:
        """The four ranges of σ² for the view and family of each member."""
        check_is_fitted(self, "coef_")
        for member in self.members_:
            if (member.view, member.kernel) not in self._ranges:
                select = partial(self._select_rows, view=member.view)
                found = self._find_ranges(member.kernel, select)
                self._ranges[member.view, member.kernel] = found
        return [self._ranges[member.view, member.kernel] for member in self.members_]

    def compute_frequencies(self, member: int = 0) -> NDArray[np.float64]:
        """Random frequencies ξ of a member, shape (n_references, D)."""
        check_is_fitted(self, "coef_")
        table = self._table[self.members_[member].kernel]
        return table.compute_frequencies(1.0 / math.sqrt(self.members_[member].sigma2))

    # -- arrays ----------------------------------------------------------------

    def _combine_members(self, bank: Bank) -> NDArray[np.float64]:
        """Predictions of the whole bank, (n,) or (n, n_targets)."""
        weights, theta = self.kernel_weights_, self._get_theta()
        predictions = np.empty((bank.n_rows, theta.shape[1]))  # [n, K]
        for chunk, of_members in iterate_predictions(bank, theta):
            predictions[chunk] = combine_predictions(weights, of_members)
        return self._check_finite(predictions).reshape(-1, *self._targets)

    def _predict_each(self, bank: Bank) -> NDArray[np.float64]:
        """Predictions of each member, (P, n) or (P, n, n_targets)."""
        theta = self._get_theta()
        predictions = np.empty((theta.shape[0], bank.n_rows, theta.shape[1]))  # [P, n, K]
        for chunk, of_members in iterate_predictions(bank, theta):
            predictions[:, chunk] = of_members
        return self._check_finite(predictions).reshape(theta.shape[0], -1, *self._targets)

    @property
    def _targets(self) -> tuple[int, ...]:
        """Shape of the value of one node."""
        return self.coef_.shape[1:-1]

    def _get_theta(self) -> NDArray[np.float64]:
        """Parameters of all members, (P, K, 2D)."""
        return self.coef_.reshape(self.coef_.shape[0], -1, self.coef_.shape[-1])

    def _make_bank(self, rows: RowArrays, table: FamilyTables, dtype: Any) -> Bank:
        """The members on rows whose columns are those of the table."""
        table.prepare(rows.indices)
        shared: dict[tuple[str, str], list[int]] = {}
        for number, member in enumerate(self.members_):
            shared.setdefault((member.view, member.kernel), []).append(number)
        selected = {view: self._select_rows(rows, view) for view, _ in shared}
        groups = [
            Group(selected[view], table[family].units, numbers)
            for (view, family), numbers in shared.items()
        ]
        scales = [1.0 / math.sqrt(member.sigma2) for member in self.members_]
        return Bank(groups, scales, self._table.n_frequencies, dtype)

    def _select_rows(self, rows: RowArrays, view: str) -> RowArrays:
        if self._used["views"] is None:
            return rows
        views = dict(self._used["views"])
        return select_view_rows(rows, assign_views(views, len(self._table)), [*views].index(view))

    def _prepare(self, X: Any, references: References) -> Bank:
        """The bank on validated rows to predict."""
        rows, _, dtype, table = prepare_rows(self, X, references)
        if table is not self._table:
            self._check_new_names(table.names)
        return self._make_bank(rows, table, dtype)

    def _check_new_names(self, names: Sequence[Hashable]) -> None:
        if self._used["views"] is not None and not self._table.has_all(names):
            new = next(name for name in names if not self._table.has_all([name]))
            raise ValueError(
                f"references has {new!r}, which the first rows did not have: a bank with views "
                "cannot tell which view a new column belongs to"
            )

    def _check_finite(self, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
        return check_projections(predictions, f"a variance of {self.sigma2_.min():g}")


def _compute_features(bank: Bank, member: int) -> NDArray[Any]:
    group = next(group for group in bank.groups if member in group.members)
    return compute_fourier_features(group.rows, group.units, bank.scales[member], dtype=bank.dtype)


def _make_row(
    names: Collection[Hashable], weights: NDArray[np.float64], table: FamilyTables
) -> csr_array:
    if not np.isfinite(weights).all():
        raise ValueError(f"neighbours must have finite weights, got {weights.tolist()}")
    parts = (weights, table.find_rows(names), np.array([0, len(names)]))
    return csr_array(parts, shape=(1, len(table)))
