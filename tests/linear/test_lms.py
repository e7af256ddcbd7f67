"""The adjoint pass against the literal recursion, and claim 3."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gradraker.kernels.distances import canonical_rows
from gradraker.kernels.distances.canonical_rows import group_equal_rows
from gradraker.linear import lms
from gradraker.linear.lms import contribution_weights
from oracles import skg as skg_oracle
from oracles import weights as oracle
from skg_examples import unit_features


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 9),
    n_steps=st.integers(1, 20),
    n_tested=st.integers(1, 4),
    learning_rate=st.floats(0.001, 0.999),
    block=st.integers(1, 8),
)
def test_adjoint_pass_equals_recursion(
    seed: Any, n: Any, n_steps: Any, n_tested: Any, learning_rate: Any, block: Any
) -> None:
    rng = np.random.default_rng(seed)
    Z, stars = unit_features(rng, n, 5), unit_features(rng, n_tested, 5)
    order = rng.integers(0, n, n_steps)
    expected = np.array(
        [oracle.contribution_weights(Z, order, star, learning_rate) for star in stars]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lms, "_BLOCK", block)
        many = contribution_weights(Z, order, stars, learning_rate)
    one = contribution_weights(Z, order, stars[0], learning_rate)
    # |F| <= 2 and sums of at most 20 terms: 1e-12 is some thousand times the rounding error.
    np.testing.assert_allclose(many, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one, expected[0], rtol=0, atol=1e-12)
    assert many.shape == (n_tested, n_steps)
    assert one.shape == (n_steps,)


def test_weights_of_orthonormal_rows_by_hand() -> None:
    # Orthonormal rows: a row that returns keeps (1 - 2η) of its weight; others have none.
    Z = np.eye(2)
    np.testing.assert_allclose(
        contribution_weights(Z, [0, 1, 0, 0], [1.0, 0.0], 0.1),
        [0.2 * 0.8 * 0.8, 0.0, 0.2 * 0.8, 0.2],
        rtol=1e-15,
    )


def test_prediction_is_weighted_sum_of_values_claim_3() -> None:
    rng = np.random.default_rng(3)
    Z, y = unit_features(rng, 12, 6), rng.normal(size=12)
    order = np.concatenate([rng.permutation(12) for _ in range(3)])
    theta = skg_oracle.train(Z, y, order, 0.2)
    stars = unit_features(rng, 5, 6)
    np.testing.assert_allclose(
        contribution_weights(Z, order, stars, 0.2) @ y[order], stars @ theta, rtol=1e-12
    )


def test_no_steps_give_no_weights() -> None:
    assert contribution_weights(np.eye(2), [], [1.0, 0.0], 0.1).shape == (0,)


@pytest.mark.parametrize("way", ["_run_one_by_one", "_run_kernel_passes", "_solve_blocks"])
@pytest.mark.parametrize("n_times", [1, 7, 30])
def test_each_method_for_weights_of_many_nodes_equals_recursion(
    way: str, n_times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lms, "_BLOCK", 7)
    rng = np.random.default_rng(n_times)
    angles = rng.uniform(0, 2 * np.pi, (10, 3))
    Z = np.hstack([np.sin(angles), np.cos(angles)]) / np.sqrt(3)
    Z, stars = Z[[0, 1, 1, 2, 3, 0]], Z[[4, 5, 1, 4, 6]]  # rows that are equal on both sides
    order = rng.integers(0, 6, n_times)
    found = np.full((5, n_times), np.nan)
    first, number = group_equal_rows(Z)
    first_stars, number_of_star = group_equal_rows(stars)
    assert len(first) == len(first_stars) == 4
    many = lms._PredictedNodes(
        Z[first], number[order], np.full(n_times, 0.6), stars[first_stars], number_of_star
    )
    getattr(lms, way)(many, found)
    expected = [oracle.contribution_weights(Z, order, star, 0.3) for star in stars]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("n_tested", "n_observed", "rates", "way"),
    [
        (3, 90, 0.1, "_run_one_by_one"),
        (300, 90, 0.1, "_run_kernel_passes"),
        (300, 90, np.linspace(0.1, 0.2, 270), "_solve_blocks"),  # the kernel's way has one rate
        (300, 130, 0.1, "_solve_blocks"),  # the matrix of the kernel would be larger than Z
    ],
)
def test_method_for_weights_of_many_nodes_depends_on_sizes(
    n_tested: int,
    n_observed: int,
    rates: NDArray[np.float64] | float,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = []
    for name in ("_run_one_by_one", "_run_kernel_passes", "_solve_blocks"):
        original = getattr(lms, name)

        def spy(many: Any, weights: Any, name: Any = name, original: Any = original) -> None:
            used.append(name)
            original(many, weights)

        monkeypatch.setattr(lms, name, spy)
    rng = np.random.default_rng(0)
    Z, stars = rng.normal(size=(n_observed, 100)), rng.normal(size=(n_tested, 100))
    Z, stars = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (Z, stars))
    order = np.tile(np.arange(n_observed), 3)
    many = contribution_weights(Z, order, stars, rates)
    assert used == [way]
    one = contribution_weights(Z, order, stars[1], rates)
    np.testing.assert_allclose(many[1], one, rtol=0, atol=1e-13)


def test_weights_of_rows_that_differ_but_have_one_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    hash_rows = canonical_rows._hash_rows
    monkeypatch.setattr(
        canonical_rows,
        "_hash_rows",
        lambda Z, seed: hash_rows(Z, seed) if seed else np.zeros(len(Z), dtype=np.uint64),
    )
    Z, stars = np.eye(3), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(
        contribution_weights(Z, [0, 1, 0], stars, 0.25), [[0.25, 0, 0.5], [0, 0.5, 0]], atol=1e-15
    )


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
def test_contribution_weights_refuses_bad_input(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        contribution_weights(*arguments)


@pytest.mark.parametrize(
    "rates", [[0.5, 0.0], [0.5, 1.0], [-0.1, 0.5], [0.5, 1.5], [0.5], [0.5] * 3]
)
def test_a_rate_for_each_step_must_be_between_0_and_1(rates: list[float]) -> None:
    Z = np.eye(2)
    message = (
        r"^learning_rate must be a number in \(0, 1\) or 2 of them, one for each time, got an "
        rf"array of shape \({len(rates)},\)$"
    )
    with pytest.raises(ValueError, match=message):
        contribution_weights(Z, [0, 1], Z, rates)


def test_rates_may_be_a_list_or_single_precision() -> None:
    Z = unit_features(np.random.default_rng(0), 3, 2)
    expected = contribution_weights(Z, [0, 1], Z, np.array([0.5, 0.25]))
    for rates in ([0.5, 0.25], np.array([0.5, 0.25], dtype=np.float32)):
        np.testing.assert_array_equal(contribution_weights(Z, [0, 1], Z, rates), expected)


@pytest.mark.parametrize("factors", [None, np.linspace(0.5, 2.0, 12)], ids=["as they are", "times"])
def test_weights_are_summed_by_node_in_batches(
    monkeypatch: pytest.MonkeyPatch, factors: NDArray[np.float64] | None
) -> None:
    rng = np.random.default_rng(0)
    Z, stars = unit_features(rng, 6, 5), unit_features(rng, 5, 5)
    order = rng.integers(0, 4, 12)  # the last two nodes are never learned
    rates = np.full(12, 0.2)
    weights = contribution_weights(Z, order, stars, rates)
    monkeypatch.setattr(lms, "_BATCH_BYTES", 2 * 8 * 12 + 50)  # two predicted nodes at a time
    batches = list(lms.iterate_weight_batches(Z, order, stars, rates))
    assert [range(5)[batch] for batch, _ in batches] == [range(2), range(2, 4), range(4, 5)]
    for batch, found in batches:
        np.testing.assert_allclose(found, weights[batch], rtol=1e-10)
    expected = np.zeros((5, 6))
    for step, node in enumerate(order):
        expected[:, node] += weights[:, step] * (1.0 if factors is None else factors[step])
    found = lms.sum_weights_by_node(Z, order, stars, rates, factors)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-15)
