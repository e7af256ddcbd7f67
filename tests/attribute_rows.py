"""Rows that numbers and words give to the nodes of a small graph, of which two are new."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.attributes import learn_attributes
from gradraker.features.walks import describe_walks
from gradraker.models.walks.attributes.rows import AttributeRows

N = 30
NAMES = np.arange(N + 2)


def make_graph() -> csr_array:
    """A graph whose last two nodes are new: one has two edges, one has none."""
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((N + 2, N + 2)) < 0.15, 1).astype(float)
    A[:, N:] = 0.0
    A[[3, 5], N] = 1.0
    return csr_array(A + A.T)


def make_rows(X: Any, n: int, *, n_old: int | None = None, **options: int) -> AttributeRows:
    A = csr_array(make_graph()[:n][:, :n])
    hidden = None
    if n_old is not None:
        hidden = np.arange(n) >= n_old
    walks = describe_walks(A, NAMES[:n], direction="both", seed=0, hidden=hidden, n_old=n_old)
    given = X[:n]
    if isinstance(X, np.ndarray) and (X == 0.0).mean() > 0.5:
        given = csr_array(given)
    return AttributeRows(learn_attributes(given, NAMES[:n]), walks, **options)


def make_numbers() -> NDArray[np.float64]:
    return np.random.default_rng(1).normal(size=(N + 2, 3)) ** 3


def make_words() -> NDArray[np.float64]:
    return (np.random.default_rng(2).random((N + 2, 40)) < 0.1).astype(float)
