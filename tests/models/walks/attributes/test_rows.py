"""Rows of attribute blocks against dense formulas, and rows of new nodes against a grown graph."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from attribute_rows import NAMES, N, make_graph, make_numbers, make_rows, make_words
from gradraker.models.walks.attributes.rows import JOINT_BLOCK
from gradraker.models.walks.choice import Term
from gradraker.models.walks.exact.blocks import ExactBlocks


def test_rows_of_numbers_are_standardised_means_over_neighbours() -> None:
    X = make_numbers()[:N]
    rows = make_rows(X, N)
    A = 2.0 * make_graph()[:N, :N].toarray() + np.eye(N)  # A + Aᵀ + I
    P = A / A.sum(axis=1, keepdims=True)
    x = (X - X.mean(axis=0)) / X.std(axis=0)
    for block, mean in (
        ("attributes", x),
        ("neighbour_attributes1", P @ x),
        ("neighbour_attributes2", P @ P @ x),
    ):
        expected = (mean - mean.mean(axis=0)) / mean.std(axis=0) / np.sqrt(3.0)
        np.testing.assert_allclose(rows.get_linear_rows(block), expected, atol=1e-10)


def test_a_column_of_many_numbers_counts_like_one_number() -> None:
    rng = np.random.default_rng(0)
    towns = rng.permutation(np.repeat([f"town {i:02d}" for i in range(20)], 2))[:N]
    frame = pd.DataFrame({"age": 20.0 + rng.integers(60, size=N), "town": towns})
    rows = make_rows(frame.set_axis(NAMES[:N]), N)
    assert not rows.has_words  # although most numbers are 0
    squares = (rows.get_linear_rows("attributes") ** 2).sum(axis=0)
    np.testing.assert_allclose(squares[0], squares[1:].sum(), rtol=1e-10)


def test_rows_of_words_are_symmetric_pagerank_means() -> None:
    X = make_words()[:N]
    rows = make_rows(X, N)
    assert rows.has_words
    A = 2.0 * make_graph()[:N, :N].toarray() + np.eye(N)
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


@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
def test_rows_of_new_nodes_equal_those_of_the_grown_graph(words: bool) -> None:
    X = make_words() if words else make_numbers()
    grown = make_rows(X, N + 2, n_old=N)
    old = make_rows(X, N)
    links = csr_array(2.0 * make_graph()[N:, :N])  # edges count in both directions
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
    rows = make_rows(make_numbers(), N)
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
    rows, everyone = make_rows(make_numbers(), N), np.arange(N)
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
