"""What of an SKG model goes into its file: the seed and the names, not the frequencies."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.learners.model_file import (
    ModelFileError,
    name_from_json,
    name_to_json,
    write_model,
)
from gradraker.learners.sigma2 import check_sigma2


def save_skg(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted :class:`SKGRegressor` to ``path``."""
    parameters = {name: _plain(value) for name, value in model.get_params().items()}
    if not isinstance(parameters["random_state"], int | None):
        parameters["random_state"] = model.seed_
    state = {
        "sigma2_": model.sigma2_,
        "seed_": model.seed_,
        "n_seen_": model.n_seen_,
        "n_numbered": model._table.n_numbered,
        "named": [name_to_json(name) for name in model._table.named],
        "n_features_in_": getattr(model, "n_features_in_", None),
        "has_feature_names": hasattr(model, "feature_names_in_"),
    }
    return write_model(
        path,
        kind=type(model).__name__,
        parameters=parameters,
        state=state,
        arrays={"coef_": model.coef_},
    )


def restore_skg(
    cls: Any, path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> Any:
    """Make the model of class ``cls`` that a file describes, or refuse the file by name."""
    try:
        if header["class"] != cls.__name__:
            raise ValueError(f"it holds a model of class {header['class']!r}")
        model = cls(**header["parameters"])
        model._check_parameters()
        state, coef = header["state"], arrays["coef_"]
        if coef.dtype != np.float64 or coef.shape[-1] != 2 * model.n_frequencies:
            raise ValueError(f"coef_ has shape {coef.shape} and type {coef.dtype}")
        if coef.ndim not in (1, 2) or not np.isfinite(coef).all():
            raise ValueError("coef_ is not a finite vector or matrix")
        named = [name_from_json(item) for item in state["named"]]
        model._begin(
            float(check_sigma2(state["sigma2_"])),
            coef.shape[:-1],
            seed=int(state["seed_"]),
            n_numbered=int(state["n_numbered"]),
            named=named,
        )
        model.coef_ = coef
        model.n_seen_ = int(state["n_seen_"])
        if state["n_features_in_"] is not None:
            model.n_features_in_ = int(state["n_features_in_"])
        if state["has_feature_names"]:
            model.feature_names_in_ = np.array(named[: model.n_features_in_], dtype=object)
    except (KeyError, IndexError, TypeError, ValueError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"{os.fspath(path)!r} cannot be read: {error}") from None
    return model


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    return value.item() if isinstance(value, np.generic) else value
