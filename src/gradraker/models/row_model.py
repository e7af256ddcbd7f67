"""The base of models of rows: checks of rows and values, training at once or in chunks, files."""

import os
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y, validate_data

from gradraker._locks import rollback_on_error
from gradraker._validation import check_bounds, check_flag, check_sparse, refuse_strings
from gradraker.explain.skg_explanation import Evidence, LearnedRows, Record
from gradraker.features import (
    FrequencyTable,
    References,
    RowArrays,
    check_references,
    compute_fourier_features,
    to_row_arrays,
)
from gradraker.kernels.shift_invariant import Sigma2Ranges, compute_ranges, find_extreme_pairs
from gradraker.linear.lms import draw_epoch_orders
from gradraker.models.persistence.saving import Arrays, SavableModel, State, save_model

# How X is validated everywhere.
_ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class RowModel(SavableModel):
    """Fit, continue, save and load; subclasses define how to start, train and dump their state."""

    coef_: NDArray[np.float64]
    n_seen_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    learning_rate: Any
    n_epochs: Any
    shuffle: bool
    _record: Record | None
    _table: Any
    _n_first: int
    # Whether this model can compute the features of rows.
    _knows_frequencies: bool = True

    # -- training --------------------------------------------------------------

    @rollback_on_error
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        references: References = None,
        node_names: Sequence[Hashable] | None = None,
        tested: Any = None,
    ) -> Self:
        """Start anew and train ``n_epochs`` times on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, M)
            Adjacency vectors, one row per node.
        y : array-like of shape (n,) or (n, n_targets)
            Values of the nodes.
        references : sequence of M names, optional
            Names of the columns of X.
        node_names : sequence of n names, optional
            Names of the rows, for :meth:`explain`; default the index of a pandas data frame.
        tested : {array-like, sparse matrix, data frame} of shape (m, M), optional
            Adjacency vectors of nodes that will be predicted, with the columns of X. The rule
            ``"refined"`` for σ² measures the noise range on them; see :func:`sigma2_ranges`.

        Returns
        -------
        self
        """
        self.check_parameters()
        check_bounds(self.bounds, self.get_params())
        names = find_row_names(X, node_names)
        X, y = validate_training(self, X, y, references, first=True)
        tested = validate_tested(self, tested, references, X.shape[1])
        self._start(X, y, references, tested)
        orders = draw_epoch_orders(
            self.seed_, X.shape[0], self._get_n_epochs(), shuffle=self.shuffle
        )
        self._train(X, y, orders, names)
        return self

    @rollback_on_error
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        references: References = None,
        node_names: Sequence[Hashable] | None = None,
    ) -> Self:
        """Train once on each row, in the given order, continuing from the current model.

        Any split of the same rows into calls gives the same model, bit for bit. Rules for σ²
        choose it from the first chunk, and it is kept.

        Parameters
        ----------
        X, y, node_names
            As in :meth:`fit`.
        references : sequence of M names, optional
            Names of the columns of X; names that are new become new referencing nodes.

        Returns
        -------
        self
        """
        self.check_parameters()
        first = not hasattr(self, "coef_")
        if first:
            check_bounds(self.bounds, self.get_params())
            self._refuse_auto("partial_fit")
        else:
            check_frequencies_known(self._knows_frequencies)
        names = find_row_names(X, node_names)
        X, y = validate_training(self, X, y, references, first=first)
        if first:
            self._start(X, y, references, None)
        elif references is not None:
            columns = check_references(references, X.shape[1])
            self._check_new_names(columns)
            self._table.add_missing(columns)
            X = renumber_columns(X, columns, self._table)
        self._train(X, y, [np.arange(X.shape[0])], names)
        return self

    # -- learned quantities ----------------------------------------------------

    @property
    def references_(self) -> Sequence[Hashable]:
        """Names of the referencing nodes, in the order in which they were added."""
        check_is_fitted(self, "coef_")
        names: Sequence[Hashable] = self._table.names
        return names

    def _find_ranges(
        self, kernel: str, select: Callable[[RowArrays], RowArrays] = lambda rows: rows
    ) -> Sigma2Ranges:
        """The four ranges of σ² for the rows of ``fit``, or of the first chunk."""
        if self._record is None or self._n_first == 0:
            raise AttributeError(
                "ranges_ needs rows of fit or of the first chunk that differ: "
                "use gradraker.sigma2_ranges(X)"
            )
        rows = select(self._record.to_learned_rows().rows)
        try:
            first = rows.take_first(self._n_first, len(self._table))
            pairs = find_extreme_pairs(first, kernel=kernel)
        except ValueError as error:
            raise AttributeError(f"ranges_ does not exist: {error}") from None
        return compute_ranges(pairs, n_frequencies=self._table.n_frequencies)

    # -- files -----------------------------------------------------------------

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        notes: dict[str, Any] | None = None,
        observed: bool = True,
        only_if_unchanged: bool = False,
    ) -> Path:
        """Write the model to a file, complete or not at all, without pickle.

        :func:`gradraker.load` reads it.

        Parameters
        ----------
        path, notes, only_if_unchanged
            As in :meth:`gradraker.models.NodeModel.save`.
        observed : bool, default=True
            Whether the file holds the known nodes: their rows, names and values, and the order of
            training. Without them the file predicts and learns on, but cannot explain; θ, the
            seed, and names of referencing nodes stay. ``docs/theory/privacy.md`` describes what
            they reveal.

        Returns
        -------
        Path
        """
        self._check_savable()
        dump = self.dump_state if check_flag("observed", observed) else self._dump_without_rows
        return save_model(self, path, notes, dump, only_if_unchanged=only_if_unchanged)

    def _dump_without_rows(self) -> tuple[State, Arrays]:
        """State and arrays of a file without the known nodes."""
        state, arrays = self.dump_state()
        state |= {"has_rows": False, "known_names": None, "n_first": 0}
        kept = {name: part for name, part in arrays.items() if not name.startswith("learned_")}
        return state, kept

    def _check_savable(self) -> None:
        check_is_fitted(self, "coef_")
        self.check_parameters()
        check_same_features(self)

    # -- scikit-learn ----------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags

    # -- the parts that a subclass provides -------------------------------------

    @property
    def _rate(self) -> float:
        """Learning rate of the next step."""
        return float(self.learning_rate)

    def _get_n_epochs(self) -> int:
        """Passes of ``fit`` over the rows."""
        return int(self.n_epochs)

    def _refuse_auto(self, method: str) -> None:
        """Refuse settings that only ``fit`` can choose."""

    def check_parameters(self) -> None:
        """Refuse invalid parameters."""
        raise NotImplementedError

    def _start(self, X: Any, y: NDArray[np.float64], references: Any, tested: Any) -> None:
        """Set everything that does not change while the model learns."""
        raise NotImplementedError

    def _train(
        self,
        X: Any,
        y: NDArray[np.float64],
        orders: list[NDArray[np.int64]],
        names: Sequence[Hashable] | None,
    ) -> None:
        """Train on rows in some orders, one after the other."""
        raise NotImplementedError

    @property
    def _targets(self) -> tuple[int, ...]:
        """Shape of the value of one node: empty for a single number."""
        raise NotImplementedError

    def _list_fixed_parameters(self) -> dict[str, tuple[Any, Any]]:
        """Parameters that features depend on, as set now and as used when they were drawn."""
        raise NotImplementedError

    def _check_new_names(self, columns: Sequence[Hashable]) -> None:
        """Refuse names of columns that cannot be added later."""


