"""Rows, values and a bank of five kernels that tests share."""

from typing import Any

import numpy as np

from gradraker import GradrakerRegressor

N, M, D = 40, 12, 16
RNG = np.random.default_rng(0)
X = (RNG.random((N, M)) < 0.3) * RNG.random((N, M))
Y = RNG.normal(size=N)
Y3 = RNG.normal(size=(N, 3))
NAMES = [f"node {m}" for m in range(M)]
KERNEL_LIST = [0.1, 1.5, "theory", ("laplacian", 2.0), ("cauchy", "median")]


def bank(**parameters: Any) -> GradrakerRegressor:
    return GradrakerRegressor(
        **{
            "kernels": KERNEL_LIST,
            "n_frequencies": D,
            "learning_rate": 0.2,
            "random_state": 3,
            "keep_weights": True,
            **parameters,
        }
    )


def assert_equal_models(model: GradrakerRegressor, other: GradrakerRegressor) -> None:
    np.testing.assert_array_equal(model.coef_, other.coef_)
    np.testing.assert_array_equal(model.kernel_weights_, other.kernel_weights_)
    np.testing.assert_array_equal(model.member_losses_, other.member_losses_)
    np.testing.assert_array_equal(model.weights_history_, other.weights_history_)
    assert model.loss_ == other.loss_
    assert model.n_seen_ == other.n_seen_
