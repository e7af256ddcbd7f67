"""SKGRegressor: equations (1) to (4), in every format of rows and values."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from gradraker import SKGRegressor
from gradraker.kernels.shift_invariant import KERNELS
from oracles import skg as oracle
from skg_examples import (
    FORMATS,
    GRAPHS,
    TARGETS,
    D,
    M,
    N,
    assert_close,
    expected_fit,
    regressor,
    signed,
    unweighted,
    values,
    weighted,
)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("target", TARGETS)
def test_fit_and_predict_equal_the_equations(
    kernel: str, shuffle: bool, graph: str, target: str
) -> None:
    X, y = GRAPHS[graph](), values(target)
    model = regressor(kernel=kernel, shuffle=shuffle).fit(X, y)
    coef, predictions = expected_fit(model, X, y)
    assert_close(model.coef_, coef)
    assert_close(model.predict(X), predictions)
    assert model.n_seen_ == 3 * N


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_of_rows_equals_the_equations(kind: str) -> None:
    X, y = weighted(), values()
    model = regressor().fit(FORMATS[kind](X), y)
    if hasattr(model, "feature_names_in_"):
        assert kind == "polars"  # its columns have names; the others have numbers or none
    coef, predictions = expected_fit(model, X, y)
    assert_close(model.coef_, coef)
    assert_close(model.predict(FORMATS[kind](X)), predictions)


@pytest.mark.parametrize("kind", [k for k in FORMATS if k != "polars"])
def test_every_format_of_rows_is_the_same_bit_for_bit(kind: str) -> None:
    X, y = weighted(), values()
    expected = regressor().fit(X, y)
    model = regressor().fit(FORMATS[kind](X), y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.predict(FORMATS[kind](X)), expected.predict(X))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint8, np.float16, object])
@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_other_number_types_become_float64(
    dtype: type[Any], make: Callable[..., Any] | type[Any]
) -> None:
    if make is sparse.csr_array and dtype in (object, np.float16):
        pytest.skip("SciPy has no such sparse arrays")
    X, y = unweighted(), values()
    model = regressor().fit(make(X.astype(dtype)), y)
    np.testing.assert_array_equal(model.coef_, regressor().fit(X, y).coef_)
    assert model.features(make(X.astype(dtype))).dtype == np.float64


@pytest.mark.parametrize(
    "make_y", [list, tuple, pd.Series, pl.Series, np.asfortranarray, lambda y: np.repeat(y, 2)[::2]]
)
def test_every_format_of_y(make_y: Callable[..., Any] | type[Any]) -> None:
    X, y = weighted(), values()
    coef = regressor().fit(X, y).coef_
    np.testing.assert_array_equal(regressor().fit(X, make_y(y)).coef_, coef)


def test_data_frames_of_values() -> None:
    X, y = weighted(), values("three")
    coef = regressor().fit(X, y).coef_
    for frame in (pd.DataFrame(y), pl.DataFrame(y), np.asfortranarray(y), y.tolist()):
        np.testing.assert_array_equal(regressor().fit(X, frame).coef_, coef)


@pytest.mark.parametrize("kernel", KERNELS)
def test_float32_rows_are_learned_to_single_precision(kernel: str) -> None:
    X, y = signed().astype(np.float32), values("three")
    model = regressor(kernel=kernel).fit(X, y)
    coef, predictions = expected_fit(model, X, y)
    assert model.features(X).dtype == np.float32
    assert model.coef_.dtype == model.predict(X).dtype == np.float64
    # A feature is rounded to 2⁻²⁴ ≈ 6e-8 of itself; the update contracts, so 120 steps add up to
    # a few of these errors. Projections and sums are float64, or Cauchy draws would do worse.
    assert_close(model.coef_, coef, rtol=1e-6)
    assert_close(model.predict(X), predictions, rtol=1e-6)


def test_float32_sparse_and_dense_are_the_same() -> None:
    X, y = signed().astype(np.float32), values()
    dense, rows = regressor().fit(X, y), regressor().fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(rows.coef_, dense.coef_)
    assert rows.features(sparse.csr_array(X)).dtype == np.float32


@pytest.mark.parametrize("kernel", KERNELS)
def test_angles_beyond_a_million_equal_the_equations(kernel: str) -> None:
    # One neighbour a row, with a weight that is a power of 2: angles are exact on both sides,
    # and sines of angles up to 2⁴⁰ are a matter of the reduction alone.
    rng = np.random.default_rng(0)
    X = np.zeros((N, M))
    X[np.arange(N), rng.integers(0, M, N)] = np.ldexp(1.0, rng.integers(0, 40, N))
    y = values()
    model = regressor(kernel=kernel, sigma2=4.0).fit(X, y)
    assert np.abs(X @ model.frequencies_).max() > 1e9
    coef, predictions = expected_fit(model, X, y)
    assert_close(model.coef_, coef)
    assert_close(model.predict(X), predictions)


def test_a_heavy_tailed_draw_equals_the_equations() -> None:
    # Of 2 million Cauchy draws some exceed 10⁵; a row that meets them is as exact as others.
    model = regressor(kernel="laplacian", n_frequencies=200, sigma2=1.0)
    model.partial_fit(np.zeros((1, 10_000)), [0.0])
    xi = model.frequencies_
    heavy = np.argsort(np.abs(xi).max(axis=1))[-5:]
    assert np.abs(xi[heavy]).max() > 1e5
    X = np.zeros((5, 10_000))
    X[np.arange(5), heavy] = 1.0
    expected = oracle.features(X[:, heavy], xi[heavy])
    np.testing.assert_allclose(model.features(X), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("n_frequencies", [1, 2, 3, 127, 128, 129])
@pytest.mark.parametrize("learning_rate", [1e-3, 0.5, 0.999])
def test_other_sizes_and_rates_equal_the_equations(
    n_frequencies: int, learning_rate: float
) -> None:
    X, y = weighted(), values()
    model = regressor(n_frequencies=n_frequencies, learning_rate=learning_rate, n_epochs=2)
    model.fit(X, y)
    coef, predictions = expected_fit(model, X, y)
    assert model.coef_.shape == (2 * n_frequencies,)
    assert_close(model.coef_, coef)
    assert_close(model.predict(X), predictions)


def test_the_first_step_by_hand() -> None:
    # θ₁ = 2η y z, so the first prediction is 2η y zᵀz = 2η y, as ‖z‖ = 1.
    X = weighted()[:1]
    model = regressor(learning_rate=0.3).partial_fit(X, [5.0])
    assert model.predict(X)[0] == pytest.approx(2 * 0.3 * 5.0, rel=1e-14)
    np.testing.assert_allclose(model.coef_, 0.6 * 5.0 * model.features(X)[0], rtol=1e-14)
    # The second leaves (1 − 2η)² of the error.
    model.partial_fit(X, [5.0])
    assert model.predict(X)[0] == pytest.approx(5.0 * (1 - 0.4**2), rel=1e-13)


def test_claim_3_predictions_are_weighted_sums_of_values() -> None:
    # F by the recursion of the paper; doubling one value moves the prediction by F times it.
    X, y = weighted()[:8], values()[:8]
    model = regressor(n_epochs=1, shuffle=False).fit(X[:7], y[:7])
    Z = model.features(X)
    B = 2 * model.learning_rate * Z @ Z.T
    F = np.zeros(7)
    for i in range(6, -1, -1):
        F[i] = B[i, 7] - B[i, i + 1 : 7] @ F[i + 1 :]
    assert model.predict(X[7:])[0] == pytest.approx(F @ y[:7], rel=1e-12)


def test_targets_are_learned_independently() -> None:
    X, y = weighted(), values("three")
    together = regressor().fit(X, y)
    for k in range(3):
        alone = regressor().fit(X, y[:, k])
        np.testing.assert_array_equal(together.coef_[k], alone.coef_)
        np.testing.assert_array_equal(together.predict(X)[:, k], alone.predict(X))


@pytest.mark.parametrize(
    ("target", "shape", "predicted"),
    [("one", (2 * D,), (N,)), ("column", (1, 2 * D), (N, 1)), ("three", (3, 2 * D), (N, 3))],
)
def test_shapes_of_coefficients_and_predictions_follow_the_targets(
    target: str, shape: tuple[Any, ...], predicted: tuple[Any, ...]
) -> None:
    model = regressor().fit(weighted(), values(target))
    assert model.coef_.shape == shape
    assert model.predict(weighted()).shape == predicted
    assert model.predict(weighted()[:1]).shape == (1, *predicted[1:])
    assert model.features(weighted()).shape == (N, 2 * D)
    assert model.frequencies_.shape == (M, D)
    assert model.n_features_in_ == M
    assert list(model.references_) == list(range(M))
    assert model.sigma2_ == 1.5
    assert isinstance(model.sigma2_, float)


def test_score_is_r_squared() -> None:
    X, y = weighted(), values()
    model = regressor().fit(X, y)
    residual = np.sum((y - model.predict(X)) ** 2)
    assert model.score(X, y) == pytest.approx(1 - residual / np.sum((y - y.mean()) ** 2))


def test_theory_is_the_largest_squared_distance_over_log_2d() -> None:
    X, y = weighted(), values()
    largest = max(np.sum((a - b) ** 2) for a in X for b in X)
    model = regressor(sigma2="theory").fit(X, y)
    assert model.sigma2_ == pytest.approx(largest / math.log(2 * D), rel=1e-12)
    np.testing.assert_allclose(
        model.coef_, regressor(sigma2=model.sigma2_).fit(X, y).coef_, rtol=1e-12
    )


def test_smooth_function_of_neighbours_is_learned_better_than_its_mean() -> None:
    # A value that is a smooth function of the neighbours is learned far better than its mean.
    rng = np.random.default_rng(0)
    X = (rng.random((600, 30)) < 0.2).astype(float)
    y = X @ rng.random(30)
    model = SKGRegressor(sigma2=30.0, n_epochs=20, random_state=0).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.8
