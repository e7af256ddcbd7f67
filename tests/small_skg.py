"""A small SKG model, and explanations of it to compare."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import skg_examples
from gradraker import SKGRegressor
from gradraker.explain import Explanation

N, M, D = 12, 6, 8


def graph(seed: int = 0, n: int = N) -> NDArray[np.float64]:
    return (np.random.default_rng(seed).random((n, M)) < 0.4).astype(float)


def values(seed: Any = 1, shape: int | tuple[Any, ...] = (N,)) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=shape)


def regressor(**parameters: Any) -> SKGRegressor:
    return skg_examples.regressor(**{"n_frequencies": D, **parameters})


def fitted(**parameters: Any) -> SKGRegressor:
    return regressor(**parameters).fit(graph(), values())


def assert_same(a: Explanation, b: Explanation) -> None:
    """Two explanations have the same arrays, bit for bit."""
    for name in ("weights", "similarities", "squared_distances", "values", "prediction", "order"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_array_equal(a.by_time, b.by_time)
    assert list(a.known_names) == list(b.known_names)


def hand_made(weights: Any, values: Any, **changes: Any) -> Explanation:
    """An explanation with these weights (n, n_known)."""
    weights, values = np.array(weights, dtype=float), np.array(values, dtype=float)
    n, n_known = weights.shape
    fields = {
        "weights": weights,
        "similarities": 0.01 * np.arange(weights.size).reshape(weights.shape),
        "squared_distances": np.arange(weights.size, dtype=float).reshape(weights.shape),
        "values": values,
        "prediction": weights @ values,
        "order": np.arange(n_known),
        "node_names": [f"t{i}" for i in range(n)],
        "known_names": [f"o{i}" for i in range(n_known)],
        "sigma2": 2.0,
        "learning_rate": 0.1,
        "kernel": "gaussian",
        "_source": None,
    }
    return Explanation(**{**fields, **changes})
