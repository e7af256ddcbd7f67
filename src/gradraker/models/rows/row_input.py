"""Input of an SKG model: validation of rows, values and names of columns."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y, validate_data

from gradraker._validation import check_sparse, refuse_strings
from gradraker.explain.skg_explanation import Evidence, LearnedRows
from gradraker.features import (
    FrequencyTable,
    RowArrays,
    check_references,
    compute_fourier_features,
    to_row_arrays,
)

if TYPE_CHECKING:
    from gradraker.models.rows.row_model import RowModel

# How X is validated everywhere.
_ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class Prepared(NamedTuple):
    """Rows to predict, and a table that has their frequencies."""

    rows: RowArrays
    units: Any  # [M, D]; for a bank, one for each family
    dtype: Any
    table: Any  # the model's own, or one of the names that came


def find_row_names(X: Any, given: Sequence[Hashable] | None = None) -> list[Hashable] | None:
    """Names of rows: those given, or the index of a pandas data frame, else None.

    An index that just counts 0, …, n − 1 is no name.
    """
    if given is not None:
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if len(given) != n:
            raise ValueError(f"node_names must have a name for each of {n} rows, got {len(given)}")
        return list(given)
    index = getattr(X, "index", None)
    if index is None or not hasattr(X, "columns"):
        return None
    # The numbers 0, …, n − 1 are no names; those of a part of a larger frame are.
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return None
    return list(index)


def choose_names(
    argument: str,
    given: Sequence[Hashable] | None,
    known: Sequence[Hashable] | None,
    n: int,
) -> Sequence[Hashable]:
    """Names that were given, else those that are known, else numbers, for n nodes."""
    names = given if given is not None else known if known is not None else range(n)
    if len(names) != n:
        raise ValueError(f"{argument} must have a name for each of {n} nodes, got {len(names)}")
    return names


def validate_training(
    model: "RowModel", X: Any, y: Any, references: Any, *, first: bool
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


def validate_tested(model: "RowModel", tested: Any, references: Any, n_columns: int) -> Any:
    """Check rows of nodes to be predicted, which a rule for σ² may look at; None if there are none.

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


def check_same_features(model: "RowModel") -> None:
    """Refuse parameters that were set after the features had been drawn."""
    for name, (value, used) in model._list_fixed_parameters().items():
        if value != used:
            raise ValueError(
                f"{name} is {value!r}, but the model has features of {name}={used!r}: "
                "set it back, or call fit to start anew"
            )


def check_frequencies_known(is_known: bool) -> None:
    """Refuse rows where a model learned features that others made."""
    if not is_known:
        raise ValueError(
            "this model learned features whose frequencies it does not know: use "
            "predict_features and learn_features, or give the nodes' seed as random_state"
        )


def prepare_rows(model: "RowModel", X: Any, references: Any) -> Prepared:
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


def get_learned_rows(model: "RowModel") -> LearnedRows:
    """Return the rows that a model keeps for explanations."""
    if model._record is None:
        raise ValueError(
            "explain needs the learned rows, and keep_known is False: "
            "set keep_known=True and fit again"
        )
    return model._record.to_learned_rows()


def gather_evidence(model: "RowModel", prepared: Prepared, scale: float) -> Evidence:
    """What an explanation of the predictions for prepared rows is made of; ``scale`` is 1/σ."""
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


def _require_columns(model: "RowModel") -> None:
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
    # A copy: read-only or strided values would have the loops compiled anew.
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
