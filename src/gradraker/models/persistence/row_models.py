"""What of an SKG model goes into its file: the seed and the names, not the frequencies."""

import os
from collections.abc import Hashable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.explain.observed import Observed
from gradraker.features import FrequencyTable, Rows
from gradraker.features.identities import plain_name
from gradraker.kernels.ranges import Sigma2Ranges
from gradraker.models.persistence.archive import (
    name_from_json,
    name_to_json,
    refused_by_name,
    write_model,
)
from gradraker.models.rows.record import Record
from gradraker.models.sigma2.rules import Choice, check_sigma2

# Columns are numbered by 32-bit integers.
_MOST_NUMBERED = 2**31 - 1
_SAVED_NAMES = (str, int, float, bytes, tuple, np.number, np.str_, np.bytes_)


def save_skg(model: Any, path: str | os.PathLike[str], notes: dict[str, Any]) -> Path:
    """Write a fitted :class:`SKGRegressor` to ``path``."""
    state, arrays = what_was_seen(model)
    state |= {
        "sigma2_": model.sigma2_,
        "ranges_": None if model._ranges is None else asdict(model._ranges),
    }
    return write_model(
        path,
        kind=type(model).__name__,
        parameters=plain_parameters(model),
        state=state,
        notes=notes,
        arrays=arrays,
    )


def restore_skg(
    cls: Any, path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> Any:
    """Make the model of class ``cls`` that a file describes, or refuse the file by name."""
    with refused_by_name(path, header, cls):
        model = cls(**header["parameters"])
        model._check_parameters()
        state = header["state"]
        coef = checked_coef(arrays, model.n_frequencies, (1, 2))
        seed, n_numbered, named = restore_names(state)
        table = FrequencyTable(seed, model.n_frequencies, model.kernel, n_numbered=n_numbered)
        table.add_missing(named)
        ranges = None if state["ranges_"] is None else Sigma2Ranges(**state["ranges_"])
        choice = Choice(float(check_sigma2(state["sigma2_"])), ranges)
        model._begin(table, choice, coef.shape[:-1])
        model.coef_ = coef
        restore_what_was_seen(model, state, arrays)
    return model


# -- what the models of several classes share --------------------------------------------------


def plain_parameters(model: Any) -> dict[str, Any]:
    """Parameters of a fitted model as JSON can hold them; a generator becomes its seed."""
    parameters = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in model.get_params().items()
    }
    if not isinstance(parameters["random_state"], int | None):
        parameters["random_state"] = model.seed_
    return parameters


