"""Groups of equal rows against a dictionary of rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.kernels import equal_rows
from gradraker.kernels.equal_rows import group_equal_rows


def _group_by_dictionary(X: NDArray[np.float64]) -> tuple[Any, ...]:
    first, groups = {}, []  # type: ignore[var-annotated]
    for i, row in enumerate(X.tolist()):
        first.setdefault(tuple(row), i)
        groups.append(list(first).index(tuple(row)))
    return list(first.values()), groups


@pytest.mark.parametrize("kind", [np.ascontiguousarray, sp.csr_array])
@pytest.mark.parametrize("n_values", [1, 2, 5])
def test_groups_equal_a_dictionary_of_rows(
    kind: Callable[..., Any] | type[Any], n_values: int
) -> None:
    X = np.random.default_rng(n_values).integers(0, n_values, (60, 3)).astype(float)
    first, group = group_equal_rows(kind(X))
    expected = _group_by_dictionary(X)
    assert (first.tolist(), group.tolist()) == expected


def test_zero_and_minus_zero_are_equal() -> None:
    first, group = group_equal_rows(np.array([[0.0, 1.0], [-0.0, 1.0]]))
    assert (first.tolist(), group.tolist()) == ([0], [0, 0])


@pytest.mark.parametrize("kind", [np.ascontiguousarray, sp.csr_array])
@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0], [2.0, 0.0]],
        [[1.0, 0.0], [0.0, 0.0]],
        [[1.0, 0.0], [1.0, 1.0]],
        [[1.0, 1.0], [1.0, 0.0]],
    ],
)
def test_rows_that_differ_but_have_one_hash_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, X: list[Any], kind: Callable[..., Any] | type[Any]
) -> None:
    first, group = group_equal_rows(kind(np.array(X)))
    assert first.tolist() == group.tolist() == [0, 1]
    rows = kind(np.array([X[0], X[1], X[0]]))
    first, group = group_equal_rows(rows)
    assert (first.tolist(), group.tolist()) == ([0, 1], [0, 1, 0])
    hash_rows, seeds = equal_rows._hash_rows, []

    def collide(values: Any, seed: Any) -> Any:
        seeds.append(seed)
        return hash_rows(values, seed) if seed == 2 else np.zeros(3, dtype=np.uint64)

    monkeypatch.setattr(equal_rows, "_hash_rows", collide)
    first, group = group_equal_rows(rows)
    assert (first.tolist(), group.tolist()) == ([0, 1], [0, 1, 0])
    assert seeds == [0, 1, 2]
