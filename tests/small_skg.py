"""A small SKG model, and explanations of it to compare."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker import SKGRegressor
from gradraker.explain import Explanation

N, M, D = 12, 6, 8


def graph(seed: int = 0, n: int = N) -> NDArray[np.float64]:
    return (np.random.default_rng(seed).random((n, M)) < 0.4).astype(float)


def values(seed: Any = 1, shape: int | tuple[Any, ...] = (N,)) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=shape)


def regressor(**parameters: Any) -> SKGRegressor:
    return SKGRegressor(
        **{"sigma2": 1.5, "n_frequencies": D, "learning_rate": 0.2, "random_state": 3, **parameters}
    )


def fitted(**parameters: Any) -> SKGRegressor:
    return regressor(**parameters).fit(graph(), values())


def assert_same(a: Explanation, b: Explanation) -> None:
    """Two explanations have the same arrays, bit for bit."""
    for name in ("weights", "similarities", "squared_distances", "values", "prediction", "order"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_array_equal(a.by_time, b.by_time)
    assert list(a.known_names) == list(b.known_names)