# -- checks of rows and values ---------------------------------------------------------------------


class Prepared(NamedTuple):
    """Rows to predict, and a table that has their frequencies."""

    rows: RowArrays
    units: Any  # [M, D]; for a bank, one for each family
    dtype: Any
    table: Any  # the model's own, or one for the given names


def find_row_names(X: Any, given: Sequence[Hashable] | None = None) -> list[Hashable] | None:
    """Names of rows: those given, or the index of a pandas data frame, else None.

    An index that just counts 0, …, n − 1 is not taken as names.
    """
    if given is not None:
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if len(given) != n:
            raise ValueError(f"node_names must have a name for each of {n} rows, got {len(given)}")
        return list(given)
    index = getattr(X, "index", None)
    if index is None or not hasattr(X, "columns"):
        return None
    # The numbers 0, …, n − 1 are not names; those of a part of a larger frame are.
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return None
    return list(index)


def choose_names(
    argument: str, given: Sequence[Hashable] | None, known: Sequence[Hashable] | None, n: int
) -> Sequence[Hashable]:
    """The given names, else the known ones, else numbers, for n nodes."""
    names = given if given is not None else known if known is not None else range(n)
    if len(names) != n:
        raise ValueError(f"{argument} must have a name for each of {n} nodes, got {len(names)}")
    return names


def validate_training(
    model: RowModel, X: Any, y: Any, references: Any, *, first: bool
) -> tuple[Any, NDArray[np.float64]]:
    """Check rows and values for training; the first call sets the columns of the model."""
    check_sparse("X", X)
    refuse_strings("X", X)
    refuse_strings("y", y)
    options = {**_ROWS, "multi_output": True, "y_numeric": True}
    if references is None:
        if not first:
            _require_columns(model)
        X, y = validate_data(model, X, y, reset=first, **options)
    else:
        X, y = check_X_y(X, y, estimator=model, **options)
        check_references(references, X.shape[1])
        if first:
            model.n_features_in_ = X.shape[1]
            if hasattr(model, "feature_names_in_"):
                del model.feature_names_in_
    y = _check_values(y)
    if not first and y.shape[1:] != model._targets:
        raise ValueError(
            f"y has shape {y.shape}, but the model was trained on values of shape "
            f"(n, {', '.join(map(str, model._targets))})"
        )
    if not first:
        check_same_features(model)
    return X, y


