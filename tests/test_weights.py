"""The adjoint pass against the literal recursion, and claim 3."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradraker.linear import weights
from gradraker.linear.weights import contribution_weights
from oracles import skg as skg_oracle
from oracles import weights as oracle


def _features(rng, n, n_frequencies):
    angles = rng.uniform(0, 2 * np.pi, (n, n_frequencies))
    return np.hstack([np.sin(angles), np.cos(angles)]) / np.sqrt(n_frequencies)


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 9),
    n_steps=st.integers(1, 20),
    n_tested=st.integers(1, 4),
    learning_rate=st.floats(0.001, 0.999),
    block=st.integers(1, 8),
)
def test_adjoint_pass_equals_recursion(seed, n, n_steps, n_tested, learning_rate, block):
    rng = np.random.default_rng(seed)
    Z, stars = _features(rng, n, 5), _features(rng, n_tested, 5)
    order = rng.integers(0, n, n_steps)
    expected = np.array(
        [oracle.contribution_weights(Z, order, star, learning_rate) for star in stars]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, "_BLOCK", block)
        many = contribution_weights(Z, order, stars, learning_rate)
    one = contribution_weights(Z, order, stars[0], learning_rate)
    # |F| <= 2 and sums of at most 20 terms: 1e-12 is some thousand times the rounding error.
    np.testing.assert_allclose(many, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one, expected[0], rtol=0, atol=1e-12)
    assert many.shape == (n_tested, n_steps)
    assert one.shape == (n_steps,)


def test_by_hand():
    # Orthonormal rows: a row that returns keeps (1 - 2η) of its weight; others have none.
    Z = np.eye(2)
    np.testing.assert_allclose(
        contribution_weights(Z, [0, 1, 0, 0], [1.0, 0.0], 0.1),
        [0.2 * 0.8 * 0.8, 0.0, 0.2 * 0.8, 0.2],
        rtol=1e-15,
    )


def test_claim_3_prediction_is_a_weighted_sum_of_values():
    rng = np.random.default_rng(3)
    Z, y = _features(rng, 12, 6), rng.normal(size=12)
    order = np.concatenate([rng.permutation(12) for _ in range(3)])
    theta = skg_oracle.train(Z, y, order, 0.2)
    stars = _features(rng, 5, 6)
    np.testing.assert_allclose(
        contribution_weights(Z, order, stars, 0.2) @ y[order], stars @ theta, rtol=1e-12
    )


def test_no_steps_no_weights():
    assert contribution_weights(np.eye(2), [], [1.0, 0.0], 0.1).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(2), [0], np.ones(3), 0.1), "z_star has 3 features, but Z has 2"),
        ((np.eye(2), [0, 2], np.ones(2), 0.1), "order must hold row numbers from 0 to 1"),
        ((np.eye(2), [-1], np.ones(2), 0.1), "order must hold row numbers from 0 to 1"),
        ((np.eye(2), [0.5], np.ones(2), 0.1), "order must be a list of row numbers"),
        ((np.eye(2), [[0]], np.ones(2), 0.1), "order must be a list of row numbers"),
        ((np.eye(2), [0], np.ones(2), 1.0), "learning_rate must be a number in"),
        ((np.eye(2) * np.nan, [0], np.ones(2), 0.1), "Z contains NaN"),
        ((np.eye(2), [0], np.ones(2) * np.inf, 0.1), "z_star contains infinity"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        contribution_weights(*arguments)
