"""Matrix Market files."""

from collections.abc import Callable
from typing import Any

import pytest

from examples import list_edges
from gradraker import adjacency_vectors, read_edges
from gradraker.exceptions import GraphFileError


def test_sparse_dense_and_symmetric_matrices(write_file: Callable[..., Any], way: str) -> None:
    symmetric = b"%%MatrixMarket matrix coordinate pattern symmetric\n%c\n4 4 2\n2 1\n4 4\n"
    edges = read_edges(write_file(symmetric, "a.mtx"))
    assert edges.nodes.tolist() == [1, 2, 3, 4]
    assert sorted(list_edges(edges)) == [(1, 2, 1.0), (2, 1, 1.0), (4, 4, 1.0)]
    rectangular = b"%%MatrixMarket matrix coordinate real general\n2 3 1\n2 3 0.5\n"
    vectors = adjacency_vectors(read_edges(write_file(rectangular, "b.mtx")))
    assert vectors.rows.toarray().tolist() == [[0, 0, 0], [0, 0, 0.5]]
    assert vectors.references.tolist() == [1, 2, 3]
    dense = b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n0\n"
    assert adjacency_vectors(read_edges(write_file(dense, "c.mtx"))).rows.toarray().tolist() == [
        [1, 3],
        [2, 0],
    ]
    skew = b"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"
    assert adjacency_vectors(read_edges(write_file(skew, "d.mtx"))).rows.toarray().tolist() == [
        [0, -1, -2],
        [1, 0, -3],
        [2, 3, 0],
    ]
    empty = b"%%MatrixMarket matrix coordinate real general\n4 4 0\n"
    assert adjacency_vectors(read_edges(write_file(empty, "e.mtx"))).rows.shape == (4, 4)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("9 9 999999999999\n1 1 1\n", "line 2: a matrix of 9 × 9 × 999999999999 does not fit"),
        ("99999999999 9 1\n1 1 1\n", "line 2: a matrix of .* does not fit the file"),
        ("0 0 0\n", "line 2: a matrix of 0 × 0 × 0 does not fit"),
        ("2 2\n", "line 2: the sizes of the matrix are needed, got '2 2'"),
        ("", "g.mtx: the sizes of the matrix are needed"),
        ("2 2 1\n%\n3 1 1\n", "line 4: '3 1' is not an entry of a matrix of 2 × 2"),
        ("2 2 1\nx 1 1\n", "line 3: 'x 1' is not an entry"),
        ("2 2 1\n1 1\n", r"line 3: the line has 2 column\(s\), but 3 are expected after line 1"),
        ("2 2 1\n1 1 x\n", "line 3, column 3: 'x' is not a finite"),
        ("2 2 2\n1 1 1\n", "2 entries are declared, but the file holds 1"),
        ("2 2 1\n", "1 entries are declared, but"),
    ],
)
def test_damaged_matrix_is_refused_with_its_line(
    body: str, message: str, write_file: Callable[..., Any], way: str
) -> None:
    head = "%%MatrixMarket matrix coordinate real general\n"
    with pytest.raises(GraphFileError, match=message):
        read_edges(write_file(head + body, "g.mtx"))