def validate_tested(model: RowModel, tested: Any, references: Any, n_columns: int) -> Any:
    """Check rows of nodes to be predicted, which a rule for σ² may use; None if there are none.

    Their columns are those of the training rows, which were validated before.
    """
    if tested is None:
        return None
    check_sparse("tested", tested)
    refuse_strings("tested", tested)
    if references is None:
        return validate_data(model, tested, reset=False, **_ROWS)
    rows = check_array(tested, input_name="tested", estimator=model, **_ROWS)
    if rows.shape[1] != n_columns:
        raise ValueError(f"tested has {rows.shape[1]} columns, but X has {n_columns}")
    return rows


def check_same_features(model: RowModel) -> None:
    """Refuse parameters that were set after the features had been drawn."""
    for name, (value, used) in model._list_fixed_parameters().items():
        if value != used:
            raise ValueError(
                f"{name} is {value!r}, but the model has features of {name}={used!r}: "
                "set it back, or call fit to start anew"
            )


def check_frequencies_known(is_known: bool) -> None:
    """Refuse rows if the model learned features whose frequencies it does not know."""
    if not is_known:
        raise ValueError(
            "this model learned features whose frequencies it does not know: use "
            "predict_features and learn_features, or give the nodes' seed as random_state"
        )


def prepare_rows(model: RowModel, X: Any, references: Any) -> Prepared:
    """Validate X for prediction; return its rows and a table with their frequencies."""
    check_is_fitted(model, "coef_")
    check_frequencies_known(model._knows_frequencies)
    check_sparse("X", X)
    refuse_strings("X", X)
    table = model._table
    if references is None:
        _require_columns(model)
        X = validate_data(model, X, reset=False, **_ROWS)
        return _prepare(X, table)
    X = check_array(X, input_name="X", estimator=model, **_ROWS)
    names = check_references(references, X.shape[1])
    if table.has_all(names):
        return _prepare(renumber_columns(X, names, table), table)
    return _prepare(X, table.select_names(names))


def get_learned_rows(model: RowModel) -> LearnedRows:
    """Return the rows that a model keeps for explanations."""
    if model._record is None:
        raise ValueError(
            "explain needs the learned rows, and keep_known is False: "
            "set keep_known=True and fit again"
        )
    return model._record.to_learned_rows()


def gather_evidence(model: RowModel, prepared: Prepared, scale: float) -> Evidence:
    """Collect the data of an explanation of the predictions for rows; ``scale`` is 1/σ."""
    learned = get_learned_rows(model)
    own: FrequencyTable = model._table
    rows, units, dtype, table = prepared
    stars = compute_fourier_features(rows, units, scale, dtype=dtype).astype(np.float64)
    Z = compute_fourier_features(learned.rows, own.prepare(learned.rows.indices), scale)
    # Features that were float32 in training are rounded the same way here.
    Z[learned.single] = Z[learned.single].astype(np.float32)
    unknown, width = rows, len(own)
    if table is not own:
        columns = own.find_columns(table.names)
        unknown = RowArrays(rows.indptr, columns[rows.indices], rows.data)
        width += len(table)
    return Evidence(learned, Z, unknown, stars, width)


def _require_columns(model: RowModel) -> None:
    if not hasattr(model, "n_features_in_"):
        raise ValueError(
            "references must be given: this model learned nodes by name with learn_one, "
            "so the columns of X need names"
        )


def _check_values(y: Any) -> NDArray[np.float64]:
    if issparse(y):
        raise TypeError("y must be a dense array, got a sparse matrix; use y.toarray()")
    if y.dtype.kind not in "fiub":
        raise ValueError(f"y must hold numbers, got values of type {y.dtype}")
    # A copy: for read-only or strided values Numba would compile the loops anew.
    values = np.array(y, dtype=np.float64, order="C")
    if not np.isfinite(values).all():
        raise ValueError("y must hold finite numbers, got None: leave nodes without a value out")
    return values


def _prepare(X: Any, table: Any) -> Prepared:
    rows = to_row_arrays(X)
    return Prepared(rows, table.prepare(rows.indices), X.dtype, table)


def renumber_columns(X: Any, names: Sequence[Hashable], table: Any) -> Any:
    """X with its columns, which have ``names``, moved to the rows of the table."""
    rows = csr_array(X)
    numbers, n_columns = table.find_rows(names), len(table)
    return csr_array((rows.data, numbers[rows.indices], rows.indptr), shape=(X.shape[0], n_columns))
