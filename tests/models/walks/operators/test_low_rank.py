"""Features in low rank against the Gaussian kernel."""

from typing import Any

import numpy as np
import pytest

from gradraker.models.walks.operators.low_rank import make_gaussian_features
from oracles import nodes as oracle


def _kernel(X: Any, width: Any, median: Any) -> Any:
    return np.exp(-oracle.squared_distances(X) / (2.0 * width * median))


@pytest.mark.parametrize("width", [0.5, 4.0])
def test_features_of_landmarks_have_the_gaussian_kernel(width: Any) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    features = make_gaussian_features(X, width)
    assert features is not None
    Z = features.compute(X)
    K = _kernel(X, width, oracle.median(oracle.squared_distances(X)))
    # Eigenvalues below 10⁻⁶ of the largest, which is 60 at most, were cut off.
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-4)
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0, atol=1e-12)


def test_features_of_other_nodes_come_near_the_gaussian_kernel() -> None:
    rng = np.random.default_rng(1)
    landmarks, others = rng.normal(size=(256, 3)), rng.normal(size=(50, 3))
    features = make_gaussian_features(landmarks, 4.0)
    assert features is not None
    Z = features.compute(others)
    K = _kernel(others, 4.0, oracle.median(oracle.squared_distances(landmarks)))
    # The kernel is smooth: 256 landmarks leave errors of some 10⁻³, most of them at the rim.
    np.testing.assert_allclose(Z @ Z.T, K, atol=0.02)
    assert np.sqrt(np.mean((Z @ Z.T - K) ** 2)) < 2e-3
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0, atol=1e-12)


def test_equal_landmarks_have_no_features() -> None:
    assert make_gaussian_features(np.ones((9, 2)), 4.0) is None


def test_a_node_far_from_all_landmarks_has_finite_features() -> None:
    landmarks = np.random.default_rng(0).normal(size=(20, 2))
    features = make_gaussian_features(landmarks, 0.5)
    assert features is not None
    Z = features.compute(np.array([[1e6, -1e6]]))
    assert np.isfinite(Z).all()
