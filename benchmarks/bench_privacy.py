"""What features z reveal: how often links are recovered from z, and the cost of noise.

With the frequencies known, an attacker looks for links that explain z: greedily, one link at a
time, and where phases do not wrap by nonnegative least squares on the angles. The result can be
verified, since the right links give z exactly. Counted are rows of 0/1 links that are found
exactly.

Run: python benchmarks/bench_privacy.py [--rows 10] [--tiny]
"""

import argparse
import math

import numpy as np
from scipy.optimize import brentq, nnls
from scipy.stats import norm

from gradraker import SKGRegressor, gnmse, load_temperature
from gradraker.datasets import split_nodes
from gradraker.explain import kernel_similarity_measure, similarity_measure
from machine import print_facts
from report import Finding, Report

N_REFERENCES = 500
DEGREES = (2, 5, 10, 20, 40)
FREQUENCIES = (10, 25, 50, 100, 200, 400)
DELTA = 1e-5


def recover_links(z: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """Links (0/1) that explain features z under known frequencies xi (M, D), as far as found."""
    n_frequencies = xi.shape[1]
    phases = z[n_frequencies:] + 1j * z[:n_frequencies]
    phases = phases / np.abs(phases)
    angles = np.angle(phases)
    for guess in (
        nnls(xi.T, angles, maxiter=10 * xi.shape[0])[0].round(),
        _search_greedily(phases, xi),
    ):
        if np.allclose(np.exp(1j * (guess @ xi)), phases, atol=1e-6):
            return guess
    return np.full(xi.shape[0], np.nan)


def _search_greedily(phases: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """Add or remove the link that brings the features closest to z."""
    turns = np.exp(-1j * xi)  # [M, D]
    links, rest = np.zeros(xi.shape[0]), phases.copy()
    closeness = rest.real.mean()
    for _ in range(4 * max(DEGREES)):
        scores = np.where(
            links > 0, (rest / turns).real.mean(axis=1), (rest * turns).real.mean(axis=1)
        )
        m = int(scores.argmax())
        if scores[m] <= closeness:
            break
        rest = rest / turns[m] if links[m] else rest * turns[m]
        links[m], closeness = 1.0 - links[m], scores[m]
    return links


def measure_recovery(degree: int, n_frequencies: int, sigma2: float, n_rows: int) -> float:
    """Fraction of random rows with ``degree`` links that are recovered from z exactly."""
    rng = np.random.default_rng([degree, n_frequencies])
    found = 0
    for seed in range(n_rows):
        a = np.zeros(N_REFERENCES)
        a[rng.permutation(N_REFERENCES)[:degree]] = 1.0
        node = SKGRegressor(sigma2=sigma2, n_frequencies=n_frequencies, random_state=seed)
        z = node.features(a[np.newaxis])[0]
        unit_features = node.features(np.eye(N_REFERENCES))
        xi = np.arctan2(unit_features[:, :n_frequencies], unit_features[:, n_frequencies:])
        found += np.array_equal(recover_links(z, xi), a)
    return found / n_rows


def find_noise(sensitivity: float, epsilon: float) -> float:
    """Standard deviation of Gaussian noise that makes one release (ε, δ)-private."""

    def excess(deviation: float) -> float:
        shift, slope = sensitivity / (2 * deviation), epsilon * deviation / sensitivity
        delta = norm.cdf(shift - slope) - math.exp(epsilon) * norm.cdf(-shift - slope)
        return float(delta - DELTA)

    return float(brentq(excess, 1e-3 * sensitivity, 1e4 * sensitivity))


def measure_noisy_error(epsilon: float | None, n_repeats: int) -> float:
    """GNMSE on Temperature-Jan if nodes add noise that hides one link each; None without noise."""
    data = load_temperature()
    y, errors = data.scale_values(), []
    for repeat in range(n_repeats):
        known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(repeat))
        X = data.adjacency[:, known]
        node = SKGRegressor(sigma2=8.0, random_state=repeat)
        Z, stars = node.features(X[known]), node.features(X[unknown])
        rng = np.random.default_rng(repeat)
        rate = 0.1
        if epsilon is not None:
            # One link more or less: exact for these frequencies, and the maximum over all
            # references and rows, since z(a + e) − z(a) has the length of z(e) − z(0).
            ends = node.features(np.vstack([np.eye(known.size), np.zeros(known.size)]))
            sensitivity = float(np.linalg.norm(ends[:-1] - ends[-1], axis=1).max())
            deviation = find_noise(sensitivity, epsilon)
            Z = Z + rng.normal(scale=deviation, size=Z.shape)
            stars = stars + rng.normal(scale=deviation, size=stars.shape)
            rate = 0.1 / float(np.square(Z).sum(axis=1).max())
        learner = SKGRegressor(sigma2=8.0, learning_rate=rate)
        for _ in range(3):
            order = rng.permutation(known.size)
            learner.learn_features(Z[order], y[known][order])
        errors.append(gnmse(y[unknown], learner.predict_features(stars)))
    return float(np.mean(errors))


def measure_similarity_leak(n_repeats: int) -> float:
    """Correlation of zᵀz′ with the similarity of links, which needs no frequencies."""
    data, found = load_temperature(), []
    for repeat in range(n_repeats):
        known, _ = split_nodes(data.n_nodes, 0.4, np.random.default_rng(repeat))
        X = data.adjacency[:, known][known].toarray()
        Z = SKGRegressor(sigma2=8.0, random_state=repeat).features(X)
        pairs = np.triu_indices(known.size, k=1)
        exact = kernel_similarity_measure(X[pairs[0]] - X[pairs[1]], sigma2=8.0, learning_rate=0.1)
        found.append(np.corrcoef(similarity_measure(Z, Z, 0.1)[pairs], exact)[0, 1])
    return float(np.mean(found))


def main(argv: list[str] | None = None) -> Report:
    """Print the tables, and return the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--tiny", action="store_true", help="for the tests")
    options = parser.parse_args(argv)
    n_rows = 2 if options.tiny else options.rows
    degrees = DEGREES[:1] if options.tiny else DEGREES
    frequencies = FREQUENCIES[3:4] if options.tiny else FREQUENCIES
    print_facts(seed=0)
    recovered: dict[tuple[float, int, int], float] = {}
    for sigma2 in (5.0, 20.0):
        print(
            f"\nRows of 0/1 links recovered exactly, {N_REFERENCES} references, σ² = {sigma2:g}\n"
        )
        print(f"{'links':>6}" + "".join(f"{'D = ' + str(D):>9}" for D in frequencies))
        for degree in degrees:
            row = [measure_recovery(degree, D, sigma2, n_rows) for D in frequencies]
            recovered |= {(sigma2, degree, D): p for D, p in zip(frequencies, row, strict=True)}
            print(f"{degree:>6}" + "".join(f"{part:>9.0%}" for part in row), flush=True)
    n_repeats = 2 if options.tiny else 20
    print("\nGNMSE on Temperature-Jan with noise that hides one link (δ = 1e-5)")
    errors = {}
    for epsilon in (None, 8.0) if options.tiny else (None, 100.0, 30.0, 8.0, 2.0):
        errors[epsilon] = measure_noisy_error(epsilon, n_repeats)
        name = "no noise" if epsilon is None else f"ε = {epsilon:g}"
        print(f"{name:>12}{errors[epsilon]:>9.3f}", flush=True)
    leak = measure_similarity_leak(n_repeats)
    print(f"\nCorrelation of zᵀz′ with the similarity of links, frequencies unknown: {leak:.3f}")
    findings = (
        Finding("correlation of features with links", leak),
        Finding("GNMSE with noise, ε = 8, over that without", errors[8.0] / errors[None]),
    )
    report = Report("What features give away", findings, (), judged=not options.tiny)
    print(f"\n{report}")
    return report


if __name__ == "__main__":
    main()