def what_was_seen(model: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Names, counts, θ and observed nodes of a fitted model, as state and arrays of its file."""
    state = {
        "n_first": model._n_first,
        "seed_": model.seed_,
        "n_seen_": model.n_seen_,
        "n_numbered": model._table.n_numbered,
        "named": [name_to_json(name) for name in model._table.named],
        "n_features_in_": getattr(model, "n_features_in_", None),
        "has_feature_names": hasattr(model, "feature_names_in_"),
        "has_observed": model._record is not None,
        "observed_names": None,
    }
    arrays = {"coef_": model.coef_}
    if model._record is not None:
        observed = model._record.observed()
        arrays |= _observed_arrays(observed)
        if observed.names is not None:
            state["observed_names"] = [name_to_json(_savable(name)) for name in observed.names]
    return state, arrays


def restore_what_was_seen(
    model: Any, state: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Give a model, which has its table and θ, the rest of :func:`what_was_seen`."""
    table = model._table
    if len(table) != state["n_numbered"] + len(state["named"]):
        raise ValueError("a reference name is there twice")
    model._n_first = whole("n_first", state["n_first"])
    # keep_observed may have been set after training: what was kept is what counts.
    model._record = None
    if state["has_observed"]:
        observed = _restore_observed(arrays, state["observed_names"], len(table))
        if observed.Y.shape[1] != np.prod(model._targets, dtype=np.int64):
            raise ValueError("observed values and coef_ do not fit")
        whole("n_first", model._n_first, len(observed))
        model._record = Record([observed])
    model.n_seen_ = whole("n_seen_", state["n_seen_"])
    if state["n_features_in_"] is not None:
        # More columns than frequencies would let the compiled loops read beyond the table.
        model.n_features_in_ = whole("n_features_in_", state["n_features_in_"], len(table), 1)
    if state["has_feature_names"]:
        names = table.names[: model.n_features_in_]
        if not all(isinstance(name, str) for name in names):
            raise ValueError("a name of a column is not a string")
        model.feature_names_in_ = np.array(names, dtype=object)


def restore_names(state: dict[str, Any]) -> tuple[int, int, list[Hashable]]:
    """Seed, number of numbered nodes and names of the others."""
    if not isinstance(state["named"], list):
        raise ValueError("named is not a list")
    named = [name_from_json(item) for item in state["named"]]
    n_numbered = whole("n_numbered", state["n_numbered"], _MOST_NUMBERED)
    return whole("seed_", state["seed_"], 2**64 - 1), n_numbered, named


def checked_coef(
    arrays: dict[str, NDArray[Any]], n_frequencies: int, n_axes: tuple[int, ...]
) -> NDArray[np.float64]:
    """Parameters θ of a file, whose last axis has 2D numbers."""
    coef = arrays["coef_"]
    if coef.dtype != np.float64 or coef.shape[-1] != 2 * n_frequencies:
        raise ValueError(f"coef_ has shape {coef.shape} and type {coef.dtype}")
    if coef.ndim not in n_axes or coef.size == 0 or not np.isfinite(coef).all():
        raise ValueError("coef_ is not a finite array")
    return coef


def whole(name: str, value: Any, most: float = np.inf, least: int = 0) -> int:
    """Return a whole number of a file that lies between two others."""
    if type(value) is int and least <= value <= most:
        return value
    raise ValueError(f"{name} is {value!r}")


# -- observed nodes ----------------------------------------------------------------------------


def _observed_arrays(observed: Observed) -> dict[str, NDArray[Any]]:
    return {
        "observed_indptr": observed.rows.indptr,
        "observed_indices": observed.rows.indices,
        "observed_data": observed.rows.data,
        "observed_values": observed.Y,
        "observed_order": observed.order,
        "observed_rates": observed.rates,
        "observed_single": observed.single,
    }


def _restore_observed(
    arrays: dict[str, NDArray[Any]], names: list[Any] | None, n_columns: int
) -> Observed:
    """The observed rows of a file, checked: compiled loops trust their numbers."""
    observed = Observed(
        Rows(
            arrays["observed_indptr"].astype(np.int64, casting="safe"),
            arrays["observed_indices"].astype(np.int32, casting="safe"),
            arrays["observed_data"].astype(np.float64, casting="safe"),
        ),
        arrays["observed_values"].astype(np.float64, casting="safe"),
        arrays["observed_order"].astype(np.int64, casting="safe"),
        arrays["observed_rates"].astype(np.float64, casting="safe"),
        arrays["observed_single"].astype(np.bool_, casting="safe"),
        None if names is None else tuple(name_from_json(name) for name in names),
    )
    indptr, indices, data = observed.rows
    n = len(observed)
    sound = (
        indptr.ndim == observed.order.ndim == observed.single.ndim == 1
        and indptr[0] == 0
        and bool(np.all(np.diff(indptr) >= 0))
        and indices.shape == data.shape == (indptr[-1],)
        and bool(np.all((indices >= 0) & (indices < n_columns)))
        and observed.Y.shape[0] == observed.single.size == n
        and observed.Y.ndim == 2
        and observed.order.shape == observed.rates.shape
        and bool(np.all((observed.order >= 0) & (observed.order < n)))
        and bool(np.all((observed.rates > 0.0) & (observed.rates < 1.0)))
        and bool(np.isfinite(data).all() and np.isfinite(observed.Y).all())
        and (observed.names is None or len(observed.names) == n)
    )
    if not sound:
        raise ValueError("observed rows are not consistent")
    return observed


def _savable(name: Any) -> Any:
    """A name of an observed node as a file can hold it; a time stamp becomes its text."""
    if isinstance(name, tuple):
        return tuple(_savable(part) for part in name)
    return plain_name(name) if isinstance(name, _SAVED_NAMES) else str(name)
