"""Distances of all pairs of rows, one sum at a time, from the definition."""

import itertools
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def distance(a: NDArray[Any], b: NDArray[Any], metric: str) -> float:
    """Σ(x−y)² or Σ|x−y|, added in the order of the columns."""
    total = 0.0
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        difference = float(x) - float(y)
        total += difference * difference if metric == "sqeuclidean" else abs(difference)
    return total


def all_distances(X: Any, metric: str = "sqeuclidean") -> dict[Any, Any]:
    """Distance of each pair (i, j), i < j, of rows that differ; equal rows have 0."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    return dict(_compare_all(X.tobytes(), X.shape, X.dtype.str, metric))


@lru_cache(maxsize=128)  # many tests look at the same rows
def _compare_all(
    content: bytes, shape: tuple[int, ...], dtype: str, metric: str
) -> dict[tuple[int, int], float]:
    X = np.frombuffer(content, dtype).reshape(shape)
    return {
        (i, j): distance(X[i], X[j], metric) for i, j in itertools.combinations(range(len(X)), 2)
    }


def extremes(X: NDArray[Any], metric: str = "sqeuclidean") -> tuple[Any, ...]:
    """Smallest nonzero (None if all are equal) and largest distance."""
    distances = all_distances(X, metric).values()
    nonzero = [d for d in distances if d > 0.0]
    return (min(nonzero) if nonzero else None), max(distances)
