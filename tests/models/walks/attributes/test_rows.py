"""Rows of attribute blocks against dense formulas, and rows of new nodes against a grown graph."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.attributes import learn_attributes
from gradraker.features.walks import describe_walks
from gradraker.models.walks.attributes.rows import JOINT_BLOCK, AttributeRows
from gradraker.models.walks.attributes.scaling import fit_scale
from gradraker.models.walks.choice import Term
from gradraker.models.walks.exact.blocks import ExactBlocks

N = 30
NAMES = np.arange(N + 2)


def _make_graph() -> csr_array:
    """A graph whose last two nodes are new: one has two edges, one has none."""
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((N + 2, N + 2)) < 0.15, 1).astype(float)
    A[:, N:] = 0.0
    A[[3, 5], N] = 1.0
    return csr_array(A + A.T)


def _make_rows(X: Any, n: int, *, n_old: int | None = None, **options: int) -> AttributeRows:
    A = csr_array(_make_graph()[:n][:, :n])
    hidden = None
    if n_old is not None:
        hidden = np.arange(n) >= n_old
    walks = describe_walks(A, NAMES[:n], direction="both", seed=0, hidden=hidden, n_old=n_old)
    given = X[:n]
    if isinstance(X, np.ndarray) and (X == 0.0).mean() > 0.5:
        given = csr_array(given)
    return AttributeRows(learn_attributes(given, NAMES[:n]), walks, **options)


def _make_numbers() -> NDArray[np.float64]:
    return np.random.default_rng(1).normal(size=(N + 2, 3)) ** 3


def _make_words() -> NDArray[np.float64]:
    return (np.random.default_rng(2).random((N + 2, 40)) < 0.1).astype(float)


def test_rows_of_numbers_are_standardised_means_over_neighbours() -> None:
    X = _make_numbers()[:N]
    rows = _make_rows(X, N)
    A = 2.0 * _make_graph()[:N, :N].toarray() + np.eye(N)  # A + Aᵀ + I
    P = A / A.sum(axis=1, keepdims=True)
    x = (X - X.mean(axis=0)) / X.std(axis=0)
    for block, mean in (
        ("attributes", x),
        ("neighbour_attributes1", P @ x),
        ("neighbour_attributes2", P @ P @ x),
    ):
        expected = (mean - mean.mean(axis=0)) / mean.std(axis=0) / np.sqrt(3.0)
        np.testing.assert_allclose(rows.get_linear_rows(block), expected, atol=1e-10)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_rows_do_not_depend_on_the_unit(unit: float) -> None:
    X = _make_numbers()
    one, other = _make_rows(X, N), _make_rows(unit * X, N)
    np.testing.assert_allclose(
        one.get_linear_rows("attributes"), other.get_linear_rows("attributes"), atol=1e-10
    )


def test_a_column_of_many_numbers_counts_like_one_number() -> None:
    rng = np.random.default_rng(0)
    towns = rng.permutation(np.repeat([f"town {i:02d}" for i in range(20)], 2))[:N]
    frame = pd.DataFrame({"age": 20.0 + rng.integers(60, size=N), "town": towns})
    rows = _make_rows(frame.set_axis(NAMES[:N]), N)
    assert not rows.has_words  # although most numbers are 0
    squares = (rows.get_linear_rows("attributes") ** 2).sum(axis=0)
    np.testing.assert_allclose(squares[0], squares[1:].sum(), rtol=1e-10)


def test_gaussian_rows_do_not_depend_on_monotone_scales() -> None:
    X = _make_numbers()
    one, other = _make_rows(X, N), _make_rows(np.exp(X), N)
    np.testing.assert_allclose(
        one.get_gaussian_rows("attributes"), other.get_gaussian_rows("attributes"), atol=1e-10
    )


def test_rows_of_words_are_symmetric_pagerank_means() -> None:
    X = _make_words()[:N]
    rows = _make_rows(X, N)
    assert rows.has_words
    A = 2.0 * _make_graph()[:N, :N].toarray() + np.eye(N)
    root = 1.0 / np.sqrt(A.sum(axis=1))
    S = root[:, None] * A * root
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    unit = X / np.where(lengths > 0.0, lengths, 1.0)
    Z = unit
    for _ in range(30):
        Z = 0.9 * S @ Z + 0.1 * unit
    Z = Z / np.sqrt(np.linalg.norm(Z, axis=1, keepdims=True))
    Z /= np.sqrt(np.mean((Z**2).sum(axis=1)))
    np.testing.assert_allclose(rows.get_linear_rows("neighbour_attributes"), Z, atol=1e-5)


def test_projected_words_keep_inner_products_where_directions_suffice() -> None:
    X = _make_words()
    whole, few = _make_rows(X, N), _make_rows(X, N, most_columns=35)
    assert few.directions is not None
    first, second = (r.get_linear_rows("neighbour_attributes") for r in (whole, few))
    np.testing.assert_allclose(second @ second.T, first @ first.T, atol=1e-4)


@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
def test_rows_of_new_nodes_equal_those_of_the_grown_graph(words: bool) -> None:
    X = _make_words() if words else _make_numbers()
    grown = _make_rows(X, N + 2, n_old=N)
    old = _make_rows(X, N)
    links = csr_array(2.0 * _make_graph()[N:, :N])  # edges count in both directions
    new = old.describe_new(grown.table.select(np.array([N, N + 1])), links)
    for block in old.blocks:
        tolerance = 0.02 if block == "neighbour_attributes" else 1e-5  # 30 steps, and all of them
        if block != JOINT_BLOCK:  # it has no linear kernel
            np.testing.assert_allclose(
                new.compute_rows(block, is_linear=True),
                grown.get_linear_rows(block)[N:],
                atol=tolerance,
            )
        if not words:
            np.testing.assert_allclose(
                new.compute_rows(block, is_linear=False),
                grown.get_gaussian_rows(block)[N:],
                atol=1e-8,
            )


def test_kernels_of_attributes_are_those_of_the_rows() -> None:
    rows = _make_rows(_make_numbers(), N)
    blocks = ExactBlocks(rows.walks, attributes=rows)
    kernel = (Term("attributes", None, 0.25), Term("neighbour_attributes1", 2.0, 0.75))
    Z, G = rows.get_linear_rows("attributes"), rows.get_gaussian_rows("neighbour_attributes1")
    squared = ((G[:, None] - G[None]) ** 2).sum(axis=2)
    median = np.median(squared[np.triu_indices(N, 1)])
    expected = 0.25 * Z @ Z.T + 0.75 * np.exp(-squared / (4.0 * median))
    everyone = np.arange(N)
    found = blocks.compute_kernel(kernel, everyone, everyone)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_allclose(blocks.compute_diagonal(kernel, everyone), np.diag(found))


def test_kernel_of_local_attributes_is_that_of_the_region_times_that_of_attributes() -> None:
    rows, everyone = _make_rows(_make_numbers(), N), np.arange(N)
    blocks = ExactBlocks(rows.walks, attributes=rows)
    blocks.keep_products(everyone[::2])
    blocks.drop_others(["local_attributes"])
    unit = blocks.median("local_attributes")  # of the sum of both distances
    region, own, found = (
        blocks.compute_kernel((Term(name, width, 1.0),), everyone, everyone[::2])
        for name, width in (("far", unit), ("attributes", unit), ("local_attributes", 1.0))
    )
    assert 0.1 < region.min() < 0.9
    np.testing.assert_allclose(found, region * own, atol=1e-10)


def test_missing_numbers_are_at_the_mean() -> None:
    X = _make_numbers()[:N]
    X[4] = np.nan
    found = _make_rows(X, N).get_linear_rows("attributes")
    np.testing.assert_allclose(found[4], 0.0, atol=1e-12)
    assert np.isfinite(fit_scale(X).apply(X)).all()
