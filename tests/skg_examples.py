"""Graphs, values and an SKG model that tests of its equations share."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from gradraker import SKGRegressor
from oracles import skg as oracle

N, M, D = 40, 12, 16
NAMES = [f"node {m}" for m in range(M)]

FORMATS = {
    "dense": np.array,
    "fortran": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "lil": sparse.lil_array,
    "dok": sparse.dok_array,
    "bsr": sparse.bsr_array,
    "dia": sparse.dia_array,
    "pandas": pd.DataFrame,
    "pandas sparse": lambda X: pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(X)),
    "polars": pl.DataFrame,
}


def unweighted(seed: int = 0) -> NDArray[np.float64]:
    return (np.random.default_rng(seed).random((N, M)) < 0.3).astype(float)


def weighted(seed: Any = 0) -> NDArray[np.float64]:
    return unweighted(seed) * np.random.default_rng(seed + 1).random((N, M))


def signed(seed: int = 0) -> NDArray[np.float64]:
    return unweighted(seed) * np.random.default_rng(seed + 1).normal(size=(N, M))


GRAPHS = {"unweighted": unweighted, "weighted": weighted, "signed": signed}
TARGETS = {
    "one": lambda rng: rng.normal(size=N),
    "column": lambda rng: rng.normal(size=(N, 1)),
    "three": lambda rng: rng.normal(size=(N, 3)),
    "integers": lambda rng: rng.integers(0, 5, N),
}


def values(kind: str = "one", seed: int = 5) -> Any:
    return TARGETS[kind](np.random.default_rng(seed))


def regressor(**parameters: Any) -> SKGRegressor:
    return SKGRegressor(
        **{"sigma2": 1.5, "n_frequencies": D, "learning_rate": 0.2, "random_state": 3, **parameters}
    )


def unit_features(rng: np.random.Generator, n: int, n_frequencies: int) -> Any:
    """Features of random angles: rows of norm 1."""
    angles = rng.uniform(0, 2 * np.pi, (n, n_frequencies))
    return np.hstack([np.sin(angles), np.cos(angles)]) / np.sqrt(n_frequencies)


def expected_fit(model: SKGRegressor, X: NDArray[Any], y: NDArray[Any]) -> tuple[Any, ...]:
    """``coef_`` and predictions by the oracle, from the frequencies of a fitted model."""
    Z = oracle.features(X, model.frequencies_)
    order = oracle.orders(model.seed_, len(X), model.n_epochs, shuffle=model.shuffle)
    theta = oracle.train(Z, y, order, model.learning_rate)
    return theta, oracle.predict(Z, theta)


def assert_close(
    found: NDArray[np.float64], expected: NDArray[np.float64], rtol: float = 1e-10
) -> None:
    """Equal shapes, and equal to ``rtol`` relative to the largest entry."""
    assert np.shape(found) == np.shape(expected)
    assert np.max(np.abs(found - expected)) <= rtol * np.max(np.abs(expected))
