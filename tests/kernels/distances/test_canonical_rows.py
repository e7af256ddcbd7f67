"""Input of the extreme distances: formats, dtypes, scales, errors."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.kernels.distances import canonical_rows
from gradraker.kernels.distances.canonical_rows import group_equal_rows, prepare_rows
from gradraker.kernels.distances.extremes import (
    extreme_squared_distances,
    find_largest_distance,
    find_smallest_nonzero_distance,
)
from oracles.distance_examples import EXAMPLES, METRICS
from oracles.distances import extremes


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8, np.int64, bool])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array, sp.lil_array])
def test_dtypes_and_formats_give_equal_results(
    dtype: type[Any], kind: Callable[..., Any] | type[Any]
) -> None:
    X = EXAMPLES["unweighted"].astype(dtype)
    assert extreme_squared_distances(kind(X)) == extreme_squared_distances(X.astype(np.float64))


def test_small_integers_do_not_overflow() -> None:
    X = np.array([[-128, 127], [127, -128]], dtype=np.int8)
    assert find_largest_distance(X).distance == 2 * 255.0**2


def test_repeated_unsorted_and_zero_entries_add_up() -> None:
    clean = np.zeros((3, 40))
    clean[0, [3, 8]], clean[1, 8], clean[2, [3, 8]] = [3.0, 1.0], 1.0, [3.0, 1.0]
    indices = np.array([8, 3, 3, 8, 5, 3, 5, 8, 5])
    data = np.array([1.0, 1.0, 2.0, 1.0, 0.0, 3.0, 2.0, 1.0, -2.0])
    messy = sp.csr_array((data, indices, [0, 3, 5, 9]), shape=(3, 40))
    before = messy.data.copy(), messy.indices.copy(), messy.indptr.copy()
    messy.has_sorted_indices = messy.has_canonical_format = True  # a flag that does not hold
    rows = prepare_rows(messy, squared=True).values
    np.testing.assert_array_equal(rows.indptr, sp.csr_array(clean).indptr)
    np.testing.assert_array_equal(rows.indices, sp.csr_array(clean).indices)
    np.testing.assert_array_equal(rows.data, sp.csr_array(clean).data)
    found = extreme_squared_distances(messy)
    assert (found.smallest_nonzero, found.largest) == (9.0, 9.0) == extremes(clean)
    assert found.smallest_pair == (0, 1)
    for now, then in zip((messy.data, messy.indices, messy.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_more_columns_than_int32_holds() -> None:
    indices = np.array([0, 2**40, 2**40, 2**41])
    wide = sp.csr_array((np.ones(4), indices, [0, 2, 3, 4]), shape=(3, 2**41 + 1))
    found = extreme_squared_distances(wide)
    assert (found.smallest_nonzero, found.largest) == (1.0, 3.0)


def test_matrix_without_columns_has_equal_rows() -> None:
    assert extreme_squared_distances(np.empty((3, 0))).largest == 0.0
    assert extreme_squared_distances(sp.csr_array((3, 0))).smallest_nonzero is None


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("exponent", [-150, -100, 100, 150])
@pytest.mark.parametrize("metric", METRICS)
def test_scale_near_ends_of_float64_changes_unit_only(
    metric: str, exponent: int, kind: Callable[..., Any] | type[Any]
) -> None:
    X = EXAMPLES["weighted"]
    scale = 2.0 ** round(exponent * math.log2(10))
    found = extreme_squared_distances(kind(X * scale), metric=metric)
    plain = extreme_squared_distances(kind(X), metric=metric)
    power = scale**2 if metric == "sqeuclidean" else scale
    assert found.largest == plain.largest * power
    assert found.smallest_nonzero == plain.smallest_nonzero * power  # type: ignore[operator]


def test_huge_floats_do_not_count_as_integers() -> None:
    # All floats past 2**53 are integers, yet in a unit of 1e120 these are fractions.
    X = np.zeros((4, 30))
    X[[0, 1, 2, 3], [0, 0, 1, 2]] = 0.9, 0.8, 0.3, 0.35
    found = find_smallest_nonzero_distance(sp.csr_array(X * 1e120))
    assert found is not None
    assert found.pair == (0, 1)
    assert found is not None
    assert found.distance == pytest.approx(0.01e240)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_distances_beyond_float64_raise(kind: Callable[..., Any] | type[Any]) -> None:
    X = EXAMPLES["weighted"]
    with pytest.raises(ValueError, match=r"rows \d+ and \d+ of X overflows .* scale X down"):
        find_largest_distance(kind(X * 1e200))
    with pytest.raises(ValueError, match=r"rows \d+ and \d+ of X differ, but .* underflows"):
        find_smallest_nonzero_distance(kind(X * 1e-200))
    mixed = np.eye(30)
    mixed[1, 0] = 1e-200
    mixed[1, 1] = 0.0
    mixed[2] = 0.0
    with pytest.raises(ValueError, match=r"rows 1 and 2 of X differ, but .* underflows"):
        find_smallest_nonzero_distance(kind(mixed))
    with pytest.raises(ValueError, match=r"X mixes values of size 1e-220 and 1e\+200"):
        find_largest_distance(kind(np.diag([1e200, 1e-220])))


@pytest.mark.parametrize("search", [extreme_squared_distances, find_largest_distance])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((1, 3)), "X has 1 row; at least 2 are needed"),
        (np.ones((0, 3)), "X has no rows; at least 2 are needed"),
        (np.ones(3), r"X has 1 dimension\(s\); a matrix with 2 is needed"),
        (sp.csr_array(np.ones((1, 3))), "X has 1 row; at least 2 are needed"),
        (np.ones((2, 2), dtype=complex), "X has dtype complex128; real numbers"),
        (np.array([["a"], ["b"]]), "X has dtype <U1; real numbers"),
        (np.array([[1.0], [np.nan]]), "X contains NaN or infinity"),
        (np.array([[1.0], [-np.inf]]), "X contains NaN or infinity"),
        (sp.csr_array([[1.0] + 20 * [0], [np.inf] + 20 * [0]]), "X contains NaN or infinity"),
        (np.array([[2**60], [2**60 + 1]]), "float64 is exact only up to"),
    ],
)
def test_bad_input_raises(search: Callable[..., Any], X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search(X)


def test_unknown_metric_raises() -> None:
    with pytest.raises(ValueError, match="metric='cosine' is unknown; use one of sqeuclidean, l1"):
        find_largest_distance(np.eye(3), metric="cosine")


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
    hash_rows, seeds = canonical_rows._hash_rows, []

    def collide(values: Any, seed: Any) -> Any:
        seeds.append(seed)
        return hash_rows(values, seed) if seed == 2 else np.zeros(3, dtype=np.uint64)

    monkeypatch.setattr(canonical_rows, "_hash_rows", collide)
    first, group = group_equal_rows(rows)
    assert (first.tolist(), group.tolist()) == ([0, 1], [0, 1, 0])
    assert seeds == [0, 1, 2]
