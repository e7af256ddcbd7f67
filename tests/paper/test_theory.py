"""The paper's claims, as tests of what the library computes.

Seeds are fixed, so the tests always give the same answer. An estimate is compared with its
expectation to 4.5 standard errors: with fresh seeds one comparison would fail with probability
7e-6, all in this file with probability below 1e-3. Where a bound was chosen by measurement, the
comment gives what 30 seeds showed.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kstest

from gradraker import SKGRegressor
from gradraker.explain import (
    conformity_factor,
    kernel_contribution_weights,
    kernel_similarity_measure,
)
from paper_samples import (
    AVERAGING,
    CHAOS,
    DISTURBING,
    ETA,
    EXTENDING,
    D,
    assert_mean,
    assert_variance,
)

pytestmark = pytest.mark.statistical


MOST = 100_000  # frequencies of one model


def compute_cosines(
    a: NDArray[np.float64], b: NDArray[np.float64], *, sigma2: float, n: int, seed: Any = 0
) -> Any:
    """cos ξᵀ(a − b) for n frequencies ξ: the terms of B, equation (bijval)."""
    X = np.array([a, b], dtype=float)
    terms = []
    for start in range(0, n, MOST):  # seeds of models are apart from those of other tests
        m = min(MOST, n - start)
        model = SKGRegressor(
            sigma2=sigma2, n_frequencies=m, n_epochs=1, random_state=seed + 1000 * (start // MOST)
        )
        products = np.prod(model.fit(X, [0.0, 0.0]).features(X), axis=0)  # [2m]
        terms.append(m * (products[:m] + products[m:]))
    return np.concatenate(terms)


def make_pair(squared_distance: Any, n_common: Any = 3) -> tuple[Any, ...]:
    """Two 0/1 rows at that distance, with some neighbours in common."""
    a = np.ones(n_common + squared_distance)
    b = a.copy()
    b[n_common:] = 0.0
    return a, b


# -- claims 1 and 2: the draws -----------------------------------------------------------------


@pytest.mark.parametrize("sigma2", [0.1, 1.0, 300.0])
def test_claim_1_frequencies_are_normal_with_variance_one_over_sigma2(sigma2: float) -> None:
    model = SKGRegressor(sigma2=sigma2, n_frequencies=4000, random_state=1)
    xi = model.fit(np.eye(5), np.zeros(5)).frequencies_  # [5, 4000]
    assert kstest(xi.ravel() * np.sqrt(sigma2), "norm").pvalue > 1e-5
    assert_mean(xi.ravel(), 0.0)
    assert_variance(xi.ravel(), 1.0 / sigma2)
    for other in xi[1:]:  # N(0, σ⁻² I): entries of a vector are independent
        assert_mean(xi[0] * other * sigma2, 0.0)


@pytest.mark.parametrize("squared_distance", [1, 4, 15, 27])
@pytest.mark.parametrize("sigma2", [2.0, 10.0])
def test_claim_2_mean_and_variance_of_the_cosine(squared_distance: int, sigma2: float) -> None:
    terms = compute_cosines(*make_pair(squared_distance), sigma2=sigma2, n=50_000)
    variance = squared_distance / sigma2  # of X = ξᵀd
    assert_mean(terms, np.exp(-variance / 2))
    assert_variance(terms, (np.exp(-variance) - 1) ** 2 / 2)


# -- section III.A: properties of B ------------------------------------------------------------


def draw_similarities(
    squared_distance: Any, *, sigma2: float, n_draws: int, n_frequencies: int = D
) -> Any:
    """B of one pair of nodes in many independent draws of the frequencies."""
    terms = compute_cosines(*make_pair(squared_distance), sigma2=sigma2, n=n_draws * n_frequencies)
    return 2 * ETA * terms.reshape(n_draws, n_frequencies).mean(axis=1)


@pytest.mark.parametrize("sigma2", [CHAOS, EXTENDING, DISTURBING, AVERAGING])
def test_exponential_approximation_is_the_mean_of_b(sigma2: float) -> None:
    for squared_distance in (1, 4, 15, 27):
        exact = kernel_similarity_measure(
            np.subtract(*make_pair(squared_distance)), sigma2=sigma2, learning_rate=ETA
        )
        assert exact == pytest.approx(2 * ETA * np.exp(-squared_distance / (2 * sigma2)))
        assert_mean(draw_similarities(squared_distance, sigma2=sigma2, n_draws=500), exact)


def test_variance_of_b_grows_with_the_distance() -> None:
    """Section IV.B prints "decreasing"; its own equation grows from 0 at d = 0 to the bound."""
    sigma2, bound = 10.0, (2 * ETA) ** 2 / (2 * D)
    distances = np.array([1, 4, 9, 15, 27])
    samples = np.array([draw_similarities(d, sigma2=sigma2, n_draws=3000) for d in distances]).T
    expected = bound * (1 - np.exp(-distances / sigma2)) ** 2
    assert_variance(samples, expected)
    assert np.all(np.diff(samples.var(axis=0)) > 0)
    assert np.all(samples.var(axis=0) < bound)


def test_variance_of_b_is_zero_at_distance_zero() -> None:
    a, _ = make_pair(0)
    assert np.ptp(compute_cosines(a, a, sigma2=10.0, n=1000)) < 1e-13


@pytest.mark.parametrize("n_frequencies", [50, 800])
def test_variance_of_b_far_away_is_the_bound(n_frequencies: int) -> None:
    samples = draw_similarities(27, sigma2=0.5, n_draws=3000, n_frequencies=n_frequencies)
    assert_variance(samples, (2 * ETA) ** 2 / (2 * n_frequencies))


# -- section III.B: properties of F ------------------------------------------------------------


def test_claim_3_at_every_time_of_training() -> None:
    """The prediction at time t, before its value is used, is Σ y_i F_{i,t}, to rounding."""
    rng = np.random.default_rng(0)
    names = [f"node {m}" for m in range(8)]
    model = SKGRegressor(sigma2=2.0, n_frequencies=20, learning_rate=0.3, random_state=0)
    for t in range(30):
        row, value = (rng.random(8) < 0.4).astype(float), 10 * rng.normal()
        if t > 0:
            explanation = model.explain([row], references=names)
        neighbours = [name for name, weight in zip(names, row, strict=True) if weight]
        prediction = model.learn_one(neighbours, value)
        if t > 0:
            weighted_sum = explanation.by_time[0] @ explanation.values[explanation.order]
            assert prediction == pytest.approx(weighted_sum, rel=0, abs=1e-12)


def make_cube_rows(rng: np.random.Generator, n: int, n_columns: int) -> NDArray[np.float64]:
    """Corners of a cube, uniformly: every corner has equally similar others on average."""
    return (rng.random((n, n_columns)) < 0.5).astype(float)


def compute_mean_similarity(n_columns: int, sigma2: float) -> Any:
    """b = E[B] for corners of a cube: entries differ with probability ½, independently."""
    return 2 * ETA * ((1 + np.exp(-1 / (2 * sigma2))) / 2) ** n_columns


def compute_sums_of_weights(
    n: int, n_epochs: int, *, n_columns: Any = 10, sigma2: Any = 1.0, n_repeats: Any = 600
) -> tuple[Any, ...]:
    """ΣF of an unknown corner by the exact kernel and by SKG, and F over time, of each repeat."""
    rng = np.random.default_rng(n)
    exact, features, by_time = [], [], []
    for repeat in range(n_repeats):
        X = make_cube_rows(rng, n + 1, n_columns)
        order = np.concatenate([rng.permutation(n) for _ in range(n_epochs)])
        F = kernel_contribution_weights(X[:n], order, X[n], sigma2=sigma2, learning_rate=ETA)
        model = SKGRegressor(
            sigma2=sigma2,
            n_frequencies=D,
            learning_rate=ETA,
            n_epochs=n_epochs,
            random_state=repeat,
        )
        explanation = model.fit(X[:n], np.zeros(n)).explain(X[n:])
        exact.append(F.sum())
        features.append(explanation.sum_of_weights[0])
        by_time.append(F)
    return exact, features, by_time


def test_claim_4_in_one_epoch_of_independent_rows() -> None:
    """There B_{i,k} and F_{k,j} are uncorrelated, and E[ΣF] = 1 − (1 − b)^T."""
    n, b = 40, compute_mean_similarity(10, 1.0)
    exact, features, by_time = compute_sums_of_weights(n, 1)
    claimed = 1 - (1 - b) ** n
    assert 0.5 < claimed < 0.7
    assert_mean(exact, claimed)
    assert_mean(features, claimed)
    # Its proof gives each weight: E[F_{i,T+1}] = b (1 − b)^{T−i}.
    assert_mean(by_time, b * (1 - b) ** np.arange(n - 1, -1, -1))


def test_claim_4_fails_with_several_epochs() -> None:
    """A node that returns has B = 2η with itself: weights sum to less than the claim says."""
    n, n_epochs, b = 10, 4, compute_mean_similarity(10, 1.0)
    claimed = 1 - (1 - b) ** (n * n_epochs)
    for sums in compute_sums_of_weights(n, n_epochs)[:2]:
        error = np.std(sums, ddof=1) / np.sqrt(len(sums))
        assert np.mean(sums) < claimed - 15 * error
        assert claimed - np.mean(sums) > 0.1


def test_claim_4_fails_where_some_rows_have_more_similar_others() -> None:
    """In one epoch too: two kinds of rows, far apart, 90 % and 10 % of all.

    A row takes weight from the n of T rows of its kind: ΣF = 1 − (1 − 2η)ⁿ. So E[ΣF] is
    1 − Σ p (1 − 2ηp)^T, below the claim, since rare rows see few of their kind.
    """
    n, shares, b = 40, np.array([0.9, 0.1]), 2 * ETA * (0.9**2 + 0.1**2)
    X = np.array([[0.0], [1000.0]])
    rng = np.random.default_rng(0)
    sums = []
    for _ in range(2000):
        *order, unknown = (rng.random(n + 1) < shares[1]).astype(int)
        F = kernel_contribution_weights(X, order, X[unknown], sigma2=1.0, learning_rate=ETA)
        assert F.sum() == pytest.approx(1 - (1 - 2 * ETA) ** order.count(unknown), abs=1e-12)
        sums.append(F.sum())
    assert_mean(sums, 1 - np.sum(shares * (1 - 2 * ETA * shares) ** n))
    assert np.mean(sums) < (1 - (1 - b) ** n) - 0.03


def compute_alpha_2(rows: Any, *, sigma2: float, learning_rate: float) -> Any:
    """α₂ of equation (spj2), for nodes at times j − 2, j − 1 and j."""
    first, _, last = rows = np.array(rows, dtype=float)
    F = kernel_contribution_weights(
        rows[:2], [0, 1], last, sigma2=sigma2, learning_rate=learning_rate
    )
    B = kernel_similarity_measure(first - last, sigma2=sigma2, learning_rate=learning_rate)
    return conformity_factor([B, F[1]], F)[0]


@settings(deadline=None)
@given(
    rows=st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5), min_size=3, max_size=3),
    sigma2=st.floats(0.5, 300.0),
    learning_rate=st.floats(0.001, 0.4),
)
def test_alpha_is_at_most_two_eta_for_rows_of_zeros_and_ones(
    rows: Any, sigma2: Any, learning_rate: Any
) -> None:
    """‖d‖² of 0/1 rows is the Hamming distance, for which the triangle inequality holds."""
    found = compute_alpha_2(rows, sigma2=sigma2, learning_rate=learning_rate)
    assert 0 < found <= 2 * learning_rate * (1 + 1e-9)


def test_alpha_exceeds_two_eta_for_weighted_rows() -> None:
    """On a line at 0, 1, 2: 1 + 1 < 4, so ‖d‖² breaks the triangle inequality."""
    found = compute_alpha_2([[0.0], [1.0], [2.0]], sigma2=1.0, learning_rate=ETA)
    assert found == pytest.approx(2 * ETA * np.exp((4 - 1 - 1) / 2), rel=1e-12)
    assert found > 2 * ETA
