"""The common part of the files of models of rows: names, counts, θ and learned rows."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradraker.explain.skg_explanation import LearnedRows, Record
from gradraker.features import RowArrays
from gradraker.models.persistence.names_as_json import decode_name, encode_name, stringify_unsavable
from gradraker.models.persistence.saving import Arrays, State, check_int

if TYPE_CHECKING:
    from gradraker.models.row_model import RowModel

# Columns are numbered by 32-bit integers.
_MOST_NUMBERED = 2**31 - 1


def dump_row_state(model: "RowModel") -> tuple[State, Arrays]:
    """Return names, counts, θ and learned rows of a fitted model of rows."""
    state = {
        "n_first": model._n_first,
        "seed_": model.seed_,
        "n_seen_": model.n_seen_,
        "n_numbered": model._table.n_numbered,
        "named": [encode_name(name) for name in model._table.named],
        "n_features_in_": getattr(model, "n_features_in_", None),
        "has_feature_names": hasattr(model, "feature_names_in_"),
        "has_rows": model._record is not None,
        "known_names": None,
    }
    arrays = {"coef_": model.coef_}
    if model._record is not None:
        learned = model._record.to_learned_rows()
        more = (learned.Y, learned.order, learned.rates, learned.single)
        parts: tuple[NDArray[Any], ...] = (*learned.rows, *more)
        arrays |= {f"learned_{name}": part for name, part in zip(_TYPES, parts, strict=True)}
        if learned.names is not None:
            state["known_names"] = [
                encode_name(stringify_unsavable(name)) for name in learned.names
            ]
    return state, arrays


def restore_row_state(model: "RowModel", state: State, arrays: Arrays) -> None:
    """Restore the rest of :func:`dump_row_state` to a model that has its table and θ."""
    table = model._table
    model._n_first = check_int("n_first", state["n_first"])
    # keep_known may have been changed after training, so it does not decide.
    model._record = None
    if state["has_rows"]:
        learned = _restore_learned_rows(arrays, state["known_names"], len(table))
        if learned.Y.shape[1] != np.prod(model._targets, dtype=np.int64):
            raise ValueError("learned values and coef_ do not fit")
        check_int("n_first", model._n_first, most=len(learned))
        model._record = Record([learned])
    model.n_seen_ = check_int("n_seen_", state["n_seen_"])
    if state["n_features_in_"] is not None:
        # More columns than frequencies would let the compiled loops read beyond the table.
        model.n_features_in_ = check_int(
            "n_features_in_", state["n_features_in_"], most=len(table), least=1
        )
    if state["has_feature_names"]:
        if table.n_numbered:
            raise ValueError("a name of a column is not a string")
        names = table.names[: model.n_features_in_]
        if not all(isinstance(name, str) for name in names):
            raise ValueError("a name of a column is not a string")
        model.feature_names_in_ = np.array(names, dtype=object)


def restore_names(state: State) -> tuple[int, int, list[Hashable]]:
    """Seed, number of numbered nodes and names of the others."""
    if not isinstance(state["named"], list):
        raise ValueError("named is not a list")
    named = [decode_name(item) for item in state["named"]]
    n_numbered = check_int("n_numbered", state["n_numbered"], most=_MOST_NUMBERED)
    numbers = (name for name in named if isinstance(name, int | float))
    if len(set(named)) != len(named) or any(0 <= n < n_numbered and n == int(n) for n in numbers):
        raise ValueError("a reference name occurs twice")
    return check_int("seed_", state["seed_"], most=2**64 - 1), n_numbered, named


def check_coef(arrays: Arrays, n_frequencies: int, n_axes: tuple[int, ...]) -> NDArray[np.float64]:
    """Parameters θ of a file, whose last axis has 2D numbers."""
    coef = arrays["coef_"]
    if coef.dtype != np.float64 or coef.shape[-1] != 2 * n_frequencies:
        raise ValueError(f"coef_ has shape {coef.shape} and type {coef.dtype}")
    if coef.ndim not in n_axes or coef.size == 0 or not np.isfinite(coef).all():
        raise ValueError("coef_ is not a finite array")
    return coef


# -- known nodes ----------------------------------------------------------------------------


# Arrays of learned rows in a file, by the end of their names, and their types.
_TYPES: dict[str, type[np.generic]] = {
    "indptr": np.int64,
    "indices": np.int32,
    "data": np.float64,
    "values": np.float64,
    "order": np.int64,
    "rates": np.float64,
    "single": np.bool_,
}


def _restore_learned_rows(arrays: Arrays, names: list[Any] | None, n_columns: int) -> LearnedRows:
    """The learned rows of a file, checked, since compiled loops do not check their bounds."""
    indptr, indices, data, Y, order, rates, single = (
        arrays[f"learned_{name}"].astype(kind, casting="safe") for name, kind in _TYPES.items()
    )
    decoded = None if names is None else tuple(decode_name(name) for name in names)
    n = indptr.size - 1
    sound = (
        indptr.ndim == order.ndim == single.ndim == 1
        and indptr[0] == 0
        and bool(np.all(np.diff(indptr) >= 0))
        and indices.shape == data.shape == (indptr[-1],)
        and bool(np.all((indices >= 0) & (indices < n_columns)))
        and Y.shape[0] == single.size == n
        and Y.ndim == 2
        and order.shape == rates.shape
        and bool(np.all((order >= 0) & (order < n)))
        and bool(np.all((rates > 0.0) & (rates < 1.0)))
        and bool(np.isfinite(data).all() and np.isfinite(Y).all())
        and (decoded is None or len(decoded) == n)
    )
    if not sound:
        raise ValueError("learned rows are not consistent")
    return LearnedRows(RowArrays(indptr, indices, data), Y, order, rates, single, decoded)
