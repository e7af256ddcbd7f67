"""Rows of every kind, small enough for all pairs in Python."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gradraker.kernels.distances.canonical_rows import Found
from oracles.distances import all_distances

METRICS = ["sqeuclidean", "l1"]


def sparse(
    rng: np.random.Generator, n: int, m: int, density: float, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Keep a share of the values, drawn at random; the others are 0."""
    return np.where(rng.random((n, m)) < density, values, 0.0)


def _near_integers(rng: Any) -> Any:
    """Pairs of rows at squared distance 9, one at 4: far apart in norm, close in sum."""
    X = sparse(rng, 40, 60, 0.1, rng.integers(20, 40, (40, 60)))
    X[1::2] = X[::2]
    for i in range(1, 40, 2):
        X[i, np.flatnonzero(X[i])[0]] += 2 if i == 25 else 3
    return X


def _moved_edges(rng: Any) -> Any:
    """Pairs of rows that differ in four places, one in two: all sums are equal."""
    X = np.zeros((40, 120))
    for i in range(0, 40, 2):
        columns = rng.choice(120, 12, replace=False)
        X[i, columns[:8]] = 1.0
        X[i + 1, columns[1:9] if i == 24 else columns[2:10]] = 1.0
    return X


def _examples() -> Any:
    rng = np.random.default_rng(0)
    n, m = 40, 60
    unweighted = sparse(rng, n, m, 0.08, 1.0)  # type: ignore[arg-type]
    examples = {
        "unweighted": unweighted,
        "unweighted dense": sparse(rng, n, m, 0.5, 1.0),  # type: ignore[arg-type]
        "one weight": 0.1 * unweighted,
        "integers": sparse(rng, n, m, 0.1, rng.integers(1, 5, (n, m))),  # type: ignore[arg-type]
        "signed integers": sparse(rng, n, m, 0.1, rng.integers(-4, 5, (n, m))),  # type: ignore[arg-type]
        "weighted": sparse(rng, n, m, 0.1, rng.random((n, m))),
        "signed": sparse(rng, n, m, 0.1, rng.standard_normal((n, m))),
        "sizes of all orders": sparse(rng, n, m, 0.1, 10.0 ** rng.uniform(-8, 8, (n, m))),
        "dense": rng.standard_normal((n, m)),
        "dense, far from zero": 1e6 + 1e-6 * rng.random((n, m)),
        "on a line": np.outer(rng.standard_normal(n), rng.standard_normal(m)),
        "few columns": rng.standard_normal((n, 3)),
        "one column": rng.standard_normal((n, 1)),
        "lattice": rng.integers(0, 5, (n, 2)),
        "most rows equal": unweighted[rng.integers(0, 3, n)],
        "two distinct rows": unweighted[rng.integers(0, 2, n)],
        "zero rows": unweighted * (rng.random((n, 1)) < 0.3),
        "one distance": np.eye(20),
        "two rows": unweighted[:2],
        "common column": np.hstack([unweighted, np.full((n, 1), 7.0)]),
        "common column, weighted": np.hstack([unweighted, 9.0 + rng.random((n, 1))]),
        "near integers": _near_integers(rng),
        "moved edges": _moved_edges(rng),
        "rows sum to 1": unweighted / np.maximum(unweighted.sum(axis=1, keepdims=True), 1.0),
    }
    return examples


EXAMPLES = _examples()


def is_integral(X: NDArray[Any]) -> bool:
    """Whether all values are integers, so that distances are exact."""
    return bool(np.all(np.rint(X) == X))


def check_found(X: NDArray[Any], found: Found, metric: str, expected: float) -> None:
    """Check that a search found rows at the expected distance, or nothing where it is 0."""
    if not expected:
        assert found is None
        return
    i, j = sorted((found.i, found.j))
    distance = all_distances(X, metric)[i, j]
    assert distance == (expected if is_integral(X) else pytest.approx(expected, rel=1e-13, abs=0.0))
