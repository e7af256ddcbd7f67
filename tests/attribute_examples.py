"""Graphs whose values depend on attributes of the nodes."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker import NodeRegressor
from gradraker.models.walks.choice import ATTRIBUTE_BLOCKS

N = 150
SOLVERS = ("exact", "operators")


def make_edges(rng: np.random.Generator, n: int = N) -> tuple[csr_array, NDArray[np.float64]]:
    places = rng.random((n, 2))
    squared = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    return csr_array(((squared < 0.02) & (squared > 0.0)).astype(float)), places


def make_data(seed: int = 0) -> tuple[csr_array, NDArray[Any], NDArray[Any], NDArray[Any]]:
    """A graph, attributes, values that depend on both, and known values."""
    rng = np.random.default_rng(seed)
    A, places = make_edges(rng)
    X = rng.normal(size=(N, 3))
    y = 2.0 * X[:, 0] - X[:, 1] + np.sin(4.0 * places[:, 0]) + 0.05 * rng.normal(size=N)
    known = np.where(np.arange(N) % 2 == 0, y, np.nan)
    return A, X, y, known


def compute_score(y: NDArray[Any], predictions: NDArray[Any]) -> float:
    return float(1.0 - ((y - predictions) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def uses_attributes(model: Any) -> bool:
    return not set(model.blocks_).isdisjoint(ATTRIBUTE_BLOCKS)


def get_share_of_attributes(model: Any) -> float:
    return float(sum(term.share for term in model.kernel_ if term.block in ATTRIBUTE_BLOCKS))


def make_classes(differs: bool) -> tuple[csr_array, NDArray[Any], csr_array]:
    """Three classes with words; neighbours are of the same class, or of others."""
    rng = np.random.default_rng(2)
    n, codes = 240, np.arange(240) % 3
    same = codes[:, None] == codes[None]
    p = np.where(same ^ differs, 0.04, 0.004)
    A = np.triu(rng.random((n, n)) < p, 1).astype(float)
    words = rng.random((n, 60)) < 0.03
    own = codes[:, None] * 20 + rng.integers(0, 20, size=(n, 4))
    words[np.arange(n)[:, None], own] = True
    return csr_array(A + A.T), codes, csr_array(words.astype(float))


@cache
def fit_data(solver: str) -> NodeRegressor:
    """A model of the data with their attributes; tests must leave it as it is."""
    A, X, _, known = make_data()
    return NodeRegressor(solver=solver).fit(A, known, attributes=X)
