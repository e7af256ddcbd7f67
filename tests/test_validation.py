"""Checks of arguments; malformed sparse matrices are refused before a loop reads beyond them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, csr_matrix, lil_array

from gradraker import (
    GradrakerRegressor,
    NodeRegressor,
    SKGRegressor,
    adjacency_vectors,
    sigma2_ranges,
)
from gradraker._validation import (
    check_bounds,
    check_choice,
    check_count,
    check_number,
    check_positive,
    check_sparse,
    refuse_strings,
)
from gradraker.datasets import GraphDataset
from gradraker.exceptions import ArgumentError
from gradraker.kernels import extreme_squared_distances


@pytest.mark.parametrize(
    ("check", "error", "said"),
    [
        (
            lambda: check_count("n_epochs", 0),
            ArgumentError,
            "n_epochs must be an integer of at least 1, got 0",
        ),
        (
            lambda: check_number("decay", 1.5, low=0.0, high=1.0),
            ArgumentError,
            "decay must be a finite number of at least 0 and at most 1, got 1.5",
        ),
        (
            lambda: check_positive("sigma2", -1),
            ValueError,
            "sigma2 must be a positive number, got -1",
        ),
        (
            lambda: check_choice("direction", "up", ("out", "in")),
            ArgumentError,
            "direction must be one of 'out', 'in', got 'up'",
        ),
        (
            lambda: check_bounds({"n_epochs": (1, 10_000)}, {"n_epochs": 10**12, "sigma2": "cv"}),
            ArgumentError,
            "n_epochs must be from 1 to 10000, got 1000000000000",
        ),
        (
            lambda: refuse_strings("y", ["1.5", "2"]),
            ValueError,
            "y must hold numbers, got the string '1.5'",
        ),
    ],
)
def test_checks_name_the_argument_and_the_allowed_values(
    check: Callable[[], object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as caught:
        check()
    assert (type(caught.value), str(caught.value)) == (error, said)


def make_matrix() -> Any:
    rng = np.random.default_rng(0)
    return csr_array(np.round(rng.uniform(0.0, 1.0, (6, 6)) * (rng.uniform(size=(6, 6)) < 0.5), 2))


def change_end(X: Any) -> None:
    X.indptr[-1] = 10**9


def change_middle(X: Any) -> None:
    X.indptr[2] = -5


def fall(X: Any) -> None:
    X.indptr[2] = X.indptr[4]
    X.indptr[3] = 0


def shorten_data(X: Any) -> None:
    X.data = X.data[:3]


def shorten_indices(X: Any) -> None:
    X.indices = X.indices[:3]


def shorten_indptr(X: Any) -> None:
    X.indptr = X.indptr[:-2]


def begin_late(X: Any) -> None:
    X.indptr[0] = 1


def change_column(X: Any) -> None:
    X.indices[0] = 10**6


def make_column_negative(X: Any) -> None:
    X.indices[0] = -2


DAMAGES = [
    change_end,
    change_middle,
    fall,
    shorten_data,
    shorten_indices,
    shorten_indptr,
    begin_late,
    change_column,
    make_column_negative,
]
Y = np.arange(6.0)
FITTED = SKGRegressor(sigma2=1.0, n_frequencies=8, random_state=0).fit(make_matrix(), Y)
BANK = GradrakerRegressor(kernels=[1.0], n_frequencies=8, random_state=0).fit(make_matrix(), Y)
CALLS: dict[str, Any] = {
    "fit": lambda X: SKGRegressor(sigma2=1.0).fit(X, Y),
    "predict": FITTED.predict,
    "predict with references": lambda X: FITTED.predict(X, references=list(range(6))),
    "explain": FITTED.explain,
    "partial_fit": lambda X: SKGRegressor(sigma2=1.0).partial_fit(X, Y),
    "bank": lambda X: GradrakerRegressor(kernels=[1.0]).fit(X, Y),
    "bank predicts": BANK.predict,
    "nodes": lambda X: NodeRegressor().fit(X, Y),
    "adjacency": lambda X: adjacency_vectors(X),
    "dataset": lambda X: GraphDataset(X, Y, tuple("abcdef"), name="x"),
    "ranges": lambda X: sigma2_ranges(X),
    "distances": lambda X: extreme_squared_distances(X),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("call", CALLS)
def test_malformed_csr_is_refused(call: Any, damage: Any) -> None:
    X = make_matrix()
    damage(X)
    with pytest.raises(ValueError, match="malformed sparse matrix"):
        CALLS[call](X)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("form", [csc_array, csr_matrix])
def test_malformed_matrices_of_other_compressed_forms_are_refused(form: Any, damage: Any) -> None:
    X = form(make_matrix())
    damage(X)
    with pytest.raises(ValueError, match="X is a malformed sparse matrix"):
        check_sparse("X", X)


def test_coordinates_outside_the_shape_are_refused() -> None:
    X = coo_array(make_matrix())
    X.coords[0][0] = 100
    with pytest.raises(ValueError, match="outside of its shape"):
        check_sparse("X", X)


@pytest.mark.parametrize("form", [csr_array, csc_array, coo_array, lil_array, np.asarray, list])
def test_sound_matrices_pass(form: Any) -> None:
    check_sparse("X", form(make_matrix().toarray()))
    check_sparse("X", csr_array((0, 3)))
    check_sparse("X", bsr_array(np.ones((4, 6)), blocksize=(2, 3)))


def test_check_sparse_names_the_end_of_rows() -> None:
    X = csr_array(np.eye(3))
    X.indptr[-1] = 10**6
    said = "X is a malformed sparse matrix: indptr ends at 1000000, but there are 3 entries"
    with pytest.raises(ValueError, match=f"^{said}$"):
        check_sparse("X", X)


def test_spare_room_at_the_end_is_allowed() -> None:
    X = make_matrix()
    before = FITTED.predict(X)
    X.data, X.indices = np.append(X.data, 7.0), np.append(X.indices, X.indices[:1])
    np.testing.assert_array_equal(FITTED.predict(X), before)
